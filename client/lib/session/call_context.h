/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_context.h - what a thread knows of the call that it makes, so that it need not be
 * passed along: when the call of the C interface began, and for which user.
 *
 * A call has one deadline, regardless of the number of its requests: the time of all of
 * them counts from the start of the call.
 */
#ifndef CALL_CONTEXT_H
#define CALL_CONTEXT_H

#include <stdint.h>

/* Starts the time of a call; or restarts it after progress. */
void deadline_begin(void);
/*
 * The same, but the time starts at the first query.  For calls that may end before they
 * query it.  A call that waits otherwise must query it first.
 */
void deadline_begin_late(void);
/* The same with an earlier start (ns; see clock.h), if the call began before that. */
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
 * The user for whom a call is made, in a session that serves many users.  They share the
 * slots of the servers (struct rpc_call.user).  Sets it for this thread, or for the
 * coroutine that runs in it.
 */
void call_user_set(uint32_t uid);
/* Returns 1 + uid; 0: no particular user. */
uint32_t call_user(void);
/* Switches this thread to another call with that call_user().  Returns the previous value. */
uint32_t call_user_swap(uint32_t next);

#endif
