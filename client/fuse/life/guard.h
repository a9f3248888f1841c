/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.h - the process that serves, and one that guards it: a server that is
 * stopped answers nobody, and those who wait for it cannot be killed, so it is
 * ended when it stands still for longer than a call may take.
 *
 *	pvfs-fuse -+- guard: sees when the server stops, goes on or ends
 *	           '- server: has /dev/fuse, which nobody else has
 *
 * The guard may be stopped as well.  It has a timer that it puts off twice a second,
 * and that kills it in the end, which the kernel does to a process that is stopped too;
 * and a server ends with its guard.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>

struct guard {
	bool foreground; /* the caller becomes the guard; else it returns when
			  * the server is ready */
	unsigned int patience_ms; /* with a server that stands still */
	/* Serves until the end; calls guard_ready() once.  Its exit status. */
	int (*serve)(void *arg, int ready);
	/*
	 * In the guard, again and again: the server was killed, and one of its threads
	 * does not end.  It is in the kernel, which waits for an answer of the server's.
	 */
	void (*release)(void *arg);
	void *arg;
};

/*
 * Returns in the process that called it, with the exit status: when the server is
 * ready, or has ended.  -errno: there is no server.
 */
int guard_run(const struct guard *g);

/* In the server, ready from its argument: who waits for it may go on. */
void guard_ready(int ready);

#endif
