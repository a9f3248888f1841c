/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inval_queue.h - makes the kernel drop its pages and attributes of a file ("invalidates" the
 * file).  Before that, the kernel writes the pages that a program changed through a mapping.
 *
 * Before the kernel drops a page, it waits for the requests that have locked the page.  The
 * daemon must serve these requests, so a thread that reads requests must not invalidate a file.
 * Separate threads do this, each one file at a time.  An example, from left to right in time:
 *
 *	listener	SETLK granted --.  serves READ of a page, WRITE of another page
 *	inval_queue			'-> asks the kernel, which waits for both
 *					    --> answers SETLK
 */
#ifndef INVAL_QUEUE_H
#define INVAL_QUEUE_H

#include <sys/queue.h>

#include "client/fuse/call.h"

/* Number of files that are invalidated at a time; further files wait. */
#define INVAL_QUEUE_THREADS 16u

struct inval_queue;

/* A file to invalidate, and the request that waits for it. */
struct inval {
	struct call c;
	struct file *f;
	/*
	 * Called after the kernel has dropped all pages of f that it had at inval_queue_add().
	 * Must answer c.
	 */
	void (*done)(struct inval *inval);
	struct mgr_lock lock; /* for the use of done() */

	TAILQ_ENTRY(inval) link; /* private */
};

/* Returns NULL if there is no memory. */
struct inval_queue *inval_queue_new(void);
/*
 * Prevents further invalidations, and waits at most ms milliseconds for those that run.  Returns
 * false if some still run: they may wait for requests that no thread reads any more.
 */
bool inval_queue_stop(struct inval_queue *q, unsigned int ms);
/* Waits for the running invalidations. */
void inval_queue_free(struct inval_queue *q);

/*
 * Queues a copy of *inval, which done() gets.  If there is no memory or no thread, the calling
 * thread invalidates the file itself, and another thread reads requests in its place.
 */
void inval_queue_add(struct inval_queue *q, const struct inval *inval);

#endif
