/* SPDX-License-Identifier: BSD-2-Clause */
/* call_context.c - see call_context.h. */
#include "client/lib/session/call_context.h"

#include "common/util/clock.h"

#define LATE UINT64_MAX /* set at the first query */

static _Thread_local uint64_t began; /* 0: no call */

void deadline_begin(void)
{
	began = clock_now();
}

void deadline_begin_late(void)
{
	began = LATE;
}

static uint64_t began_settled(void)
{
	if (began == LATE)
		began = clock_now();
	return began;
}

void deadline_since(uint64_t when)
{
	if (began && when > began)
		began = when;
}

uint64_t deadline_swap(uint64_t when)
{
	uint64_t before = began;

	began = when;
	return before;
}

uint64_t deadline_began(void)
{
	return began_settled();
}

uint64_t deadline_of(unsigned int timeout_ms)
{
	return began_settled() ? began + timeout_ms * CLOCK_NS_PER_MS
			       : clock_after_ms(timeout_ms);
}

static _Thread_local uint32_t self; /* 1 + the user; 0: none */

void call_user_set(uint32_t uid)
{
	self = uid + 1;
}

uint32_t call_user(void)
{
	return self;
}

uint32_t call_user_swap(uint32_t next)
{
	uint32_t before = self;

	self = next;
	return before;
}
