/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_context.h - two facts about the pvfs_ call that a thread is making, stored per thread:
 * when the call began, and for which user it is.
 *
 * All requests of a call share one deadline, which counts from the start of the call.
 */
#ifndef CALL_CONTEXT_H
#define CALL_CONTEXT_H

#include <stdint.h>

/* Sets the start of this thread's call to now: at its begin, and after progress of a transfer. */
void deadline_begin(void);
/*
 * Begins a call whose time starts when deadline_began() or deadline_of() is first called.  This
 * saves reading the clock in a call that ends without them.  A call that waits in another way
 * must call deadline_began() first.
 */
void deadline_begin_late(void);
/* Restarts the time of this thread's call at when (ns; clock.h), unless it started later. */
void deadline_since(uint64_t when);
/*
 * Switches this thread to another call that began at when (0: none).  Returns the
 * previous value.
 */
uint64_t deadline_swap(uint64_t when);
/* Returns when the call of this thread began; 0: no call. */
uint64_t deadline_began(void);
/* Returns timeout_ms after the start of the call; in a thread without a call, after now. */
uint64_t deadline_of(unsigned int timeout_ms);

/*
 * Sets the user for whom this thread, or the coroutine in it, makes calls.  For a session that
 * serves many users, who share the slots of the servers (struct rpc_call.user).
 */
void call_user_set(uint32_t uid);
/* Returns 1 + uid; 0: no particular user. */
uint32_t call_user(void);
/* Switches this thread to another call with that call_user().  Returns the previous value. */
uint32_t call_user_swap(uint32_t next);

#endif
