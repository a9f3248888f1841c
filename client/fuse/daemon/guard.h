/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.h - the serving process, and a process that guards it.  A stopped server
 * answers no request, and processes that wait for it cannot be killed.  So the guard
 * kills a server that stays stopped for longer than a call may take.
 *
 *	pvfs-fuse -+- guard: notices when the server stops, continues or ends
 *		   '- server: has /dev/fuse open, alone
 *
 * The guard may be stopped as well.  It has a timer that it postpones twice a second.
 * When the timer expires, the kernel kills the guard, even if it is stopped.  The
 * server ends with its guard.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>

struct guard {
	/*
	 * the caller becomes the guard; else guard_run() returns when the server is
	 * ready
	 */
	bool foreground;
	unsigned int patience_ms; /* limit for a stopped server */
	/* Serves until the end; calls guard_ready() once.  Returns the exit status. */
	int (*serve)(void *arg, int ready);
	/*
	 * Called in the guard, repeatedly: the server was killed, but one of its
	 * threads does not end.  The thread is in the kernel, and waits for a reply of
	 * the server.
	 */
	void (*release)(void *arg);
	void *arg;
};

/*
 * Starts the server and its guard.  Returns the exit status in the calling process, when
 * the server is ready or has ended; or -errno, then no server was started.
 */
int guard_run(const struct guard *g);

/*
 * Called in the server with the ready of serve(): the process that waits for the server
 * may continue.
 */
void guard_ready(int ready);

#endif
