/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * size.c - what the manager knows of a file's size while clients write to the iods.
 *
 *             open for writing                     last clean release
 *    KNOWN ---------------------> ASK (writers) -------------------------> KNOWN
 *                                  |  an unclean release, or a truncation
 *                                  v  among writers
 *                                 ASK+TAINT --- last release ---> to be asked
 *                                                                    | ns_asked()
 *    BUSY: a truncation is running; no new writers                KNOWN
 *
 * HOLES: clients ask the iods for the allocated space.  HOLES+UNSURE: the allocated
 * space may match the size again; the manager asks the iods once, while nobody waits
 * for the answer.
 */
#include "mgr/ns/ns_int.h"

/* More than the space that an object without holes takes in addition to its bytes. */
#define SPARE 65536u

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

void size_opened(struct inode *ino, uint64_t session, bool append)
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
 * A write at time t was reported.  An explicit mtime persists against earlier writes.
 * The first later write replaces it, even with a smaller mtime.
 */
static void size_written(struct inode *ino, int64_t t)
{
	if (t <= ino->mset)
		return;
	if (ino->mset || t > ino->mtime)
		ino->mtime = t;
	ino->mset = 0;
	if (t > ino->ctime)
		ino->ctime = t;
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

void size_released(struct inode *ino, bool append,
		   const struct ns_release_args *args)
{
	if (args->flags & WIRE_R_WROTE) {
		ino->flags |= INODE_DATA;
		if (args->end > ino->end)
			ino->end = args->end;
		if (args->flags & WIRE_R_MTIME)
			size_written(ino, args->mtime);
	}
	if (args->flags & WIRE_R_SPACE)
		ino->flags |= INODE_HOLES | INODE_UNSURE;
	else if (args->flags & WIRE_R_WROTE && ino->flags & INODE_HOLES)
		ino->flags |= INODE_UNSURE; /* the holes may be filled */
	if (args->flags & WIRE_R_DOUBT)
		ino->flags |= INODE_TAINT | INODE_DATA;
	one_writer_less(ino, append);
}

void size_dropped(struct inode *ino, bool append)
{
	ino->flags |= INODE_TAINT | INODE_DATA;
	one_writer_less(ino, append);
}

bool size_is(const struct inode *ino, uint64_t size)
{
	return size_known(ino) && !(ino->flags & INODE_BUSY) &&
	       ino->size == size;
}

/* A truncation without writers clears TAINT; among writers it sets TAINT. */
void size_resizing(struct inode *ino)
{
	ino->flags |= INODE_BUSY | INODE_DATA;
	ino->gen++;
	if (ino->writers)
		ino->flags |= INODE_TAINT;
	else
		ino->flags &= ~INODE_TAINT;
}

void size_resized(struct inode *ino, uint64_t size, int status)
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
	uint64_t most = (ino->size + SPARE * (uint64_t)ino->pcount) / 512;

	ino->flags &= ~(INODE_HOLES | INODE_UNSURE);
	if (blocks > most || blocks < ino->size / 512)
		ino->flags |= INODE_HOLES;
}

int ns_asked(struct ns_op *op, uint64_t handle, uint32_t gen,
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
		size_written(&ino, now->mtime);
		size_filled(&ino, now->blocks);
	} else if (ino.gen == gen && ns_is_unsure(&ino)) {
		size_filled(&ino, now->blocks);
	} else if (now->size > ino.tail) {
		ino.tail = now->size;
	}
	return inode_put(op->ns->st, &ino);
}
