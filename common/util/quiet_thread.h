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
 * Starts run(arg) with a stack of that many bytes; below PTHREAD_STACK_MIN, with the default size.
 * *thread: the caller must join it; NULL: the thread is detached. 0, or -EAGAIN: no resources.
 */
int quiet_thread(size_t stack, void *(*run)(void *arg), void *arg,
		 pthread_t *thread);

#endif
