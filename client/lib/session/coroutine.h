/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coroutine.h - a call in flight without a thread.
 *
 * A coroutine is a function with a stack of its own (fiber.h).  Where a thread would wait
 * for its operation in op_run(), a coroutine stops.  When the operation ends, the driving
 * thread continues the coroutine immediately.  This is a thread that reaps requests, a
 * thread that makes a call of its own, or the keeper.  So code written for blocking calls
 * runs unchanged without blocking.
 *
 * 	coroutine_resume()            op_run()                    op ends
 * 	   |  run() ............. stops                       |
 * 	   |<---------------------+                     coroutine_resume() by the driver
 * 	                                                      |  ... run() goes on
 *
 * Some rare steps must block: creating a session, moving a file to it, or waiting for a
 * silent server to release memory.  coroutine_aside() runs them in a separate thread.
 */
#ifndef COROUTINE_H
#define COROUTINE_H

#include "client/lib/session/drive.h"
#include "common/util/fiber.h"

struct coroutine {
	struct fiber *fiber;
	/* Called on any thread after run() returned.  True: the next function was begun. */
	bool (*ended)(struct coroutine *coroutine);
	/*
	 * The coroutine begins (posted) or ends (answered) to wait for an operation that
	 * drive runs.  May be NULL.
	 */
	void (*posted)(struct coroutine *coroutine, struct drive *drive);
	void (*answered)(struct coroutine *coroutine, struct drive *drive);
	bool tended; /* its operations need a driving thread: see drive.h */

	/* private */
	uint64_t began; /* start of its call; valid while the coroutine is stopped */
	uint32_t asker; /* user of its call; valid while the coroutine is stopped */
	/* the coroutine waits for an operation, or for a call in another thread */
	struct drive_op *op;
	struct blocking_call *aside;
	struct drive *owes; /* needs a drive_kick_put() */
};

/* Returns 0 or -ENOMEM.  The caller sets ended, posted, answered and tended. */
int coroutine_init(struct coroutine *coroutine);
void coroutine_fini(struct coroutine *coroutine);
/* Sets the function that coroutine_resume() starts.  Its deadline counts from began (ns). */
void coroutine_begin(struct coroutine *coroutine, void (*run)(void *arg),
		     void *arg, uint64_t began);

/*
 * Runs the coroutine until it stops or ends.  If batch is not NULL, *batch is then a drive with
 * submitted operations, with a reference: call drive_kick_put() on it.  Operations at other
 * drives are started here, except those at the one that the caller drives.
 */
void coroutine_resume(struct coroutine *coroutine, struct drive *driven,
		      struct drive **batch);

/* The coroutine in which this code runs, or NULL. */
struct coroutine *coroutine_self(void);
/* drive_run() in a thread; in a coroutine, stops the coroutine until op has ended. */
int op_run(struct drive *drive, struct drive_op *op);
/* Starts op, which has a finish(), without waiting. */
void op_post(struct drive *drive, struct drive_op *op);
/*
 * errno of the thread that runs this code now.  A compiler may keep the address of errno,
 * which belongs to another thread after a stop.
 */
int coroutine_errno(void);
void coroutine_errno_set(int value);
/*
 * Runs fn(arg), which may block; in a coroutine, in a separate thread.  Cancellation is
 * disabled meanwhile.  Returns its result, or -EAGAIN: no thread.
 */
int coroutine_aside(int (*fn)(void *arg), void *arg);

#endif
