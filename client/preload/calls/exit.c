/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exit.c - ends of a program that run no destructors.  The sessions end here; otherwise
 * the servers would keep them, and their open files, until session_timeout.
 */
#include <unistd.h>

#include "client/lib/profile/profile.h"
#include "client/preload/bypass/bypass.h"
#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/own_call.h"

EXPORT void _exit(int status) __attribute__((noreturn));
EXPORT void _Exit(int status) __attribute__((noreturn, alias("_exit")));

void _exit(int status)
{
	if (!own_call_active()) {
		bypass_end();
		profile_write();
	}
	next.exit(status);
	__builtin_unreachable();
}
