/* SPDX-License-Identifier: BSD-2-Clause */
/* copysets.c - see copysets.h. */
#include "client/lib/session/copysets.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "client/lib/session/client_session.h"
#include "client/lib/session/coroutine.h"
#include "common/dist/copyset_wire.h"

#define PAUSE_MIN_MS 50u
#define PAUSE_MAX_MS 250u
#define NOBODY UINT32_MAX /* copyset_primary(): no member serves */

/*
 * A row is one word: the version in the upper half, the iod that serves the copyset in the lower
 * one. 0: the row is unknown.
 */
struct known_ring {
	struct ring ring;
	_Atomic uint64_t row[]; /* ring.n elements */
};

TAILQ_HEAD(copysets_waits, copysets_wait);

struct copysets {
	struct session *s;
	/* by id; written by the driving thread, and constant from then on */
	_Atomic(struct known_ring *) ring[WIRE_RINGS_MAX];

	/* the rest is for the driving thread only */
	uint64_t revision; /* all rows of it are known; 0: none */
	struct copysets_waits waits, ready;
	struct rpc_timer timer; /* the next deadline, or the end of a pause */

	/* the question in progress */
	bool asking;
	uint64_t since, from; /* as in struct wire_copysets */
	uint64_t newer; /* revision in the first part of the answer */
	struct rpc_call call;
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(struct wire_copysets)) /
		     sizeof(uint64_t)];
};

static void timer_fire(struct rpc_timer *timer);

struct copysets *copysets_new(struct session *s)
{
	struct copysets *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->s = s;
	TAILQ_INIT(&c->waits);
	TAILQ_INIT(&c->ready);
	c->timer.fire = timer_fire;
	return c;
}

void copysets_free(struct copysets *c)
{
	if (!c)
		return;
	rpc_timer_clear(c->s->drive.ctx, &c->timer);
	for (unsigned int i = 0; i < WIRE_RINGS_MAX; i++)
		free(atomic_load(&c->ring[i]));
	free(c);
}

/* ---- rows ---- */

/* NULL: the client does not know the ring. */
static const struct known_ring *known_ring(const struct copysets *c,
					   const struct dist *dist)
{
	if (dist->ring >= WIRE_RINGS_MAX)
		return NULL;
	return atomic_load_explicit(&c->ring[dist->ring], memory_order_acquire);
}

int copysets_find(const struct copysets *c, const struct dist *dist, uint32_t k,
		  struct copyset_place *place)
{
	const struct known_ring *known = known_ring(c, dist);
	uint64_t row;
	uint32_t id;

	if (!known)
		return -ENOENT;
	id = copyset_of(dist, &known->ring, k);
	row = atomic_load_explicit(&known->row[id - known->ring.first],
				   memory_order_relaxed);
	if (!row || (uint32_t)row == NOBODY)
		return -ENOENT;
	if ((uint32_t)row >= c->s->niods)
		return -EPROTO;
	*place = (struct copyset_place){ .ref = { id, (uint32_t)(row >> 32) },
					 .iod = (uint32_t)row };
	return 0;
}

static int ring_store(struct copysets *c, const struct ring *ring)
{
	struct known_ring *known = atomic_load(&c->ring[ring->id]);

	if (known &&
	    (known->ring.first != ring->first || known->ring.n != ring->n)) {
		log_error(c->s->log,
			  "%s: ring %u has changed, which is impossible "
			  "unless its database was replaced: mount again",
			  rpc_peer_name(c->s->mgr), ring->id);
		return -EPROTO;
	}
	if (known)
		return 0;
	known = calloc(1, sizeof(*known) + ring->n * sizeof(known->row[0]));
	if (!known)
		return -ENOMEM;
	known->ring = *ring;
	atomic_store_explicit(&c->ring[ring->id], known, memory_order_release);
	return 0;
}

static void row_store(struct copysets *c, const struct copyset *set)
{
	uint32_t iod = copyset_primary(set), at;
	struct known_ring *known;

	if (iod != NOBODY && iod >= c->s->niods)
		log_error(c->s->log,
			  "copyset %u is on iod %u, which the file system did "
			  "not have when it was mounted: mount it again",
			  set->id, iod);
	for (unsigned int i = 1; i < WIRE_RINGS_MAX; i++) {
		known = atomic_load(&c->ring[i]);
		at = known ? set->id - known->ring.first : 0;
		if (!known || at >= known->ring.n)
			continue;
		atomic_store_explicit(&known->row[at],
				      (uint64_t)set->version << 32 | iod,
				      memory_order_relaxed);
		return;
	}
}

/* A part of the answer.  The client keeps what it had of rings that are not in it. */
static int part_store(struct copysets *c, const struct wire_msg *reply)
{
	const struct wire_copysets_rep *rep = reply->body;
	const struct wire_ring *ring = reply->tail[0].ptr;
	const struct wire_copyset *row = reply->tail[1].ptr;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < le32toh(rep->rings); i++) {
		const struct ring one = ring_from_wire(&ring[i]);

		rc = one.id ? ring_store(c, &one) : 0;
	}
	for (uint32_t i = 0; !rc && i < le32toh(rep->n); i++) {
		const struct copyset set = copyset_from_wire(&row[i]);

		row_store(c, &set);
	}
	return rc;
}

/* ---- the end of a wait ---- */

static void make_ready(struct copysets *c, struct copysets_wait *wait,
		       int status)
{
	TAILQ_REMOVE(&c->waits, wait, link);
	TAILQ_INSERT_TAIL(&c->ready, wait, link);
	wait->status = status;
}

/* done() may start and cancel other waits. */
static void end_ready(struct copysets *c)
{
	struct copysets_wait *wait;

	while ((wait = TAILQ_FIRST(&c->ready))) {
		TAILQ_REMOVE(&c->ready, wait, link);
		wait->done(wait, wait->status);
	}
}

void copysets_cancel(struct copysets *c, struct copysets_wait *wait)
{
	struct copysets_waits *list[] = { &c->waits, &c->ready };
	struct copysets_wait *w;

	for (unsigned int i = 0; i < 2; i++) {
		TAILQ_FOREACH(w, list[i], link) {
			if (w != wait)
				continue;
			TAILQ_REMOVE(list[i], w, link);
			w->done(w, -ECANCELED);
			return;
		}
	}
}

static void log_timeout(const struct copysets *c,
			const struct copysets_wait *wait)
{
	struct copyset_place place;

	if (c->asking)
		log_error(c->s->log,
			  "%s: no answer to COPYSETS by the deadline of a call",
			  rpc_peer_name(c->s->mgr));
	else if (copysets_find(c, wait->dist, wait->k, &place))
		log_error(c->s->log,
			  "%s: no iod serves server %u of a file in ring %u by "
			  "the deadline of a call",
			  rpc_peer_name(c->s->mgr), wait->k, wait->dist->ring);
	else
		log_error(c->s->log,
			  "%s: refuses version %u of copyset %u, which is the "
			  "version of the manager, by the deadline of a call",
			  rpc_peer_name(c->s->iod[place.iod]),
			  place.ref.version, place.ref.id);
}

/* Whether the wait is over, with *status; error: of the manager, or 0. */
static bool is_over(const struct copysets *c, const struct copysets_wait *wait,
		    int error, uint64_t now, int *status)
{
	struct copyset_place place;

	*status = copysets_find(c, wait->dist, wait->k, &place);
	if (!*status &&
	    (place.ref.version != wait->refused || now >= wait->resume))
		return true;
	if (!*status || *status == -ENOENT)
		*status = error;
	return *status;
}

/* Ends the waits that are over or late.  Returns true if the client must ask for others again. */
static bool review_waits(struct copysets *c, int error)
{
	uint64_t now = clock_now();
	struct copysets_wait *wait, *next;
	bool again = false;
	int status;

	for (wait = TAILQ_FIRST(&c->waits); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (is_over(c, wait, error, now, &status)) {
			make_ready(c, wait, status);
		} else if (now >= wait->deadline) {
			log_timeout(c, wait);
			make_ready(c, wait, -ETIMEDOUT);
		} else if (now >= wait->resume) {
			wait->resume = CLOCK_NEVER;
			again = true;
		}
	}
	return again;
}

/* The timer fires when there is something to do: at a deadline, or after a pause. */
static void timer_plan(struct copysets *c)
{
	const struct copysets_wait *wait;
	uint64_t at = CLOCK_NEVER;

	TAILQ_FOREACH(wait, &c->waits, link) {
		if (wait->deadline < at)
			at = wait->deadline;
		if (wait->resume < at)
			at = wait->resume;
	}
	if (TAILQ_EMPTY(&c->waits))
		rpc_timer_clear(c->s->drive.ctx, &c->timer);
	else
		rpc_timer_set(c->s->drive.ctx, &c->timer, at);
}

/* ---- the question ---- */

static void part_done(struct rpc_call *call);

static void question_send(struct copysets *c)
{
	struct wire_copysets body = { .since = htole64(c->since),
				      .from = htole32((uint32_t)c->from) };
	uint64_t deadline = c->call.deadline;
	struct wire_out out;

	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &body, sizeof(body));
	wire_end(&out, WIRE_COPYSETS, 0, 0);
	c->call = (struct rpc_call){ .msg = c->msg,
				     .msg_len = out.len,
				     .deadline = deadline,
				     .quiet = true,
				     .done = part_done,
				     .arg = c };
	rpc_call_start(c->s->mgr, &c->call);
}

/* The question may take as long as the call that waits longest. */
static void question_begin(struct copysets *c)
{
	const struct copysets_wait *wait;

	c->asking = true;
	c->since = c->revision;
	c->from = 0;
	c->call.deadline = 0;
	TAILQ_FOREACH(wait, &c->waits, link) {
		if (wait->deadline > c->call.deadline)
			c->call.deadline = wait->deadline;
	}
	question_send(c);
}

static void pause_begin(struct copysets_wait *wait)
{
	wait->pause_ms = wait->pause_ms ? 2 * wait->pause_ms : PAUSE_MIN_MS;
	if (wait->pause_ms > PAUSE_MAX_MS)
		wait->pause_ms = PAUSE_MAX_MS;
	wait->resume = clock_after_ms(wait->pause_ms);
}

/* A manager that does not answer is asked again after a pause. */
static void question_end(struct copysets *c, int status)
{
	struct copysets_wait *wait;

	c->asking = false;
	review_waits(c, status == -ETIMEDOUT ? 0 : status);
	TAILQ_FOREACH(wait, &c->waits, link) {
		if (wait->resume == CLOCK_NEVER)
			pause_begin(wait);
	}
	timer_plan(c);
	end_ready(c);
}

static void part_done(struct rpc_call *call)
{
	struct copysets *c = call->arg;
	const struct wire_copysets_rep *rep = call->reply.body;
	int rc = call->status > 0 ? -EPROTO : call->status;
	uint32_t next;

	if (!rc)
		rc = part_store(c, &call->reply);
	if (rc) {
		question_end(c, rc);
		return;
	}
	if (!c->from)
		c->newer = le64toh(rep->revision);
	next = le32toh(rep->next);
	if (next > c->from) {
		c->from = next;
		question_send(c);
		return;
	}
	if (!next)
		c->revision = c->newer;
	question_end(c, next ? -EPROTO : 0);
}

static void timer_fire(struct rpc_timer *timer)
{
	struct copysets *c = container_of(timer, struct copysets, timer);

	if (review_waits(c, 0) && !c->asking)
		question_begin(c);
	timer_plan(c);
	end_ready(c);
}

void copysets_await(struct copysets *c, struct copysets_wait *wait)
{
	wait->resume = CLOCK_NEVER;
	TAILQ_INSERT_TAIL(&c->waits, wait, link);
	if (!c->asking)
		question_begin(c);
	timer_plan(c);
}

/* ---- waiting in a call of a program ---- */

struct ring_learning {
	struct drive_op op;
	struct session *s;
	struct copysets_wait wait;
};

static void learn_done(struct copysets_wait *wait, int status)
{
	op_put(&container_of(wait, struct ring_learning, wait)->op, status);
}

static void learn_start(struct drive_op *op)
{
	struct ring_learning *learn = container_of(op, struct ring_learning,
						   op);

	op_get(op);
	copysets_await(learn->s->copysets, &learn->wait);
}

int copysets_learn(struct session *s, const struct dist *dist,
		   struct ring *ring)
{
	struct ring_learning learn = { .op = { .start = learn_start },
				       .s = s,
				       .wait = {
					       .dist = dist,
					       .deadline = session_deadline(s),
					       .done = learn_done } };
	int rc;

	if (!dist->ring) {
		*ring = ring_of_iods(s->niods);
		return 0;
	}
	rc = known_ring(s->copysets, dist) ? 0 : op_run(&s->drive, &learn.op);
	if (!rc)
		*ring = known_ring(s->copysets, dist)->ring;
	return rc;
}
