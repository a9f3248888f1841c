/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_turn.c - what all files of the member use: its clock, its end, and turns of the event
 * loop.
 */
#include <stdarg.h>

#include "mgr/raft/member_int.h"

uint64_t member_now(const struct raft_member *m)
{
	return m->attr.clock.now(m->attr.clock.arg);
}

void member_fail(struct raft_member *m, const char *fmt, ...)
{
	char why[RAFT_ERRMSG_BUF_SIZE];
	va_list args;

	if (m->dead)
		return;
	m->dead = true;
	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	m->attr.callbacks.failed(m->attr.callbacks.arg, why);
}

void member_want_restart(struct raft_member *m, const char *why)
{
	if (m->dead)
		return;
	m->dead = true;
	m->attr.callbacks.restart(m->attr.callbacks.arg, why);
}

bool member_enter(struct raft_member *m)
{
	if (m->dead)
		return false;
	if (!m->depth)
		m->turn = member_now(m);
	m->depth++;
	return true;
}

void member_leave(struct raft_member *m)
{
	if (m->depth == 1)
		m->follow(m);
	m->depth--;
}
