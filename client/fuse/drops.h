/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * drops.h - the kernel drops what it keeps of a file: its pages, after it has written
 * those that a program changed through a mapping, and its attributes.
 *
 * To drop a page the kernel waits for requests that have it locked, and we carry these
 * out.  So no thread that hears requests may ask for it: threads of our own do, one
 * for a file at a time.
 *
 *	hears    SETLK: granted |   READ of a page |         WRITE of another |
 *	drops                   | asks the kernel, which waits for both ...... | answers
 */
#ifndef DROPS_H
#define DROPS_H

#include <sys/queue.h>

#include "client/fuse/call.h"

/* Files at a time; further ones wait for a thread. */
#define DROPS_THREADS 16u

struct drops;

struct drop {
	struct call c;
	struct file *f;
	/* The kernel has dropped what it had of f's file when this was begun.  Answers c. */
	void (*dropped)(struct drop *drop);
	struct mgr_lock lock; /* the caller's */

	TAILQ_ENTRY(drop) link; /* drops.c's */
};

struct drops *drops_new(void); /* NULL: no memory */
/* No more are begun.  False: some are under way after ms, and may wait for requests that
 * nobody hears any more. */
bool drops_end(struct drops *ds, unsigned int ms);
/* Waits for those that are under way. */
void drops_free(struct drops *ds);

/* Takes a copy of what, and calls its dropped() with that. */
void drops_begin(struct drops *ds, const struct drop *what);

#endif
