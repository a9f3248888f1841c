/* SPDX-License-Identifier: BSD-2-Clause */
/* work_steps.c - random calls of a client on a file of each kind. */
#include <errno.h>
#include <sys/file.h>

#include <pvfs.h>

#include "tests/history/work.h"

/* Returns mostly a few blocks, and sometimes so many that the data is sent as bulk. */
static uint32_t some(struct work *w, uint32_t blocks)
{
	uint32_t most = roll(w, 8) ? 4 : blocks;

	return 1 + roll(w, most < blocks ? most : blocks);
}

static void step_any(struct work *w, enum object_kind kind, unsigned int object,
		     uint32_t what)
{
	uint32_t blocks = w->shape[kind].blocks, n = some(w, blocks);
	uint32_t at = roll(w, blocks - n + 1);

	if (what < 50)
		work_write(w, kind, object, at, n, 0);
	else if (what < 96)
		work_read(w, kind, object, at, n);
	else if (what < 98)
		work_sync(w, kind, object);
	else
		work_close(w, kind, object);
}

void step_plain(struct work *w, unsigned int object)
{
	step_any(w, OBJ_PLAIN, object, roll(w, 100));
}

void step_cut(struct work *w, unsigned int object)
{
	uint32_t what = roll(w, 130);

	if (what < 100)
		step_any(w, OBJ_CUT, object, what);
	else if (what < 115)
		work_size(w, OBJ_CUT, object);
	else
		work_truncate(w, object, roll(w, w->shape[OBJ_CUT].blocks));
}

void step_tail(struct work *w, unsigned int object)
{
	uint32_t what = roll(w, 100), *end = &w->end[object], back;
	int rc;

	if (what < 40) {
		work_append(w, object, 1 + roll(w, 4));
	} else if (what < 80) {
		back = roll(w, 2) ? 16 : 4;
		rc = work_read(w, OBJ_TAIL, object,
			       *end > back ? *end - back : 0, 32);
	} else if (what < 97) {
		rc = work_size(w, OBJ_TAIL, object);
		if (rc > 0)
			*end = (uint32_t)rc;
	} else {
		work_close(w, OBJ_TAIL, object);
	}
}

/* ---- locks ---- */

static int lock_call(int fd, unsigned int object, short type)
{
	struct flock lk = { .l_type = type };

	switch (object % 3) {
	case 0:
		return pvfs_fcntl(fd, F_OFD_SETLK, &lk);
	case 1:
		return pvfs_fcntl(fd, F_SETLK, &lk);
	}
	return pvfs_flock(fd, (type == F_UNLCK	 ? LOCK_UN
			       : type == F_RDLCK ? LOCK_SH
						 : LOCK_EX) |
				      LOCK_NB);
}

static void take(struct work *w, unsigned int object)
{
	int fd = work_fd(w, OBJ_GUARD, object);
	struct op *op;

	if (fd < 0 || !(op = log_next(&w->log, OP_LOCK, OBJ_GUARD, object, 0)))
		return;
	op->arg = roll(w, 6) ? LOCK_EXCLUSIVE : LOCK_SHARED;
	w->mode[object] = (enum lock_mode)op->arg;
	op_begin(op);
	work_end(w, op,
		 lock_call(fd, object,
			   op->arg == LOCK_EXCLUSIVE ? F_WRLCK : F_RDLCK));
	w->hold[object] = op->result ? 0 : op->no;
	w->hold_left[object] = 1 + roll(w, 20);
	/* the lock may have been given all the same */
	if (op->result == -ETIMEDOUT)
		work_close(w, OBJ_GUARD, object);
}

static void let_go(struct work *w, unsigned int object)
{
	int fd = work_fd(w, OBJ_GUARD, object);
	struct op *op;

	if (fd < 0 ||
	    !(op = log_next(&w->log, OP_UNLOCK, OBJ_GUARD, object, 0)))
		return;
	op->arg = w->hold[object];
	w->hold[object] = 0;
	op_begin(op);
	work_end(w, op, lock_call(fd, object, F_UNLCK));
	if (op->result)
		work_close(w, OBJ_GUARD, object);
}

void step_guard(struct work *w, unsigned int object)
{
	uint32_t blocks = w->shape[OBJ_GUARD].blocks;

	if (!w->hold[object]) {
		take(w, object);
	} else if (!w->hold_left[object]--) {
		let_go(w, object);
	} else if (w->mode[object] == LOCK_EXCLUSIVE && roll(w, 3)) {
		work_write(w, OBJ_GUARD, object, roll(w, blocks), 1,
			   w->hold[object]);
	} else {
		work_read(w, OBJ_GUARD, object, roll(w, blocks), 1);
	}
}
