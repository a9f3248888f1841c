/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.h - whether a thread is inside a call of ours. */
#ifndef INSIDE_H
#define INSIDE_H

#include "client/preload/signals.h"

/* Inside a call of ours: nested calls go to the kernel, and signal handlers wait. */
extern __thread volatile sig_atomic_t self_inside SIGNALS_TLS;

/* True: such a call, or a handler, is in progress. */
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
