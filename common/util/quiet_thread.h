/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quiet_thread.h - threads of a library: with a small stack, and with all signals blocked, because
 * signals belong to the program.
 */
#ifndef QUIET_THREAD_H
#define QUIET_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Starts run(arg) on a thread with a stack of `stack` bytes, or of the default size if `stack` is
 * below PTHREAD_STACK_MIN. The caller must join *thread. If thread is NULL, the thread is detached.
 * Returns 0, or -EAGAIN if there are no resources.
 */
int quiet_thread(size_t stack, void *(*run)(void *arg), void *arg,
		 pthread_t *thread);

#endif
