/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_call.h - a call of this library in progress, and the program's signal handlers.
 *
 * The kernel runs no signal handler in the middle of a read or write of a file, and neither does
 * this library: a handler could leave the call by longjmp, or fork, while the call holds locks.
 * So this library delays a signal until its call has ended.  Calls that a handler makes go to the
 * kernel, because the handler may have interrupted malloc().  The library's own calls of libc
 * functions go to the kernel, too.
 */
#ifndef OWN_CALL_H
#define OWN_CALL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#define OWN_CALL_TLS __attribute__((tls_model("initial-exec")))

/*
 * State of this thread: the number of nested calls of this library in progress; whether a signal is
 * delayed until their end; the stack position at which a handler started, or NULL.
 */
extern __thread volatile sig_atomic_t own_call_depth OWN_CALL_TLS;
extern __thread volatile sig_atomic_t own_call_held OWN_CALL_TLS;
extern __thread char *volatile own_call_handler_frame OWN_CALL_TLS;

/* Delivers the held signal.  Keeps errno. */
void own_call_deliver(void);
/* In a child after fork(): drops a held signal, which belongs to the parent. */
void own_call_drop_held(void);

/*
 * sigaction(2) for the program; sig is valid, and old is not NULL.  Gives the kernel a handler of
 * this library, which calls the program's handler act.  Sets *old to the program's previous one.
 */
int own_call_set_handler(int sig, const struct sigaction *act,
			 struct sigaction *old);

/*
 * Returns a flag for the valid signal sig.  siginterrupt() sets it: handlers that were set with
 * signal(2) then interrupt calls.
 */
atomic_bool *own_call_interrupts(int sig);

/*
 * Returns true if this thread runs a signal handler.  After a longjmp out of a handler, the stack
 * pointer is above the position at which the handler started.
 */
static inline bool own_call_in_handler(void)
{
	if (!own_call_handler_frame)
		return false;
	if ((char *)__builtin_frame_address(0) < own_call_handler_frame)
		return true;
	own_call_handler_frame = NULL;
	return false;
}

/*
 * Whether this thread is in a call of this library, or in a signal handler.  Then a call must go to
 * the kernel.
 */
static inline bool own_call_active(void)
{
	return own_call_depth || own_call_in_handler();
}
/* own_call_enter() and own_call_leave() surround each call of this library.  Calls may nest. */
static inline void own_call_enter(void)
{
	own_call_depth++;
}
static inline void own_call_leave(void)
{
	own_call_depth--;
	if (own_call_held && !own_call_depth)
		own_call_deliver();
}

#endif
