/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookout.h - a descriptor that a thread must serve even while it waits for something else.
 *
 * Such a thread passes the task to another one when it cannot serve the descriptor. It need not do
 * so before each call that may wait. Code that waits on descriptors adds this one (lookout_fd()).
 * Code that waits in another way passes the task on first (lookout_leave()).
 */
#ifndef LOOKOUT_H
#define LOOKOUT_H

struct lookout {
	int fd;
	/*
	 * Called on the thread: fd is readable, or will not be polled for a while. The thread no
	 * longer has the task.
	 */
	void (*leave)(struct lookout *lookout);
};

/* Gives this thread a task, which must exist until it is left, replaced or removed (NULL). */
void lookout_take(struct lookout *lookout);
/* The descriptor that this thread must poll; -1: none. */
int lookout_fd(void);
/* Passes the thread's task, if any, to another thread. */
void lookout_leave(void);

#endif
