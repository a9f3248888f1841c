/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asker.h - the user that a thread makes calls for, in a session that serves many users.
 * Servers' slots are shared between them (struct rpc_call.user).
 */
#ifndef ASKER_H
#define ASKER_H

#include <stdint.h>

/* From now on this thread, or the strand that runs in it, asks for that user. */
void asker_set(uint32_t uid);
/* 1 + uid; 0: nobody in particular. */
uint32_t asker(void);
/* Another call goes on in this thread, for that asker(); returns the one before. */
uint32_t asker_swap(uint32_t who);

#endif
