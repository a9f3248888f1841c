/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leave.c - ends of a program that run no destructors.  The sessions end here; otherwise
 * the servers would keep them, and their open files, until session_timeout.
 */
#include "client/preload/leave.h"

#include <errno.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/lib/profile/profile.h"
#include "client/preload/self.h"

#define OURS __attribute__((visibility("default")))

OURS void _exit(int status) __attribute__((noreturn));
OURS void _Exit(int status) __attribute__((noreturn, alias("_exit")));

void _exit(int status)
{
	if (!self_busy()) {
		self_end();
		profile_write();
	}
	next.exit(status);
	__builtin_unreachable();
}

/* Other threads may be inside calls; the state that these use ends with them. */
static void leave(struct self *s)
{
	pthread_mutex_lock(&s->scan);
	deadline_begin();
	desc_sweep(s, true);
	doors_leave(&s->doors);
	pthread_mutex_unlock(&s->scan);
}

struct self *leave_begin(void)
{
	struct self *s = self_busy() ? NULL : self_there();
	int saved = errno;

	if (!self_busy())
		profile_write();
	if (!s)
		return NULL;
	requests_settle();
	self_enter();
	if (!atomic_exchange(&s->paused, true))
		leave(s);
	self_leave();
	errno = saved;
	return s;
}

void leave_failed(struct self *left)
{
	if (left)
		atomic_store(&left->paused, false);
}
