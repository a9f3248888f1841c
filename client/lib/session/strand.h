/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strand.h - a call that is under way without a thread.
 *
 * A function on a stack of its own (fiber.h).  Where a thread would wait for its
 * operation in drive_run(), a strand stops, and whoever drives when the operation ends
 * goes on with it there and then: the thread that reaps requests, one that makes a
 * call of its own, or the keeper.  So all that is written for blocking calls runs
 * without blocking, and unchanged.
 *
 *	strand_go()            drive_run()                 op ends
 *	   |  run() ............. stops                       |
 *	   |<---------------------+                     strand_go() by who drives
 *	                                                      |  ... run() goes on
 *
 * What a call does rarely, and cannot do but by waiting (making a session, moving
 * a file to it, taking memory back from a server that does not answer), strand_aside()
 * does in a thread made for it.
 */
#ifndef STRAND_H
#define STRAND_H

#include "client/lib/session/drive.h"
#include "common/util/fiber.h"

struct session;

struct strand {
	struct fiber *fiber;
	/*
	 * On whichever thread, after run() returned.  True: the next was begun.
	 */
	bool (*ended)(struct strand *strand);
	/* Its operation is at s from now on; not any more.  Maybe NULL. */
	void (*posted)(struct strand *strand, struct session *s);
	void (*answered)(struct strand *strand, struct session *s);
	bool tended; /* its operations are not left alone: see drive.h */

	/* private */
	uint64_t began; /* deadline.h, while it stands still */
	uint32_t asker; /* asker.h, likewise */
	struct op *op; /* what it stops for ... */
	struct aside *aside; /* ... or this */
	struct session *owes; /* a kick */
};

/* 0 or -ENOMEM; the caller sets ended, posted, answered, tended. */
int strand_init(struct strand *strand);
void strand_fini(struct strand *strand);
/* What strand_go() begins; its deadline counts from began (ns). */
void strand_begin(struct strand *strand, void (*run)(void *arg), void *arg,
		  uint64_t began);

/*
 * Runs the strand until it stops or ends; *batch, if batch is not NULL, is then a
 * session that has something submitted, with a reference: strand_kick() it.
 * Other sessions than that, and than the one that the caller drives, are seen to.
 */
void strand_go(struct strand *strand, struct drive *driven,
	       struct session **batch);
/* What was submitted is sent.  Puts s, which may be NULL. */
void strand_kick(struct session *s);

/* The strand that this code runs in, or NULL. */
struct strand *strand_self(void);
/* In a strand: what drive_run() is in a thread. */
int strand_await(struct strand *strand, struct drive *drive, struct op *op);
/* In a strand: drive has something submitted that is not waited for. */
void strand_owes(struct strand *strand, struct drive *drive);
/*
 * errno of the thread that this code runs in now: libc lets a compiler keep the
 * address of errno, which is another thread's after a stop.
 */
int strand_errno(void);
void strand_errno_set(int value);
/*
 * Runs fn(arg), which may wait; in a strand, in a thread made for it.  Nobody is
 * cancelled meanwhile.  Its result, or -EAGAIN: no thread.
 */
int strand_aside(int (*fn)(void *arg), void *arg);

#endif
