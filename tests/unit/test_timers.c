/* SPDX-License-Identifier: BSD-2-Clause */
/* test_timers.c - timers of a progress context fire in the order of their times. */
#include <check.h>
#include <string.h>

#include "common/comm/progress/ctx.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define N 400u
#define STEPS 20000u

static struct rpc_ctx ctx;
static struct rpc_timer timer[N];
static uint64_t last; /* the time of the last one that fired */
static unsigned int fired;

static void fire(struct rpc_timer *t)
{
	ck_assert(!t->armed);
	ck_assert_uint_ge(t->at, last);
	ck_assert_uint_le(t->at, ctx.now);
	last = t->at;
	fired++;
}

static void setup(void)
{
	memset(&ctx, 0, sizeof(ctx));
	memset(timer, 0, sizeof(timer));
	TAILQ_INIT(&ctx.dues);
	for (unsigned int i = 0; i < N; i++)
		timer[i].fire = fire;
	last = fired = 0;
}

static uint64_t soonest(void)
{
	uint64_t at = CLOCK_NEVER;

	for (unsigned int i = 0; i < N; i++)
		if (timer[i].armed && timer[i].at < at)
			at = timer[i].at;
	return at;
}

static unsigned int due(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < N; i++)
		n += timer[i].armed && timer[i].at <= ctx.now;
	return n;
}

/*
 * Timers are set, set again and cleared, also if they are not armed; compared with a scan of all.
 */
START_TEST(model)
{
	struct rnd r;

	rnd_init(&r, (uint64_t)_i + 1);
	for (unsigned int step = 0; step < STEPS; step++) {
		struct rpc_timer *t = &timer[rnd_next(&r) % N];
		unsigned int want;

		if (rnd_next(&r) % 3)
			rpc_timer_set(&ctx, t, ctx.now + rnd_next(&r) % 1000);
		else
			rpc_timer_clear(&ctx, t);
		ck_assert_uint_eq(timer_next(&ctx), soonest());
		if (rnd_next(&r) % 16)
			continue;
		ctx.now += rnd_next(&r) % 50;
		want = due();
		fired = 0;
		last = 0;
		timer_run(&ctx);
		ck_assert_uint_eq(fired, want);
	}
}
END_TEST

static void set_self(struct rpc_timer *t)
{
	fired++;
	rpc_timer_set(&ctx, t, ctx.now + 10);
	rpc_timer_clear(&ctx, &timer[1]);
}

/* A timer that fires sets itself, and clears another one that is due. */
START_TEST(from_within)
{
	timer[0].fire = set_self;
	rpc_timer_set(&ctx, &timer[1], 5);
	rpc_timer_set(&ctx, &timer[0], 4);
	ctx.now = 9;
	timer_run(&ctx);
	ck_assert_uint_eq(fired, 1);
	ck_assert(!timer[1].armed);
	ck_assert_uint_eq(timer_next(&ctx), 19);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("timers");
	TCase *tc = tcase_create("timers");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, model, 0, 4);
	tcase_add_test(tc, from_within);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
