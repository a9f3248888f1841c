/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_size.c - the size of a file while clients write to the iods; APPEND and TRUNCATE.
 *
 *             open for writing                     last clean release
 *    KNOWN ---------------------> ASK (writers) -------------------------> KNOWN
 *                                  |  an unclean release, or a truncation
 *    a failed truncation           v  while there are writers
 *        ---------------------->  ASK+TAINT --- last release ---> to be asked
 *                                                                    | ns_store_size()
 *    BUSY: a truncation is running; no new writers                KNOWN
 *
 * HOLES: clients ask the iods for the allocated space.  HOLES+UNSURE: the allocated
 * space may match the size again.  A GETATTR replies at once, and the manager asks the
 * iods in the background.
 */
#include <errno.h>
#include <unistd.h>

#include "common/util/extent.h"
#include "mgr/ns/ns_int.h"

/* ---- the state of the size ---- */

/* More than the space that an object without holes takes in addition to its bytes. */
#define SPARE 65536u
#define CLOCKS_DIFFER                                                          \
	INT64_C(10000000000) /* ns; maximum difference of synchronized clocks */

static bool size_known(const struct inode *ino)
{
	return !(ino->flags & INODE_ASK);
}

bool ns_must_ask(const struct inode *ino)
{
	return S_ISREG(ino->mode) && !size_known(ino) && ino->writers == 0 &&
	       !(ino->flags & INODE_BUSY);
}

bool ns_is_unsure(const struct inode *ino)
{
	return S_ISREG(ino->mode) && ino->flags & INODE_UNSURE &&
	       !ino->writers && !(ino->flags & (INODE_ASK | INODE_BUSY));
}

void size_add_writer(struct inode *ino, uint64_t session, bool append)
{
	if (!ino->writers)
		ino->writer = session;
	else if (ino->writer != session)
		ino->writer = 0;
	if (size_known(ino))
		ino->end = ino->tail = ino->size;
	ino->flags |= INODE_ASK;
	ino->gen++;
	ino->writers++;
	if (append)
		ino->appenders++;
}

bool size_is_sole(const struct inode *ino, uint64_t session)
{
	return S_ISREG(ino->mode) && !size_known(ino) && ino->writers == 1 &&
	       ino->writer == session &&
	       !(ino->flags & (INODE_TAINT | INODE_BUSY));
}

/*
 * Whether t is far after now, so that the clock was set back since t.  The clocks of two managers, or
 * of an iod, may differ by less.
 */
static bool is_ahead(int64_t t, int64_t now)
{
	return t > now + CLOCKS_DIFFER;
}

/*
 * An explicit mtime persists against earlier writes.  The first later write replaces it, even with
 * a smaller mtime.  After a step back of the clock, any write is later.
 */
static bool moves_mtime(const struct inode *ino, int64_t t, int64_t now)
{
	int64_t last = ino->mset ? ino->mset : ino->mtime;

	return t > last || is_ahead(last, now);
}

/*
 * A write at time t was reported, by a clock that may be behind.  Clients find by mtime and ctime
 * that their pages are old.  So one of the two changes in any case.
 */
static void size_written(struct inode *ino, int64_t t, int64_t now)
{
	const struct inode was = *ino;

	if (moves_mtime(ino, t, now)) {
		ino->mtime = t;
		ino->mset = 0;
		if (t > ino->ctime || is_ahead(ino->ctime, now))
			ino->ctime = t;
	}
	if (ino->mtime == was.mtime && ino->ctime == was.ctime)
		ino->ctime = now > ino->ctime ? now : ino->ctime + 1;
}

static void one_writer_less(struct inode *ino, bool append)
{
	ino->writers--;
	if (append)
		ino->appenders--;
	if (ino->writers || ino->flags & (INODE_TAINT | INODE_BUSY))
		return;
	if (ino->end > ino->size)
		ino->size = ino->end;
	ino->flags &= ~INODE_ASK;
}

void size_release_writer(struct inode *ino, bool append,
			 const struct ns_release_args *args, int64_t now)
{
	if (args->flags & WIRE_R_WROTE) {
		ino->flags |= INODE_DATA;
		if (args->end > ino->end)
			ino->end = args->end;
		if (args->flags & WIRE_R_MTIME)
			size_written(ino, args->mtime, now);
	}
	if (args->flags & WIRE_R_SPACE)
		ino->flags |= INODE_HOLES | INODE_UNSURE;
	else if (args->flags & WIRE_R_WROTE && ino->flags & INODE_HOLES)
		ino->flags |= INODE_UNSURE; /* the holes may be filled */
	if (args->flags & WIRE_R_DOUBT)
		ino->flags |= INODE_TAINT | INODE_DATA;
	one_writer_less(ino, append);
}

void size_drop_writer(struct inode *ino, bool append)
{
	ino->flags |= INODE_TAINT | INODE_DATA;
	one_writer_less(ino, append);
}

bool size_equals(const struct inode *ino, uint64_t size)
{
	return size_known(ino) && !(ino->flags & INODE_BUSY) &&
	       ino->size == size;
}

/* A truncation without writers clears TAINT; among writers it sets TAINT. */
void size_begin_resize(struct inode *ino)
{
	ino->flags |= INODE_BUSY | INODE_DATA;
	ino->gen++;
	if (ino->writers)
		ino->flags |= INODE_TAINT;
	else
		ino->flags &= ~INODE_TAINT;
}

void size_end_resize(struct inode *ino, uint64_t size, int status)
{
	ino->flags &= ~INODE_BUSY;
	if (status) {
		ino->flags |= INODE_ASK | INODE_TAINT;
		return;
	}
	if (!size)
		ino->flags &= ~(INODE_HOLES | INODE_UNSURE);
	else if (size_known(ino) && size > ino->size)
		ino->flags |= INODE_HOLES;
	else if (ino->flags & INODE_HOLES)
		ino->flags |= INODE_UNSURE;
	ino->size = ino->end = ino->tail = size;
	if (!(ino->flags & INODE_TAINT))
		ino->flags &= ~INODE_ASK;
}

/* Sets HOLES unless the allocated space matches the size. */
static void size_filled(struct inode *ino, uint64_t blocks)
{
	uint64_t most = (ino->size + SPARE * (uint64_t)ino->dist.pcount) / 512;

	ino->flags &= ~(INODE_HOLES | INODE_UNSURE);
	if (blocks > most || blocks < ino->size / 512)
		ino->flags |= INODE_HOLES;
}

int ns_store_size(struct ns_op *op, uint64_t handle, uint32_t gen,
		  const struct ns_size *now)
{
	struct inode ino;
	int rc;

	rc = inode_get(op->ns->st, handle, &ino);
	if (rc)
		return rc;
	if (ino.gen == gen && ns_must_ask(&ino)) {
		ino.size = now->size;
		ino.flags &= ~(INODE_ASK | INODE_TAINT);
		size_written(&ino, now->mtime, op->now);
		size_filled(&ino, now->blocks);
	} else if (ino.gen == gen && ns_is_unsure(&ino)) {
		size_filled(&ino, now->blocks);
	} else if (now->size > ino.tail) {
		ino.tail = now->size;
	}
	return inode_put(op->ns->st, &ino);
}

/*
 * ---- APPEND ----
 *
 * Reserves a range at the end of the file.  While all writers only append, the manager knows the
 * end.  Otherwise it asks the iods each time.
 */

static bool is_end_known(const struct inode *ino)
{
	return !(ino->flags & INODE_TAINT) && ino->writers == ino->appenders;
}

static uint64_t end_of_data(const struct inode *ino)
{
	uint64_t t = ino->tail;

	/* releases may report bytes that a truncation removed */
	if (ino->flags & INODE_TAINT)
		return t;
	if (ino->size > t)
		t = ino->size;
	return ino->end > t ? ino->end : t;
}

/* The open record no longer counts as append-only. */
static int stop_appending(struct store *st, struct open_rec *rec,
			  struct inode *ino)
{
	int rc;

	if (!(rec->flags & OPEN_APPEND))
		return 0;
	rec->flags &= ~OPEN_APPEND;
	ino->appenders--;
	rc = open_put(st, rec);
	return rc ? rc : inode_put(st, ino);
}

int ns_append(struct ns_op *op, uint64_t handle, uint64_t open, uint64_t len,
	      uint64_t *offset)
{
	struct store *st = op->ns->st;
	struct open_rec rec;
	struct inode ino;
	uint64_t off, end;
	int rc;

	rc = open_get(st, op->session, open, &rec);
	if (rc == -ENOENT ||
	    (!rc && (rec.handle != handle || rec.flags & OPEN_HOLD)))
		return -EBADF;
	if (!rc)
		rc = inode_get(st, handle, &ino);
	if (rc)
		return rc;
	*offset = 0;
	if (!len)
		return stop_appending(st, &rec, &ino);
	op->wait = handle;
	if (ino.flags & INODE_BUSY)
		return NS_BUSY;
	if (!is_end_known(&ino) && !op->asked)
		return NS_ASK;
	off = end_of_data(&ino);
	if (!extent_end(off, len, &end))
		return -EFBIG;
	ino.tail = end;
	*offset = off;
	return inode_put(st, &ino);
}

/* ---- TRUNCATE: recorded here, executed by the iods ---- */

static int check_truncate(struct ns_op *op, const struct inode *ino,
			  uint64_t size, uint64_t open)
{
	if (inode_is_dir(ino))
		return -EISDIR;
	if (!S_ISREG(ino->mode))
		return -EINVAL;
	if (size > INT64_MAX)
		return -EFBIG;
	if (ns_is_writer(op, ino, open))
		return 0;
	return ns_may(op, ino, W_OK);
}

static int record_resize(struct ns_op *op, const struct inode *ino,
			 uint64_t size, struct intent *in)
{
	in->kind = INTENT_RESIZE;
	in->id = store_new_id(op->ns->st);
	in->handle = ino->handle;
	in->dist = ino->dist;
	in->size = size;
	in->session = op->session;
	return intent_put(op->ns->st, in);
}

int ns_truncate_attrs(struct ns_op *op, struct inode *ino)
{
	ino->mtime = ino->ctime = op->now;
	ino->mset = 0;
	if (op->cred->uid != 0)
		ns_clear_suid(op->cred, ino);
	return ns_clear_capabilities(op, ino);
}

int ns_check_busy(struct ns_op *op, const struct inode *ino)
{
	if (!(ino->flags & INODE_BUSY))
		return 0;
	op->wait = ino->handle;
	return NS_BUSY;
}

int ns_truncate(struct ns_op *op, const struct ns_path *path, uint64_t size,
		uint64_t open, struct intent *in)
{
	struct ns_place place;
	struct inode *ino = &place.ino;
	int rc;

	in->id = 0;
	rc = ns_resolve(op, path, NS_FOLLOW, &place);
	if (!rc)
		rc = check_truncate(op, ino, size, open);
	if (rc)
		return rc;
	rc = ns_check_busy(op, ino);
	if (rc)
		return rc;
	rc = ns_truncate_attrs(op, ino);
	if (!rc && !size_equals(ino, size)) {
		size_begin_resize(ino);
		rc = record_resize(op, ino, size, in);
	}
	return rc ? rc : inode_put(op->ns->st, ino);
}

/*
 * The iods execute the truncation later, and set its time with their own clocks.  When the
 * manager next asks for the size, this time looks like a later write.  So mtime is moved up.
 */
static void move_mtime_to(struct inode *ino, int64_t now)
{
	if (ino->mset || ino->mtime >= now)
		return;
	ino->mtime = now;
	if (ino->ctime < now)
		ino->ctime = now;
}

int ns_end_truncate(struct ns_op *op, const struct intent *in, int status)
{
	struct inode ino;
	int rc;

	rc = intent_del(op->ns->st, INTENT_RESIZE, in->id);
	if (!rc)
		rc = inode_get(op->ns->st, in->handle, &ino);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	size_end_resize(&ino, in->size, status);
	if (!status)
		move_mtime_to(&ino, op->now);
	return ns_put_or_remove(op, &ino);
}
