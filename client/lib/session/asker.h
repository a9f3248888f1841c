/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asker.h - the user for whom a thread makes calls, in a session that serves many users.
 * The users share the slots of the servers (struct rpc_call.user).
 */
#ifndef ASKER_H
#define ASKER_H

#include <stdint.h>

/* Sets the user for this thread, or for the strand that runs in it. */
void asker_set(uint32_t uid);
/* Returns 1 + uid; 0: no particular user. */
uint32_t asker(void);
/* Switches this thread to another call with that asker().  Returns the previous value. */
uint32_t asker_swap(uint32_t who);

#endif
