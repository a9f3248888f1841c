/* SPDX-License-Identifier: BSD-2-Clause */
/* log_thread.h - the thread that writes the log. */
#ifndef LOG_THREAD_H
#define LOG_THREAD_H

struct log_thread;

/* The thread calls work(arg) after log_thread_wake().  0, -ENOMEM, or as quiet_thread(). */
int log_thread_start(void (*work)(void *arg), void *arg,
		     struct log_thread **thread);
/* Any thread.  thread: a struct log_thread. */
void log_thread_wake(void *thread);
/* Waits for a running work(), ends the thread, and frees it.  work() is not called again. */
void log_thread_stop(struct log_thread *thread);

#endif
