/* SPDX-License-Identifier: BSD-2-Clause */
/* lock.c - LOCK: advisory locks on bytes of a file, as fcntl(2) has them. */
#include <errno.h>
#include <unistd.h>

#include "locks.h"
#include "ns_impl.h"

#define LOCKS_MAX 65536u /* of one file: each is a row to look at */

static uint32_t space_of(const struct ns_lock_args *args)
{
	return args->flags & WIRE_L_WHOLE;
}

static bool in_the_way(const struct ns_op *op, const struct ns_lock_args *args,
		       const struct lock_rec *rec)
{
	bool own = rec->session == op->session && rec->owner == args->owner;

	return !own && rec->space == space_of(args) && rec->start < args->end &&
	       args->start < rec->end &&
	       (args->type == WIRE_L_EXCLUSIVE ||
		rec->type == WIRE_L_EXCLUSIVE);
}

/* 0: nothing is in the way. */
static int look(struct ns_op *op, const struct ns_lock_args *args,
		struct lock_rec *other)
{
	struct lock_iter it;
	unsigned int n = 0;
	int rc;

	rc = lock_iter_open(op->ns->st, args->handle, 0, 0, &it);
	if (rc)
		return rc;
	while (!(rc = lock_iter_next(&it, other))) {
		if (in_the_way(op, args, other)) {
			rc = -EAGAIN;
			break;
		}
		if (++n == LOCKS_MAX) {
			rc = -ENOLCK;
			break;
		}
	}
	lock_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

static int put_part(struct store *st, struct lock_rec rec, uint64_t start,
		    uint64_t end)
{
	rec.start = start;
	rec.end = end;
	return start < end ? lock_put(st, &rec) : 0;
}

/* A lock that the owner has makes room for new, or becomes part of it. */
static int make_room(struct store *st, struct lock_rec *new,
		     const struct lock_rec *old)
{
	int rc;

	if (old->space != new->space || old->end < new->start ||
	    old->start > new->end)
		return 0;
	if (old->type == new->type) {
		new->start = old->start < new->start ? old->start : new->start;
		new->end = old->end > new->end ? old->end : new->end;
		return lock_del(st, old);
	}
	if (old->end == new->start || old->start == new->end)
		return 0;
	rc = lock_del(st, old);
	if (!rc)
		rc = put_part(st, *old, old->start, new->start);
	if (!rc)
		rc = put_part(st, *old, new->end, old->end);
	return rc;
}

static int replace(struct store *st, struct lock_rec *new)
{
	struct lock_iter it;
	struct lock_rec old;
	int rc;

	rc = lock_iter_open(st, new->handle, new->session, new->owner, &it);
	if (rc)
		return rc;
	while (!(rc = lock_iter_next(&it, &old))) {
		if (old.session != new->session || old.owner != new->owner)
			break;
		rc = make_room(st, new, &old);
		if (rc)
			break;
	}
	lock_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

/* The session has no lock on the file any more: no word of it. */
static int forget(struct store *st, uint64_t session, uint64_t handle)
{
	struct lock_iter it;
	struct lock_rec rec;
	int rc;

	rc = lock_iter_open(st, handle, session, 0, &it);
	if (rc)
		return rc;
	rc = lock_iter_next(&it, &rec);
	lock_iter_close(&it);
	if (rc && rc != -ENOENT)
		return rc;
	if (!rc && rec.session == session)
		return 0;
	rc = locker_del(st, session, handle);
	return rc == -ENOENT ? 0 : rc;
}

static int take(struct ns_op *op, const struct ns_lock_args *args)
{
	struct store *st = op->ns->st;
	struct lock_rec new = { .handle = args->handle,
				.session = op->session,
				.owner = args->owner,
				.start = args->start,
				.end = args->end,
				.type = args->type,
				.space = space_of(args) };
	int rc = replace(st, &new);

	if (rc)
		return rc;
	if (args->type == WIRE_L_UNLOCK)
		return store_changed(st) ? forget(st, new.session, new.handle)
					 : 0;
	rc = lock_put(st, &new);
	return rc ? rc : locker_put(st, op->session, args->handle);
}

static int check_file(struct ns_op *op, uint64_t handle)
{
	struct inode ino;
	int rc = inode_get(op->ns->st, handle, &ino);

	if (rc)
		return rc == -ENOENT ? -ESTALE : rc;
	return ns_may(op->cred, &ino, R_OK) && ns_may(op->cred, &ino, W_OK)
		       ? -EACCES
		       : 0;
}

int ns_lock(struct ns_op *op, const struct ns_lock_args *args,
	    struct lock_rec *other)
{
	int rc = 0;

	if (args->type != WIRE_L_UNLOCK) {
		rc = check_file(op, args->handle);
		if (!rc)
			rc = look(op, args, other);
	}
	if (args->flags & WIRE_L_TEST) {
		if (!rc)
			other->type = WIRE_L_UNLOCK;
		return rc == -EAGAIN ? 0 : rc;
	}
	return rc ? rc : take(op, args);
}

static int drop_all(struct store *st, uint64_t handle, uint64_t session)
{
	struct lock_iter it;
	struct lock_rec rec;
	int rc;

	rc = lock_iter_open(st, handle, session, 0, &it);
	if (rc)
		return rc;
	while (!(rc = lock_iter_next(&it, &rec)) && rec.session == session) {
		rc = lock_del(st, &rec);
		if (rc)
			break;
	}
	lock_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

int ns_drop_locks(struct ns_op *op, uint64_t session, uint64_t *handle)
{
	struct store *st = op->ns->st;
	uint64_t h;
	int rc;

	rc = locker_any(st, session, &h);
	if (!rc)
		rc = drop_all(st, h, session);
	if (!rc)
		rc = locker_del(st, session, h);
	if (!rc)
		*handle = h;
	return rc;
}
