/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookout.h - what a thread has to see to even while it waits for something else: a
 * descriptor that becomes readable.
 *
 * A thread that has such a task, and leaves it to another one when it cannot do it,
 * need not leave it before each call that may wait.  Code that sleeps on
 * descriptors adds that one (lookout_fd()); code that sleeps otherwise says so before
 * (lookout_leave()).
 */
#ifndef LOOKOUT_H
#define LOOKOUT_H

struct lookout {
	int fd;
	/* On the thread: fd is readable, or will not be looked at for a while.  It is
	 * not the thread's task any more. */
	void (*leave)(struct lookout *lookout);
};

/* The task of this thread from now on, which lives until it is left, or is another's,
 * or none (NULL). */
void lookout_take(struct lookout *lookout);
/* What this thread is to look at; -1: nothing. */
int lookout_fd(void);
/* The task, if there is one, is left to another thread. */
void lookout_leave(void);

#endif
