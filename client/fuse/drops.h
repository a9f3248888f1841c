/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops.h - makes the kernel drop its pages and attributes of a file.  The kernel first
 * writes the pages that a program changed through a mapping.
 *
 * To drop a page, the kernel waits for requests that have locked it, and the daemon
 * serves these requests.  So a thread that reads requests must not start a drop.
 * Separate threads do, each for one file at a time.
 *
 *	listener  SETLK: granted |   READ of a page |	 WRITE of another |
 *	drops		    | asks the kernel, which waits for both ...... | answers
 */
#ifndef DROPS_H
#define DROPS_H

#include <sys/queue.h>

#include "client/fuse/call.h"

/* Files at a time; further files wait for a thread. */
#define DROPS_THREADS 16u

struct drops;

struct drop {
	struct call c;
	struct file *f;
	/*
	 * Called after the kernel dropped everything that it had of f when the drop
	 * began.  Must answer c.
	 */
	void (*dropped)(struct drop *drop);
	struct mgr_lock lock; /* for the caller */

	TAILQ_ENTRY(drop) link; /* private */
};

struct drops *drops_new(void); /* NULL: no memory */
/*
 * Starts no more drops.  False: some drops still run after ms.  They may wait for
 * requests that no thread reads any more.
 */
bool drops_end(struct drops *ds, unsigned int ms);
/* Waits for the running drops. */
void drops_free(struct drops *ds);

/*
 * Starts a drop with a copy of what; dropped() gets the copy.  Without memory or
 * threads, the drop runs here.
 */
void drops_begin(struct drops *ds, const struct drop *what);

#endif
