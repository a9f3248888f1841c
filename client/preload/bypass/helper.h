/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * helper.h - a thread that connects sessions, so that no call of the program waits for this.  It
 * also closes the files of descriptors that the program has closed.  The thread is created when
 * there is work, and sleeps while no file is open.
 */
#ifndef HELPER_H
#define HELPER_H

#include <pthread.h>
#include <stdbool.h>

enum helper_next {
	HELPER_SLEEP, /* until helper_wake() */
	HELPER_AGAIN, /* call the work again after a second */
	HELPER_END
};

struct helper {
	/* Runs in the thread, inside a call of ours (own_call.h). */
	enum helper_next (*work)(void *arg);
	void *arg;
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t woken;
	bool running; /* the thread exists */
	bool wanted; /* helper_wake() was called since the last work */
};

/* Initialises *h.  The thread is created by helper_wake(). */
void helper_init(struct helper *h, enum helper_next (*work)(void *arg),
		 void *arg);
/* Wakes or creates the thread. */
void helper_wake(struct helper *h);

#endif
