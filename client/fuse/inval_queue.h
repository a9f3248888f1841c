/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inval_queue.h - makes the kernel drop its pages and attributes of a file.  The kernel first
 * writes the pages that a program changed through a mapping.
 *
 * To drop a page, the kernel waits for requests that have locked it, and the daemon
 * serves these requests.  So a thread that reads requests must not start a drop.
 * Separate threads do, each for one file at a time.
 *
 *	listener  SETLK: granted |   READ of a page |	 WRITE of another |
 *	drops		    | asks the kernel, which waits for both ...... | answers
 */
#ifndef INVAL_QUEUE_H
#define INVAL_QUEUE_H

#include <sys/queue.h>

#include "client/fuse/call.h"

/* Files at a time; further files wait for a thread. */
#define INVAL_QUEUE_THREADS 16u

struct inval_queue;

struct inval {
	struct call c;
	struct file *f;
	/*
	 * Called after the kernel dropped everything that it had of f when the drop
	 * began.  Must answer c.
	 */
	void (*dropped)(struct inval *drop);
	struct mgr_lock lock; /* for the caller */

	TAILQ_ENTRY(inval) link; /* private */
};

struct inval_queue *inval_queue_new(void); /* NULL: no memory */
/*
 * Starts no more drops.  False: some drops still run after ms.  They may wait for
 * requests that no thread reads any more.
 */
bool inval_queue_stop(struct inval_queue *ds, unsigned int ms);
/* Waits for the running drops. */
void inval_queue_free(struct inval_queue *ds);

/*
 * Starts a drop with a copy of what; dropped() gets the copy.  Without memory or
 * threads, the drop runs here.
 */
void inval_queue_add(struct inval_queue *ds, const struct inval *what);

#endif
