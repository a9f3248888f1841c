/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.h - that a thread is within a call of ours. */
#ifndef INSIDE_H
#define INSIDE_H

#include "client/preload/signals.h"

/* Within a call of ours: what it calls goes the kernel's way; handlers wait. */
extern __thread volatile sig_atomic_t self_inside SIGNALS_TLS;

/* Such a call, or a handler, is under way. */
static inline bool self_busy(void)
{
	return self_inside || signals_in_handler();
}
static inline void self_enter(void)
{
	self_inside++;
}
static inline void self_leave(void)
{
	self_inside--;
	if (signals_held && !self_inside)
		signals_release();
}

#endif
