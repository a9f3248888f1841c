/* SPDX-License-Identifier: BSD-2-Clause */
/* release.c - RELEASE, and open records of ended sessions. */
#include <errno.h>

#include "mgr/ns/holds.h"

#define ATIME_AGE_NS (24 * 3600 * INT64_C(1000000000))

static bool is_append(const struct open_rec *rec)
{
	return rec->flags & OPEN_APPEND;
}

/* Not for the owner: it may have set the bits after the write, as install(1) does. */
static void drop_suid(struct inode *ino, const struct open_rec *rec)
{
	if (rec->flags & OPEN_NOT_OWNER)
		ino->mode = ns_drop_suid(ino->mode);
}

/* The time is the client's and may be ahead of ours. */
static int64_t read_at(const struct ns_op *op,
		       const struct ns_release_args *args)
{
	bool known = !(args->flags & WIRE_R_WROTE);

	return known && args->mtime < op->now ? args->mtime : op->now;
}

static void was_read(const struct ns_op *op, struct inode *ino,
		     const struct ns_release_args *args)
{
	int64_t t = read_at(op, args);

	if (t < ino->ctime) /* utimens may have set the time since */
		return;
	if (ino->atime <= ino->mtime || ino->atime <= ino->ctime ||
	    t - ino->atime >= ATIME_AGE_NS)
		ino->atime = t > ino->atime ? t : ino->atime;
}

/* Releases a hold that was only in memory. */
static int release_kept(struct ns_op *op, const struct ns_release_args *args)
{
	struct inode ino;
	int64_t before;
	int rc;

	op->kept = true;
	if (!(args->flags & WIRE_R_READ))
		return 0;
	rc = inode_get(op->ns->st, args->handle, &ino);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	before = ino.atime;
	was_read(op, &ino, args);
	return ino.atime == before ? 0 : inode_put(op->ns->st, &ino);
}

int ns_release(struct ns_op *op, const struct ns_release_args *args)
{
	struct store *st = op->ns->st;
	enum holds_was was;
	struct open_rec rec;
	struct inode ino;
	int rc;

	if (args->end > INT64_MAX)
		return -EINVAL;
	was = holds_release(op, args->handle, args->open);
	if (was == HOLDS_ALONE)
		return release_kept(op, args);
	rc = open_get(st, op->session, args->open, &rec);
	if (rc == -ENOENT && was == HOLDS_PERHAPS)
		return release_kept(op, args);
	if (rc == -ENOENT || (!rc && rec.handle != args->handle))
		return -EBADF;
	if (!rc)
		rc = inode_get(st, rec.handle, &ino);
	if (!rc)
		rc = open_del(st, rec.session, rec.open);
	if (rc)
		return rc;
	if (args->flags & WIRE_R_READ)
		was_read(op, &ino, args);
	if (rec.flags & OPEN_HOLD) {
		ino.holders--;
		return ns_settle(op, &ino);
	}
	if (args->flags & (WIRE_R_WROTE | WIRE_R_DOUBT))
		drop_suid(&ino, &rec);
	size_released(&ino, is_append(&rec), args);
	return ns_settle(op, &ino);
}

int ns_drop_open(struct ns_op *op, uint64_t session)
{
	struct store *st = op->ns->st;
	struct open_rec rec;
	struct inode ino;
	int rc;

	rc = open_any(st, session, &rec);
	if (rc)
		return rc;
	holds_drop(op->ns, rec.session, rec.open);
	rc = open_del(st, rec.session, rec.open);
	if (!rc)
		rc = inode_get(st, rec.handle, &ino);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	if (rec.flags & OPEN_HOLD) {
		ino.holders--;
		return ns_settle(op, &ino);
	}
	drop_suid(&ino, &rec); /* it is not known whether the session wrote */
	size_dropped(&ino, is_append(&rec));
	return ns_settle(op, &ino);
}
