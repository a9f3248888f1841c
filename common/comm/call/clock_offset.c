/* SPDX-License-Identifier: BSD-2-Clause */
/* clock_offset.c - a lower bound of the clock of another host. */
#include "common/comm/call/clock_offset.h"

#include "common/util/clock.h"

/* The lower bound at a later time; it decreases with the age of the note. */
static uint64_t ahead_at(const struct clock_offset *o, uint64_t when)
{
	uint64_t age = when > o->at ? when - o->at : 0;

	return o->ahead - (age + CLOCK_OFFSET_DRIFT - 1) / CLOCK_OFFSET_DRIFT;
}

void clock_offset_add(struct clock_offset *o, uint64_t stamp, uint64_t now)
{
	uint64_t ahead = stamp - now;

	if (o->known && (int64_t)(ahead - ahead_at(o, now)) <= 0)
		return;
	*o = (struct clock_offset){ .known = true, .at = now, .ahead = ahead };
}

uint64_t clock_offset_convert(const struct clock_offset *o, uint64_t when)
{
	uint64_t there = when + ahead_at(o, when);

	return o->known && (int64_t)there > 0 ? there : 0;
}

bool clock_offset_is_fresh(const struct clock_offset *o, uint64_t now)
{
	return o->known &&
	       now - o->at < CLOCK_OFFSET_FRESH_MS * CLOCK_NS_PER_MS;
}
