/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deadline.h - one deadline for a call of the C interface, however many requests
 * it takes: the time of all of them counts from when the call began.  Each thread
 * notes that of its own, so that a request need not be told.
 */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <stdint.h>

/* A call begins; or what it waited for went on, and its time begins anew. */
void deadline_begin(void);
/* The same, but its time counts from where it is first asked for: of a call that may end before
 * that; who waits otherwise asks before. */
void deadline_begin_late(void);
/* The same as of an earlier time (ns; see clock.h), if the call began before. */
void deadline_since(uint64_t when);
/* Another call goes on in this thread, that began then (0: none does); returns the
 * same of the one before. */
uint64_t deadline_swap(uint64_t when);
/* When the call of this thread began; 0: none did. */
uint64_t deadline_began(void);
/* timeout_ms after the beginning; in a thread that began no call, after now. */
uint64_t deadline_of(unsigned int timeout_ms);

#endif
