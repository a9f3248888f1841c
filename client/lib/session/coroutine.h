/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * coroutine.h - a call in flight without a thread.
 *
 * A coroutine is a function with a stack of its own (fiber.h).  Where a thread would wait
 * for its operation in op_run(), a coroutine stops.  When the operation ends, the thread that
 * drives the session (drive.h) immediately continues the coroutine.  So code that was written
 * for blocking calls also runs without blocking.
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
 * Runs the coroutine until it stops or ends.  driven is the drive that the caller drives, or
 * NULL: operations at it start in the caller's next round.  For operations at another drive,
 * this function calls drive_kick_put().  But if batch and not *batch is set, it leaves this to
 * the caller, and sets *batch to that drive.
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
 * Get and set errno of the present thread.  Code in a coroutine must not use errno itself: the
 * compiler may keep its address, and after a stop another thread may run the coroutine.
 */
int coroutine_errno(void);
void coroutine_errno_set(int value);
/*
 * Runs fn(arg), which may block, and returns its result.  In a coroutine, fn runs in another
 * thread; -EAGAIN: no thread could be created.  Thread cancellation is disabled in fn.
 */
int coroutine_aside(int (*fn)(void *arg), void *arg);

#endif
