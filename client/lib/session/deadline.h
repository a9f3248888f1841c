/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deadline.h - one deadline for a call of the C interface, regardless of the number of
 * its requests.  The time of all requests counts from the start of the call.  Each thread
 * stores its start time, so that it need not be passed along.
 */
#ifndef DEADLINE_H
#define DEADLINE_H

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

#endif
