/* SPDX-License-Identifier: BSD-2-Clause */
/* log_thread.h - the thread that writes the log. */
#ifndef LOG_THREAD_H
#define LOG_THREAD_H

struct log_thread;

/* Waits for log_thread_wake(), and then calls work(arg), which must not be NULL. */
int log_thread_start(void (*work)(void *arg), void *arg,
		     struct log_thread **thread);
/* Any thread.  thread: a struct log_thread. */
void log_thread_wake(void *thread);
/* Returns once work() has returned and the thread has ended.  It does not call work() again. */
void log_thread_stop(struct log_thread *thread);

#endif
