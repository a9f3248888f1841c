/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quiet_thread.h - threads of a library: with a small stack, and with all signals
 * blocked, since those are the program's.
 */
#ifndef QUIET_THREAD_H
#define QUIET_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Starts run(arg) with a stack of so many bytes; with less than
 * PTHREAD_STACK_MIN, of the usual size.  *thread: the caller's to join; NULL: it
 * is detached.  0, or -EAGAIN: no resources.
 */
int quiet_thread(size_t stack, void *(*run)(void *arg), void *arg,
		 pthread_t *thread);

#endif
