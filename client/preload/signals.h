/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.h - the program's handlers of signals.  The kernel does not begin one in the
 * middle of a read or write of a file; nor do we: it could leave our call by a
 * jump, or fork, with all that the call holds.  It runs when the call has ended.
 *
 * What a handler itself calls goes the kernel's way: it may have interrupted malloc().
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#define SIGNALS_TLS __attribute__((tls_model("initial-exec")))

/* Of this thread: a signal waits; where the stack was when a handler began. */
extern __thread volatile sig_atomic_t signals_held SIGNALS_TLS;
extern __thread char *volatile signals_frame SIGNALS_TLS;

/* Who left the handler by a jump is above it on the stack. */
static inline bool signals_in_handler(void)
{
	if (!signals_frame)
		return false;
	if ((char *)__builtin_frame_address(0) < signals_frame)
		return true;
	signals_frame = NULL;
	return false;
}

/* The call has ended: the one that waits is delivered; errno stays. */
void signals_release(void);
/* A child by fork(): what came before is the parent's. */
void signals_forget(void);

#endif
