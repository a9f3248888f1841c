/* SPDX-License-Identifier: BSD-2-Clause */
/* file_counter.c - see file_counter.h.  The number of a counter selects the iod. */
#include "client/lib/names/file_counter.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/server_call.h"
#include "client/lib/session/coroutine.h"

#define SOON_MS 500u /* delay after the iod did not lend the word */
#define TRIES 3u

struct word_place {
	uint64_t session; /* 0: not asked yet */
	uint64_t addr; /* 0: not lent */
	uint64_t life;
	int64_t ceiling;
	uint64_t again; /* do not ask before this clock_now() */
	uint32_t rkey, term;
};

struct word {
	pthread_mutex_t lock; /* never held over a wait */
	struct word_place place;
};

/* ---- known places ---- */

static struct word *word_of(struct words *words, unsigned int number)
{
	struct word *w = atomic_load(&words->word[number]), *made;

	if (w)
		return w;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	pthread_mutex_init(&made->lock, NULL);
	if (atomic_compare_exchange_strong(&words->word[number], &w, made))
		return made;
	pthread_mutex_destroy(&made->lock);
	free(made);
	return w;
}

void words_close(struct words *words)
{
	struct word *w;
	unsigned int i;

	for (i = 0; i < WIRE_COUNTERS; i++) {
		w = atomic_exchange(&words->word[i], NULL);
		if (!w)
			continue;
		pthread_mutex_destroy(&w->lock);
		free(w);
	}
}

static struct word_place place_get(struct word *w)
{
	struct word_place place;

	pthread_mutex_lock(&w->lock);
	place = w->place;
	pthread_mutex_unlock(&w->lock);
	return place;
}

static void place_set(struct word *w, const struct word_place *place)
{
	pthread_mutex_lock(&w->lock);
	w->place = *place;
	pthread_mutex_unlock(&w->lock);
}

/* ---- PLACE ---- */

struct word_asked {
	struct rpc_peer *peer;
	struct word_place place;
};

static int place_take_reply(void *arg, const struct wire_msg *reply)
{
	const struct wire_place_rep *rep = reply->body;
	struct word_asked *a = arg;

	a->place.addr = le64toh(rep->addr);
	a->place.life = le64toh(rep->life);
	a->place.ceiling = (int64_t)le64toh(rep->ceiling);
	a->place.rkey = le32toh(rep->rkey);
	a->place.term = rpc_peer_term(a->peer);
	return a->place.addr % sizeof(uint64_t) ? -EPROTO : 0;
}

/*
 * Asks the iod for the place of the counter in its memory, with a PLACE. from: the place at which
 * the value has reached upto, so its ceiling must be raised; or NULL.
 */
static int place_ask(struct session *s, const struct word_add *add,
		     const struct word_place *from, int64_t upto,
		     struct word_asked *a)
{
	struct wire_place body = {
		.handle = htole64(add->handle),
		.upto = htole64((uint64_t)upto),
		.step = htole64((uint64_t)add->add),
		.life = htole64(from ? from->life : 0),
		.number = htole32(add->number),
		.flags = htole32(from ? WIRE_PL_RAISE : 0),
	};
	struct server_call c;

	a->peer = s->iod[add->iod];
	server_call_begin(&c, s, a->peer);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_PLACE, place_take_reply, a);
}

/*
 * Whether RDMA to counters is impossible: the iod lends none over this connection, or is of an
 * earlier release.
 */
static bool is_wordless(struct session *s, uint32_t iod)
{
	const struct session_server *server = &s->uri[iod];

	return atomic_load(&server->wordless) == atomic_load(&server->lost) + 1;
}

static void note_wordless(struct session *s, uint32_t iod, int rc)
{
	struct session_server *server = &s->uri[iod];

	if (rc == -EOPNOTSUPP || rc == -ENOSYS)
		atomic_store(&server->wordless, atomic_load(&server->lost) + 1);
}

/* -EAGAIN: the word is not lent to us. */
static int place_find(struct word *w, struct session *s,
		      const struct word_add *add, struct word_place *place)
{
	struct word_asked a = { 0 };
	int rc;

	*place = place_get(w);
	if (place->session == s->id && place->addr)
		return 0;
	if (place->session == s->id && clock_now() < place->again)
		return -EAGAIN;
	rc = place_ask(s, add, NULL, 0, &a);
	note_wordless(s, add->iod, rc);
	if (rc)
		a.place = (struct word_place){ .again = clock_after_ms(
						       SOON_MS) };
	a.place.session = s->id;
	place_set(w, &a.place);
	*place = a.place;
	return rc || !place->addr ? -EAGAIN : 0;
}

static void place_forget(struct word *w, uint64_t session, uint64_t again)
{
	place_set(w,
		  &(struct word_place){ .session = session, .again = again });
}

/* ---- the atomic operation ---- */

struct fetch {
	struct drive_op op;
	struct rpc_peer *peer;
	struct rpc_rma rma;
	uint64_t old;
};

static void fetch_done(struct rpc_rma *rma)
{
	struct fetch *f = rma->arg;

	if (!rma->status)
		memcpy(&f->old, rma->data, sizeof(f->old));
	op_put(&f->op, rma->status);
}

static void fetch_start(struct drive_op *op)
{
	struct fetch *f = (struct fetch *)op;
	int rc = rpc_rma_start(f->peer, &f->rma);

	if (rc)
		op->err = rc;
	else
		op_get(op);
}

static int word_fetch_add(struct session *s, const struct word_add *add,
			  const struct word_place *place, int64_t *old)
{
	struct fetch f = {
		.op = { .start = fetch_start },
		.peer = s->iod[add->iod],
		.rma = { .op = TP_FETCH_ADD,
			 .addr = place->addr,
			 .rkey = place->rkey,
			 .term = place->term,
			 .add = (uint64_t)add->add,
			 .deadline = session_deadline(s),
			 .done = fetch_done },
	};
	int rc;

	f.rma.arg = &f;
	/* the maximum of atomics is in flight; one of them is about to complete */
	while ((rc = op_run(&s->drive, &f.op)) == -EBUSY &&
	       clock_now() < f.rma.deadline)
		sched_yield();
	if (!rc)
		*old = (int64_t)f.old;
	return rc;
}

/* The value is ours once the ceiling on the iod's disk is above it. */
static int value_settle(struct word *w, struct session *s,
			const struct word_add *add,
			const struct word_place *place, int64_t old)
{
	struct word_asked a = { 0 };
	int64_t upto;
	int rc;

	if (__builtin_add_overflow(old, add->add, &upto))
		return -ECONNABORTED;
	if (upto <= place->ceiling)
		return 0;
	rc = place_ask(s, add, place, upto, &a);
	if (rc) {
		log_error(s->log,
			  "%s: counter %u of %016llx gave %lld, which could not "
			  "be recorded (%s): the value is skipped",
			  rpc_peer_name(a.peer), add->number,
			  (unsigned long long)add->handle, (long long)old,
			  strerror(-rc));
		return -ECONNABORTED;
	}
	a.place.session = s->id;
	place_set(w, &a.place);
	return 0;
}

static bool may_use_word(struct session *s, const struct word_add *add)
{
	return !is_wordless(s, add->iod) && add->add > 0 &&
	       (uint64_t)add->add <= WIRE_PL_STEP;
}

/*
 * Adds to the counter by RDMA.  *old is the previous value. -ESTALE: the place in the iod's memory
 * was for an earlier connection, and is forgotten.
 */
static int word_try_add(struct word *w, struct session *s,
			const struct word_add *add, int64_t *old)
{
	struct word_place place;
	int64_t value;
	int rc = place_find(w, s, add, &place);

	if (!rc)
		rc = word_fetch_add(s, add, &place, &value);
	if (!rc)
		rc = value_settle(w, s, add, &place, value);
	else if (rc == -ESTALE)
		place_forget(w, s->id, 0);
	else if (rc == -EACCES)
		place_forget(w, s->id, clock_after_ms(SOON_MS));
	if (!rc)
		*old = value;
	return rc;
}

static bool outcome_is_unknown(int rc)
{
	return rc == -ECONNABORTED || rc == -ETIMEDOUT;
}

int words_add(struct words *words, struct session *s,
	      const struct word_add *add, int64_t *old)
{
	struct word *w = may_use_word(s, add) ? word_of(words, add->number)
					      : NULL;
	unsigned int i;
	int rc = -EAGAIN;

	for (i = 0; w && i < TRIES; i++) {
		rc = word_try_add(w, s, add, old);
		if (rc != -ESTALE)
			break;
	}
	if (!rc)
		atomic_fetch_add(&s->count.borrowed, 1);
	return !rc || outcome_is_unknown(rc) ? rc : -EAGAIN;
}

static int take_old(void *arg, const struct wire_msg *reply)
{
	const struct wire_counter_rep *rep = reply->body;
	struct counter_ask *a = arg;

	a->old = (int64_t)le64toh(rep->old);
	return 0;
}

static int by_message(struct session *s, const struct target *t, uint32_t k,
		      struct counter_ask *a)
{
	struct wire_counter body = {
		.handle = htole64(t->handle),
		.value = htole64((uint64_t)a->value),
		.number = htole32(a->number),
		.flags = htole32(a->set ? WIRE_CT_SET : 0),
	};
	struct server_call c;

	server_call_begin_object(&c, s, a->dist, k);
	c.once = a->set || a->value;
	server_call_put(&c, &body, sizeof(body));
	return session_iod_status(
		server_call_run(&c, WIRE_COUNTER, take_old, a));
}

int counter_ask(struct session *s, const struct target *t, void *arg)
{
	struct counter_ask *a = arg;
	uint32_t k = a->number % a->dist->pcount;
	struct word_add add = { .handle = t->handle,
				.iod = session_iod(s, a->dist, k),
				.number = a->number,
				.add = a->value };
	int rc = -EAGAIN;

	if (!a->set && session_is_direct(s, a->dist))
		rc = words_add(a->words, s, &add, &a->old);
	return rc == -EAGAIN ? by_message(s, t, k, a) : rc;
}
