/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leave.c - ends of a program that run no destructor.  Its sessions end before: the
 * servers would keep them, and what is open in them, until session_timeout.
 */
#include <unistd.h>

#include "next.h"
#include "self.h"

#define OURS __attribute__((visibility("default")))

OURS void _exit(int status) __attribute__((noreturn));
OURS void _Exit(int status) __attribute__((noreturn, alias("_exit")));

void _exit(int status)
{
	if (!self_busy())
		self_end();
	next.exit(status);
	__builtin_unreachable();
}
