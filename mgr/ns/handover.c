/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handover.c - moves state from one session to another: GRANT and REDEEM pass an open file; ADOPT
 * moves what a previous session has of a file (open records, locks).
 */
#include <errno.h>
#include <unistd.h>

#include "mgr/db/lock_rows.h"
#include "mgr/db/sessions.h"
#include "mgr/ns/holds.h"
#include "mgr/ns/ns_int.h"

/* ---- GRANT and REDEEM ---- */

static int find_granted(struct ns_op *op, const struct ns_grant *grant,
			struct open_rec *rec, struct inode *ino)
{
	struct store *st = op->ns->st;
	int rc = 0;

	*rec = (struct open_rec){ 0 };
	if (!holds_get(op->ns, grant->session, grant->open, &rec->handle,
		       &rec->flags))
		rc = open_get(st, grant->session, grant->open, rec);
	if (rc == -ENOENT || (!rc && rec->handle != grant->handle))
		return -EBADF;
	return rc ? rc : inode_get(st, rec->handle, ino);
}

int ns_may_grant(struct ns_op *op, const struct ns_grant *grant)
{
	struct open_rec rec;
	struct inode ino;
	int rc = find_granted(op, grant, &rec, &ino);

	if (rc)
		return rc;
	if (rec.flags & OPEN_HOLD && grant->flags & WIRE_O_WRITE)
		return -EBADF;
	if (rec.flags & OPEN_HOLD && !(rec.flags & OPEN_DECLARED))
		return 0;
	/* neither a writer's record nor a declared hold proves that the session may read;
	 * a mount for all users may read everything, with the rights of root */
	return grant->flags & WIRE_O_READ ? ns_may(op, &ino, R_OK) : 0;
}

int ns_redeem(struct ns_op *op, const struct ns_grant *grant, uint32_t flags,
	      struct inode *ino, uint64_t *open)
{
	struct open_rec rec;
	int rc = find_granted(op, grant, &rec, ino);

	*open = 0;
	if (rc)
		return rc;
	if (!ns_client_knows_ring(op, ino))
		return -EOPNOTSUPP;
	/* the granting session holds the file for readers */
	if (!(flags & WIRE_O_WRITE))
		return 0;
	rc = ns_check_busy(op, ino);
	if (rc)
		return rc;
	rc = ns_record_writer(op, flags, ino, open);
	return rc ? rc : inode_put(op->ns->st, ino);
}

/* ---- ADOPT ---- */

int ns_may_adopt(struct ns_op *op, uint64_t session, uint32_t uid)
{
	struct session_rec rec;
	int rc = session == op->session ? -EPERM : 0;

	if (!rc)
		rc = session_get(op->ns->st, session, &rec);
	if (rc)
		return rc == -ENOENT ? -ESTALE : rc;
	if (rec.uid != uid)
		return -EPERM;
	return rec.flags & SESSION_OVER ? -ESTALE : 0;
}

/* With several writers, it is not worth finding out whether one session has them all. */
static int change_writer(struct ns_op *op, const struct open_rec *rec)
{
	struct inode ino;
	int rc;

	if (rec->flags & OPEN_HOLD)
		return 0;
	rc = inode_get(op->ns->st, rec->handle, &ino);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	ino.writer = 0;
	return inode_put(op->ns->st, &ino);
}

/*
 * A missing record is not an error: it may have been moved already.  Declared ids
 * (DECLARE) may be the ids of other records; those stay.
 */
static int move_open(struct ns_op *op, const struct ns_adopt_args *args,
		     uint32_t *done)
{
	struct store *st = op->ns->st;
	struct open_rec rec, own = { 0 };
	int rc = open_get(st, args->session, args->open, &rec);
	int taken = open_get(st, op->session, args->open, &own);
	bool here = rc == -ENOENT;

	if (here) {
		rec = own;
		rc = taken;
	}
	if (rc || rec.handle != args->handle)
		return rc == -ENOENT ? 0 : rc;
	if (!here && taken != -ENOENT)
		return taken ? taken : -EEXIST;
	*done |= WIRE_AD_OPEN;
	if (here)
		return 0;
	rec.session = op->session;
	rc = open_put(st, &rec);
	if (!rc)
		rc = change_writer(op, &rec);
	return rc ? rc : open_del(st, args->session, args->open);
}

static int move_lock(struct ns_op *op, struct lock_rec rec)
{
	int rc = lock_del(op->ns->st, &rec);

	rec.session = op->session;
	return rc ? rc : lock_put(op->ns->st, &rec, op->cred->uid);
}

/* *n: the number of moved rows, at most NS_DROP_LOCKS. */
static int move_rows(struct ns_op *op, const struct ns_adopt_args *args,
		     uint64_t owner, int *n)
{
	struct lock_cursor it;
	struct lock_rec rec;
	int rc;

	*n = 0;
	rc = lock_cursor_open(op->ns->st, args->handle, args->session, owner,
			      &it);
	if (rc)
		return rc;
	while (*n < (int)NS_DROP_LOCKS && !(rc = lock_cursor_next(&it, &rec)) &&
	       rec.session == args->session && rec.owner == owner) {
		rc = move_lock(op, rec);
		if (rc)
			break;
		++*n;
	}
	lock_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

static int move_locks(struct ns_op *op, const struct ns_adopt_args *args,
		      uint64_t owner, uint32_t *done)
{
	struct store *st = op->ns->st;
	int n, rc = move_rows(op, args, owner, &n);

	if (rc || !n)
		return rc;
	if (n == (int)NS_DROP_LOCKS)
		*done |= WIRE_AD_MORE;
	rc = lock_count_add(st, op->session, args->handle, n);
	if (!rc)
		rc = lock_count_add(st, args->session, args->handle, -n);
	return rc ? rc : lock_count_drop(st, args->session, args->handle);
}

/*
 * Lets the request wait while a change of these locks runs in several turns.  Such a change would
 * miss locks that move to another session meanwhile.
 */
static int wait_for_locks(const struct ns_op *op,
			  const struct ns_adopt_args *args, uint64_t owner)
{
	struct lock_rec of = { .handle = args->handle,
			       .session = args->session,
			       .owner = owner };
	int rc = lock_queue_check(op, &of);

	of.space = WIRE_L_WHOLE;
	return rc ? rc : lock_queue_check(op, &of);
}

int ns_adopt(struct ns_op *op, const struct ns_adopt_args *args, uint32_t *done)
{
	int rc = ns_may_adopt(op, args->session, args->uid);

	*done = 0;
	if (!rc && args->process)
		rc = wait_for_locks(op, args, 0);
	if (!rc && args->owner)
		rc = wait_for_locks(op, args, args->owner);
	if (!rc && args->open)
		rc = move_open(op, args, done);
	if (!rc && args->process)
		rc = move_locks(op, args, 0, done);
	if (!rc && args->owner)
		rc = move_locks(op, args, args->owner, done);
	return rc;
}
