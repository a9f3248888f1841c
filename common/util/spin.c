/* SPDX-License-Identifier: BSD-2-Clause */
/* spin.c - predicts the next wait from the last ones. */
#include "common/util/spin.h"

/* a longer gap between two polls means that the CPU ran another thread */
#define SPIN_ELSEWHERE_NS 20000u
#define SPIN_CROWD 64u /* in waits */

void spin_init(struct spin *s, unsigned int near_us, unsigned int far_us)
{
	*s = (struct spin){ .near = near_us * 1000ull,
			    .far = far_us * 1000ull };
	if (s->far < s->near)
		s->far = s->near;
	s->reach = s->near;
}

void spin_begin(struct spin *s, uint64_t now, enum spin_for what)
{
	if (s->crowd)
		s->crowd--;
	s->begun = now;
	s->seen = now;
	s->until = 0;
	s->what = s->near ? what : SPIN_NOTHING_SOON;
	if (s->what == SPIN_LITTLE && (s->crowd || s->far <= s->near))
		s->what = SPIN_ANYTHING;
	if (s->what == SPIN_NOTHING_SOON)
		return;
	if (s->sleeps)
		s->sleeps--;
	else
		s->until = now + (s->what == SPIN_LITTLE ? s->reach : s->near);
}

void spin_crowd(struct spin *s)
{
	s->crowd = SPIN_CROWD;
}

bool spin_again(struct spin *s, uint64_t now)
{
	bool elsewhere = now - s->seen > SPIN_ELSEWHERE_NS &&
			 now - s->begun > s->near;

	if (!s->until)
		return false;
	s->seen = now;
	if (now < s->until && !elsewhere)
		return true;
	s->until = 0;
	s->dull = s->dull < SPIN_DULL_MAX ? 2 * s->dull + 1 : SPIN_DULL_MAX;
	s->sleeps = s->dull;
	return false;
}

static void sleep_less_often(struct spin *s)
{
	s->dull /= 2;
	s->sleeps = s->dull;
}

/* Waking up takes a while, which polling would save. */
static void adapt_to_sleep(struct spin *s, uint64_t took)
{
	if (took > 2 * s->far) {
		s->reach = s->near;
		return;
	}
	s->reach = s->far;
	sleep_less_often(s);
}

void spin_end(struct spin *s, uint64_t now)
{
	if (s->until)
		sleep_less_often(s);
	else if (s->what == SPIN_LITTLE)
		adapt_to_sleep(s, now - s->begun);
	s->until = 0;
}
