/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_ranges.c - LOCK: advisory locks on byte ranges of a file, as in fcntl(2). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/hash_table.h"
#include "mgr/db/lock_rows.h"
#include "mgr/ns/ns_int.h"

#define LOCKS_MAX 65536u /* of a session on one file */

_Static_assert(LOCK_EXCLUSIVE == WIRE_L_EXCLUSIVE, "types of locks");

static uint32_t space_of(const struct ns_lock_args *args)
{
	return args->flags & WIRE_L_WHOLE;
}

static struct lock_rec wanted_lock(const struct ns_op *op,
				   const struct ns_lock_args *args)
{
	return (struct lock_rec){ .handle = args->handle,
				  .session = op->session,
				  .owner = args->owner,
				  .start = args->start,
				  .end = args->end,
				  .type = args->type,
				  .space = space_of(args) };
}

/* ---- the queue of a holder ---- */

struct queue_key {
	uint64_t handle, session, owner, space;
};

struct lock_queue {
	UT_hash_handle hh; /* in ns->lock_queues */
	struct queue_key key;
	TAILQ_HEAD(, ns_pause) requests; /* never empty between two calls */
	/* of the first request, if it has begun */
	uint32_t uid;
	struct lock_node *reserved; /* or NULL */
};

static struct queue_key key_of(const struct lock_rec *rec)
{
	return (struct queue_key){ rec->handle, rec->session, rec->owner,
				   rec->space };
}

static struct lock_queue *find_queue(const struct ns *ns,
				     const struct lock_rec *rec)
{
	const struct queue_key key = key_of(rec);
	struct lock_queue *queue;

	HASH_FIND(hh, ns->lock_queues, &key, sizeof(key), queue);
	return queue;
}

static int add_queue(struct ns *ns, const struct lock_rec *rec,
		     struct lock_queue **out)
{
	struct lock_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	queue->key = key_of(rec);
	TAILQ_INIT(&queue->requests);
	HASH_ADD(hh, ns->lock_queues, key, sizeof(queue->key), queue);
	if (!queue->hh.tbl) {
		free(queue);
		return -ENOMEM;
	}
	*out = queue;
	return 0;
}

static void queue_append(struct lock_queue *queue, struct ns_pause *pause)
{
	pause->lock = queue;
	TAILQ_INSERT_TAIL(&queue->requests, pause, lock_next);
}

int lock_queue_check(const struct ns_op *op, const struct lock_rec *rec)
{
	const struct lock_queue *queue = find_queue(op->ns, rec);

	if (!queue || TAILQ_FIRST(&queue->requests) == op->pause)
		return 0;
	/* counts as work, because the request may ask many times */
	op->ns->steps += NS_TURN_STEPS / 8;
	return NS_PAUSED;
}

/* The same, but the request enters the queue. */
static int enter_queue(struct ns_op *op, const struct lock_rec *rec)
{
	struct lock_queue *queue = find_queue(op->ns, rec);
	int rc = lock_queue_check(op, rec);

	if (rc && op->pause && op->pause->lock != queue) {
		lock_queue_leave(op->ns, op->pause);
		queue_append(queue, op->pause);
	}
	return rc;
}

/*
 * The first turn of a request.  Unless rec is an unlock, reserves the range until the
 * request leaves the queue, so that no other request locks a part of it between two turns.
 */
static int begin_queue(struct ns_op *op, const struct lock_rec *rec)
{
	struct ns *ns = op->ns;
	struct lock_queue *queue = find_queue(ns, rec);
	int rc = 0;

	if (!queue) {
		rc = add_queue(ns, rec, &queue);
		if (rc)
			return rc;
		lock_queue_leave(ns, op->pause);
		queue_append(queue, op->pause);
	}
	queue->uid = op->cred->uid;
	if (rec->type != WIRE_L_UNLOCK)
		rc = lock_reserve(ns->st, rec, queue->uid, &queue->reserved);
	op->pause->begun = !rc;
	return rc;
}

/* The user whose locks they are. */
static uint32_t lock_uid(const struct ns_op *op)
{
	const struct ns_pause *pause = op->pause;

	return pause && pause->begun ? pause->lock->uid : op->cred->uid;
}

void lock_queue_leave(struct ns *ns, struct ns_pause *pause)
{
	struct lock_queue *queue = pause->lock;

	if (!queue)
		return;
	if (queue->reserved && TAILQ_FIRST(&queue->requests) == pause) {
		lock_release(ns->st, queue->reserved);
		queue->reserved = NULL;
	}
	TAILQ_REMOVE(&queue->requests, pause, lock_next);
	pause->lock = NULL;
	if (!TAILQ_EMPTY(&queue->requests))
		return;
	HASH_DEL(ns->lock_queues, queue);
	free(queue);
}

/* ---- one turn ---- */

/* Finds a lock that conflicts with `want`. Returns 0 if there is none, otherwise -EAGAIN. */
static int find_conflict(struct ns_op *op, const struct lock_rec *want,
			 struct lock_rec *other)
{
	int rc = lock_find(op->ns->st, want, other);

	return rc == -ENOENT ? 0 : rc ? rc : -EAGAIN;
}

/* A change of the session's rows. */
struct lock_change {
	struct store *st;
	uint32_t uid; /* the user they count for */
	struct lock_rec new;
	int more; /* rows */
	unsigned int left; /* rows that this turn may still change */
	/* the turn may change no more rows, so `new` was cut at the next one */
	bool part;
};

static int put_row(struct lock_change *c, const struct lock_rec *rec)
{
	c->more++;
	return lock_put(c->st, rec, c->uid);
}

static int del_row(struct lock_change *c, const struct lock_rec *rec)
{
	c->more--;
	return lock_del(c->st, rec);
}

static int put_part(struct lock_change *c, struct lock_rec rec, uint64_t start,
		    uint64_t end)
{
	rec.start = start;
	rec.end = end;
	return start < end ? put_row(c, &rec) : 0;
}

/* An existing lock of the owner makes room for the new one, or is merged with it. */
static int make_room(struct lock_change *c, const struct lock_rec *old)
{
	struct lock_rec *new = &c->new;
	int rc;

	if (old->end < new->start)
		return 0;
	if (old->type == new->type) {
		new->start = old->start < new->start ? old->start : new->start;
		new->end = old->end > new->end ? old->end : new->end;
		return del_row(c, old);
	}
	if (old->end == new->start || old->start == new->end)
		return 0;
	rc = del_row(c, old);
	if (!rc)
		rc = put_part(c, *old, old->start, new->start);
	if (!rc)
		rc = put_part(c, *old, new->end, old->end);
	return rc;
}

static bool may_touch(const struct lock_rec *new, const struct lock_rec *old)
{
	return lock_same_holder(old, new) && old->space == new->space &&
	       old->start <= new->end;
}

static int replace_rows(struct lock_change *c)
{
	struct lock_rec at = c->new, old;
	struct lock_cursor it;
	int rc;

	/* a lock that ends at new->start may be merged */
	at.start -= at.start > 0;
	rc = lock_cursor_open(c->st, at.handle, at.session, at.owner, &it);
	if (rc)
		return rc;
	rc = lock_cursor_seek(&it, &at, &old);
	while (!rc && may_touch(&c->new, &old)) {
		if (!c->left--) {
			c->new.end = old.start;
			c->part = true;
			break;
		}
		rc = make_room(c, &old);
		if (!rc)
			rc = lock_cursor_next(&it, &old);
	}
	lock_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

/* Removes the record if the session has no lock on the file any more. */
int lock_count_drop(struct store *st, uint64_t session, uint64_t handle)
{
	struct lock_cursor it;
	struct lock_rec rec;
	int rc;

	rc = lock_cursor_open(st, handle, session, 0, &it);
	if (rc)
		return rc;
	rc = lock_cursor_next(&it, &rec);
	lock_cursor_close(&it);
	if (rc && rc != -ENOENT)
		return rc;
	if (!rc && rec.session == session)
		return 0;
	rc = locker_del(st, session, handle);
	return rc == -ENOENT ? 0 : rc;
}

int lock_count_add(struct store *st, uint64_t session, uint64_t handle,
		   int more)
{
	uint32_t locks = 0;
	int64_t now;
	int rc;

	rc = locker_get(st, session, handle, &locks);
	if (rc && rc != -ENOENT)
		return rc;
	if (!rc && !more)
		return 0;
	now = (int64_t)locks + more;
	if (more > 0 && now > LOCKS_MAX)
		return -ENOLCK;
	return locker_put(st, session, handle, now > 0 ? (uint32_t)now : 0);
}

static int put_change(struct ns_op *op, struct lock_change *c)
{
	const struct lock_rec *new = &c->new;
	bool unlock = new->type == WIRE_L_UNLOCK;
	int rc = replace_rows(c);

	if (!rc && unlock && !store_changed(c->st))
		return 0;
	if (!rc && !unlock)
		rc = put_row(c, new);
	if (!rc)
		rc = lock_count_add(c->st, op->session, new->handle, c->more);
	if (!rc && unlock)
		rc = lock_count_drop(c->st, op->session, new->handle);
	return rc;
}

/*
 * Each turn starts at the beginning of the range, with the rows that exist then.  From
 * the second turn on, op->cred is not used: see run_op().
 */
static int take_lock(struct ns_op *op, const struct lock_rec *want)
{
	struct lock_change c = { .st = op->ns->st,
				 .uid = lock_uid(op),
				 .new = *want,
				 .left = op->pause ? NS_TURN_STEPS / 2
						   : UINT_MAX };
	int rc = put_change(op, &c);

	if (!rc && c.part && !op->pause->begun)
		rc = begin_queue(op, want);
	return rc || !c.part ? rc : NS_PART;
}

static int check_file(struct ns_op *op, uint64_t handle)
{
	struct inode ino;
	int rc = inode_get(op->ns->st, handle, &ino);

	if (rc)
		return rc == -ENOENT ? -ESTALE : rc;
	return ns_may(op, &ino, R_OK) && ns_may(op, &ino, W_OK) ? -EACCES : 0;
}

int ns_lock(struct ns_op *op, const struct ns_lock_args *args,
	    struct lock_rec *other)
{
	const struct lock_rec want = wanted_lock(op, args);
	bool test = args->flags & WIRE_L_TEST;
	int rc = test ? 0 : enter_queue(op, &want);

	if (rc)
		return rc;
	if (args->type != WIRE_L_UNLOCK) {
		if (!op->pause || !op->pause->begun)
			rc = check_file(op, args->handle);
		if (!rc)
			rc = find_conflict(op, &want, other);
	}
	if (test) {
		if (!rc)
			other->type = WIRE_L_UNLOCK;
		return rc == -EAGAIN ? 0 : rc;
	}
	return rc ? rc : take_lock(op, &want);
}

/* 0: all locks are dropped; 1: there may be more. */
static int drop_some(struct store *st, uint64_t handle, uint64_t session)
{
	unsigned int left = NS_DROP_LOCKS;
	struct lock_cursor it;
	struct lock_rec rec;
	int rc;

	rc = lock_cursor_open(st, handle, session, 0, &it);
	if (rc)
		return rc;
	while (!(rc = lock_cursor_next(&it, &rec)) && rec.session == session) {
		rc = lock_del(st, &rec);
		if (!rc && !--left)
			rc = 1;
		if (rc)
			break;
	}
	lock_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

/* The record goes last, so that the next start finds remaining locks. */
int ns_drop_locks(struct ns_op *op, uint64_t session)
{
	struct store *st = op->ns->st;
	uint64_t h;
	int rc;

	rc = locker_any(st, session, &h);
	if (!rc)
		rc = drop_some(st, h, session);
	if (!rc)
		rc = locker_del(st, session, h);
	return rc < 0 ? rc : 0;
}
