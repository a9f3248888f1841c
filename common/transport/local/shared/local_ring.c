/* SPDX-License-Identifier: BSD-2-Clause */
/* local_ring.c - writing records into a ring and reading them. */
#include <errno.h>
#include <string.h>

#include "common/transport/local/shared/local_ring.h"

void local_out_init(struct local_out *out, struct local_shm *shm,
		    enum local_of side)
{
	*out = (struct local_out){
		.data = shm->ring[side],
		.size = shm->size,
		.me = &shm->ctl->side[side],
		.peer = &shm->ctl->side[!side],
	};
}

void local_in_init(struct local_in *in, struct local_shm *shm,
		   enum local_of side)
{
	*in = (struct local_in){
		.data = shm->ring[!side],
		.size = shm->size,
		.me = &shm->ctl->side[side],
		.peer = &shm->ctl->side[!side],
	};
}

uint8_t *local_out_room(struct local_out *out, uint32_t size, int *rc)
{
	uint32_t need = local_record(size);

	*rc = 0;
	if (out->size - (out->tail - out->head) < need) {
		uint32_t head = atomic_load_explicit(&out->peer->head,
						     memory_order_acquire);

		if (out->tail - head > out->tail - out->head) {
			/* the peer's index went back, or is beyond our tail */
			*rc = -EPROTO;
			return NULL;
		}
		out->head = head;
		if (out->size - (out->tail - head) < need)
			return NULL;
	}
	return out->data + (out->tail & (out->size - 1));
}

/* Sequentially consistent with the read of asleep that follows. */
bool local_out_publish(struct local_out *out)
{
	if (out->published == out->tail)
		return false;
	out->published = out->tail;
	atomic_store(&out->me->tail, out->tail);
	return true;
}

bool local_out_moved(const struct local_out *out)
{
	return atomic_load(&out->peer->head) != out->head;
}

int local_in_next(struct local_in *in, struct local_head *head,
		  const uint8_t **p)
{
	const uint8_t *at = in->data + (in->head & (in->size - 1));
	uint32_t have = in->tail - in->head;

	if (!have) {
		in->tail = atomic_load_explicit(&in->peer->tail,
						memory_order_acquire);
		have = in->tail - in->head;
		if (!have)
			return 0;
	}
	if (have > in->size || have < sizeof(*head))
		return -EPROTO;
	memcpy(head, at, sizeof(*head));
	if (head->size > LOCAL_PIECE || local_record(head->size) > have)
		return -EPROTO;
	*p = at + sizeof(*head);
	return 1;
}

bool local_in_publish(struct local_in *in)
{
	if (in->published == in->head)
		return false;
	in->published = in->head;
	atomic_store(&in->me->head, in->head);
	return atomic_load(&in->peer->starved);
}
