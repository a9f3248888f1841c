/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_ring.h - one direction of a connection: a ring of records with one writer and one reader.
 * It needs no lock and no system call.
 *
 * Indices count bytes and only grow, modulo 2^32. The writer's tail and the reader's head are in
 * shared memory; the authoritative copies are private. Each side checks the other's index: head <=
 * tail <= head + size, or the connection ends with -EPROTO. The head of a record is copied, then
 * checked. A writer that changes a payload while it is read only corrupts its own data.
 */
#ifndef LOCAL_RING_H
#define LOCAL_RING_H

#include <stdbool.h>

#include "common/transport/local/shared/local_shm.h"

/* In host order: both ends are on this host. */
struct local_head {
	uint32_t size; /* payload in this record, bytes */
	uint16_t op; /* enum local_op */
	uint16_t zero;
	uint32_t id; /* the sender's request, or the one being answered */
	uint32_t imm;
	uint64_t addr; /* one-sided: address at the receiver */
	uint32_t rkey;
	uint32_t total; /* payload of the whole message; READ: bytes requested */
};
_Static_assert(sizeof(struct local_head) == 32, "layout of the ring");

#define LOCAL_PIECE (32u << 10) /* largest payload of one record */

struct local_out {
	uint8_t *data;
	uint32_t size;
	struct local_side *me, *peer;
	uint32_t tail; /* written */
	uint32_t published;
	uint32_t head; /* the peer's, when last read */
};

struct local_in {
	const uint8_t *data;
	uint32_t size;
	struct local_side *me, *peer;
	uint32_t head; /* consumed */
	uint32_t published;
	uint32_t tail; /* the peer's, when last read */
};

void local_out_init(struct local_out *out, struct local_shm *shm,
		    enum local_of side);
void local_in_init(struct local_in *in, struct local_shm *shm,
		   enum local_of side);

/* Bytes that a record with size bytes of payload occupies. */
static inline uint32_t local_record(uint32_t size)
{
	return (uint32_t)((sizeof(struct local_head) + size + LOCAL_ALIGN - 1) &
			  ~(LOCAL_ALIGN - 1));
}

/*
 * Returns the place of the next record, where the caller writes the head and then size bytes of
 * payload. Returns NULL if the ring is full (*rc is 0), or if the peer's index is invalid (*rc is
 * -EPROTO).
 */
uint8_t *local_out_room(struct local_out *out, uint32_t size, int *rc);
/* Called when the record is complete.  The reader sees it after local_out_publish(). */
static inline void local_out_put(struct local_out *out, uint32_t size)
{
	out->tail += local_record(size);
}
/* Publishes the completed records. True: there were some. */
bool local_out_publish(struct local_out *out);
/* Returns whether the peer has consumed anything since the ring was found full. */
bool local_out_moved(const struct local_out *out);

/*
 * Gets the next record. Returns 1: *head is its head, and *p its payload; 0: there is none;
 * -EPROTO: the peer's index is invalid.
 */
int local_in_next(struct local_in *in, struct local_head *head,
		  const uint8_t **p);
/* Consumes the record: its bytes are not read any more. */
static inline void local_in_take(struct local_in *in, uint32_t size)
{
	in->head += local_record(size);
}
/* Publishes the consumed room. True: the writer waits for it. */
bool local_in_publish(struct local_in *in);

#endif
