/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.h - the program's signal handlers.  The kernel starts no handler in the middle
 * of a read or write of a file, and neither does this library.  A handler could leave our
 * call by longjmp, or fork, while the call holds locks.  It runs after the call.  Calls
 * from a handler go to the kernel, because the handler may have interrupted malloc().
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define SIGNALS_TLS __attribute__((tls_model("initial-exec")))

/* Of this thread: a signal is held; the stack position when a handler started. */
extern __thread volatile sig_atomic_t signals_held SIGNALS_TLS;
extern __thread char *volatile signals_frame SIGNALS_TLS;

/* After a longjmp out of the handler, the stack is above that position. */
static inline bool signals_in_handler(void)
{
	if (!signals_frame)
		return false;
	if ((char *)__builtin_frame_address(0) < signals_frame)
		return true;
	signals_frame = NULL;
	return false;
}

/* Called at the end of a call: delivers the held signal.  Keeps errno. */
void signals_release(void);
/* In a child after fork(): drops a held signal, which belongs to the parent. */
void signals_forget(void);

#endif
