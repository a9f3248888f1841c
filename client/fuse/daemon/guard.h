/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guard.h - the process that serves the mount (the server), and a process that guards it.  If
 * the server is stopped, it answers no request, and processes that wait for it cannot be killed.
 * So the guard kills a server that stays stopped for longer than a call may take.
 *
 *	pvfs-fuse -+- guard: notices when the server stops, continues or ends
 *		   '- server: has /dev/fuse open, alone
 *
 * The guard itself may be stopped, too.  So it has a timer, which it resets twice a second.  If
 * the timer expires, the kernel kills the guard, even a stopped one.  When the guard ends, the
 * server ends, too.
 */
#ifndef GUARD_H
#define GUARD_H

#include <stdbool.h>

struct guard {
	/*
	 * true: the caller becomes the guard; false: guard_run() returns when the server is ready
	 */
	bool foreground;
	unsigned int patience_ms; /* limit for a stopped server */
	/* Serves until the end; calls guard_ready() once.  Returns the exit status. */
	int (*serve)(void *arg, int ready);
	/*
	 * Called in the guard, repeatedly, if the server was killed and one of its threads does
	 * not end, because it waits in the kernel for a reply of the server itself.
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
 * Called in the server when it is ready, with the parameter `ready` of serve().  Then guard_run()
 * returns in the process that waits for it.
 */
void guard_ready(int ready);

#endif
