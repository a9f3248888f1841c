/* SPDX-License-Identifier: BSD-2-Clause */
/* pulse.c - see pulse.h. */
#include "common/util/pulse.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/util/clock.h"

/* signs per watchdog interval */
#define SIGNS 4u

void pulse_init(struct pulse *p, const struct notify *n)
{
	p->notify = n;
	p->every = n->watchdog_us * 1000 / SIGNS;
	atomic_init(&p->beaten, 0);
	atomic_init(&p->due, 0);
	atomic_init(&p->ready, false);
	pulse_loops(p, 1);
}

void pulse_loops(struct pulse *p, unsigned int loops)
{
	p->all = UINT64_MAX >> (PULSE_LOOPS_MAX - loops);
}

/* If one is lost, the next one replaces it. */
static void send_sign(const struct pulse *p)
{
	char text[64];

	if (atomic_load(&p->ready))
		snprintf(text, sizeof(text), "WATCHDOG=1");
	else
		snprintf(text, sizeof(text), "EXTEND_TIMEOUT_USEC=%" PRIu64,
			 p->notify->watchdog_us);
	notify_try(p->notify, text);
}

/* Several loops may see that the round is complete; only one starts the next. */
static bool begins_round(struct pulse *p)
{
	uint64_t all = p->all;

	return atomic_compare_exchange_strong(&p->beaten, &all, 0);
}

uint64_t pulse_beat(struct pulse *p, unsigned int loop)
{
	uint64_t now, due, bit = 1ull << loop;

	if (!p || !p->every)
		return CLOCK_NEVER;
	now = clock_now();
	due = atomic_load(&p->due);
	if (!(atomic_load(&p->beaten) & bit))
		atomic_fetch_or(&p->beaten, bit);
	if (now < due)
		return due;
	if (begins_round(p)) {
		atomic_store(&p->due, now + p->every);
		send_sign(p);
	}
	return now + p->every;
}

int pulse_ready(struct pulse *p)
{
	atomic_store(&p->ready, true);
	return notify_say(p->notify, "READY=1\nSTATUS=Serves");
}

bool pulse_is_ready(const struct pulse *p)
{
	return atomic_load(&p->ready);
}
