/* SPDX-License-Identifier: BSD-2-Clause */
/* end_reads.c - see end_reads.h. */
#include "client/lib/names/end_reads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/call_context.h"
#include "client/lib/session/coroutine.h"
#include "common/wire/ends.h"

struct end_place {
	uint64_t session; /* session for which addr is valid; 0: addr is unknown */
	uint64_t addr, tag;
	uint32_t rkey, term;
};

struct end_places {
	pthread_mutex_t lock; /* never held over a wait */
	struct end_place place[];
};

void end_reads_close(struct end_reads *reads)
{
	struct end_places *places = atomic_exchange(&reads->places, NULL);

	if (!places)
		return;
	pthread_mutex_destroy(&places->lock);
	free(places);
}

/* ---- known places ---- */

static struct end_places *places_of(struct end_reads *reads, uint32_t n)
{
	struct end_places *places = atomic_load(&reads->places), *made;

	if (places)
		return places;
	made = calloc(1, sizeof(*made) + n * sizeof(made->place[0]));
	if (!made)
		return NULL;
	pthread_mutex_init(&made->lock, NULL);
	if (atomic_compare_exchange_strong(&reads->places, &places, made))
		return made;
	pthread_mutex_destroy(&made->lock);
	free(made);
	return places;
}

struct learn {
	struct end_reads *reads;
	struct session *s;
	const struct dist *dist;
};

static void place_learn(void *arg, uint32_t k,
			const struct wire_end_place *told)
{
	const struct learn *l = arg;
	struct end_places *places = places_of(l->reads, l->dist->pcount);
	const struct rpc_peer *peer = l->s->iod[session_iod(l->s, l->dist, k)];

	if (!places)
		return;
	pthread_mutex_lock(&places->lock);
	places->place[k] = (struct end_place){
		.session = l->s->id,
		.addr = le64toh(told->addr),
		.tag = le64toh(told->tag),
		.rkey = le32toh(told->rkey),
		.term = rpc_peer_term(peer),
	};
	pthread_mutex_unlock(&places->lock);
}

/* ---- reading ---- */

struct end_read {
	struct rpc_rma rma;
	struct end_reading *all;
	struct end_place place;
	struct wire_end end;
	bool sound;
};

struct end_reading {
	struct drive_op op;
	struct session *s;
	const struct dist *dist;
	struct end_read read[]; /* pcount elements */
};

/* If one end is not valid, all iods are asked by message. */
static void end_read_done(struct rpc_rma *rma)
{
	struct end_read *r = rma->arg;
	int status = rma->status;

	if (!status) {
		memcpy(&r->end, rma->data, sizeof(r->end));
		r->sound = wire_end_holds(&r->end, r->place.tag);
		status = r->sound ? 0 : -EAGAIN;
	}
	op_put(&r->all->op, status);
}

static int end_read_start(struct end_reading *all, uint32_t k,
			  uint64_t deadline)
{
	struct end_read *r = &all->read[k];

	r->all = all;
	r->rma = (struct rpc_rma){ .op = TP_READ,
				   .addr = r->place.addr,
				   .rkey = r->place.rkey,
				   .term = r->place.term,
				   .len = sizeof(r->end),
				   .deadline = deadline,
				   .done = end_read_done,
				   .arg = r };
	return rpc_rma_start(all->s->iod[session_iod(all->s, all->dist, k)],
			     &r->rma);
}

static void begin_all(struct drive_op *op)
{
	struct end_reading *all = (struct end_reading *)op;
	uint64_t deadline = session_deadline(all->s);
	uint32_t k;
	int rc;

	for (k = 0; k < all->dist->pcount; k++) {
		rc = end_read_start(all, k, deadline);
		if (rc) {
			op->err = rc;
			break;
		}
		op_get(op);
	}
}

static bool all_known(struct end_places *places, struct end_reading *all)
{
	bool known = true;
	uint32_t k;

	pthread_mutex_lock(&places->lock);
	for (k = 0; known && k < all->dist->pcount; k++) {
		all->read[k].place = places->place[k];
		known = places->place[k].session == all->s->id;
	}
	pthread_mutex_unlock(&places->lock);
	return known;
}

/* Forgets places that gave no valid end, unless an iod has reported a new place since. */
static void places_forget(struct end_places *places,
			  const struct end_reading *all)
{
	const struct end_place *was;
	uint32_t k;

	pthread_mutex_lock(&places->lock);
	for (k = 0; k < all->dist->pcount; k++) {
		was = &all->read[k].place;
		if (!all->read[k].sound && places->place[k].tag == was->tag &&
		    places->place[k].term == was->term)
			places->place[k].session = 0;
	}
	pthread_mutex_unlock(&places->lock);
}

static void ends_sum(const struct end_reading *all, struct file_size *size)
{
	const struct wire_end *end;
	uint64_t file;
	uint32_t k;

	*size = (struct file_size){ 0 };
	for (k = 0; k < all->dist->pcount; k++) {
		end = &all->read[k].end;
		file = dist_file_size(all->dist, k, le64toh(end->size));
		if (file > size->size)
			size->size = file;
		if ((int64_t)le64toh(end->mtime) > size->mtime)
			size->mtime = (int64_t)le64toh(end->mtime);
		size->blocks += le64toh(end->blocks);
	}
}

bool end_reads_try(struct end_reads *reads, struct session *s,
		   const struct dist *dist, struct file_size *size)
{
	struct end_places *places = atomic_load(&reads->places);
	struct end_reading *all;
	int rc = -ENOENT;

	if (!places || !session_is_direct(s, dist))
		return false;
	all = calloc(1, sizeof(*all) + dist->pcount * sizeof(all->read[0]));
	if (!all)
		return false;
	all->op.start = begin_all;
	all->s = s;
	all->dist = dist;
	if (all_known(places, all)) {
		rc = op_run(&s->drive, &all->op);
		if (rc)
			places_forget(places, all);
	}
	if (!rc) {
		ends_sum(all, size);
		atomic_fetch_add(&s->count.borrowed, dist->pcount);
	}
	free(all);
	return !rc;
}

int end_reads_size(struct end_reads *reads, struct session *s, uint64_t handle,
		   const struct dist *dist, struct file_size *size)
{
	struct learn l = { reads, s, dist };

	if (!reads || !session_is_direct(s, dist))
		return size_ask(s, handle, dist, NULL, NULL, size);
	if (end_reads_try(reads, s, dist, size))
		return 0;
	return size_ask_where(s, handle, dist, place_learn, &l, size);
}
