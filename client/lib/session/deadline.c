/* SPDX-License-Identifier: BSD-2-Clause */
/* deadline.c - see deadline.h. */
#include "client/lib/session/deadline.h"

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
