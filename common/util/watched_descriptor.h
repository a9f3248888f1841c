/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watched_descriptor.h - a descriptor that a thread must serve even while it waits for something
 * else.
 *
 * Such a thread passes the task to another one when it cannot serve the descriptor.  It need not do
 * so before each call that may wait.  Code that waits on descriptors adds this one
 * (watched_descriptor_fd()).  Code that waits in another way passes the task on first
 * (watched_descriptor_hand_over()).
 */
#ifndef WATCHED_DESCRIPTOR_H
#define WATCHED_DESCRIPTOR_H

struct watched_descriptor {
	int fd;
	/*
	 * Called on the thread if fd is readable, or will not be polled for a while. The thread no
	 * longer has the task of serving fd.
	 */
	void (*hand_over)(struct watched_descriptor *watched);
};

/*
 * Gives this thread the task of serving a descriptor. *watched must exist until the task is handed
 * over or replaced, or is removed by NULL.
 */
void watched_descriptor_set(struct watched_descriptor *watched);
/* Returns the descriptor that this thread must poll, or -1 if there is none. */
int watched_descriptor_fd(void);
/* Passes the thread's task, if any, to another thread. */
void watched_descriptor_hand_over(void);

#endif
