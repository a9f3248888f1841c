/* SPDX-License-Identifier: BSD-2-Clause */
/* test_clock_offset.c - the estimated clock of another host, compared with all known bounds. */
#include <check.h>
#include <stdint.h>

#include "common/comm/call/clock_offset.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define NOTES 200
#define SECOND 1000000000ull

/* The clock of the other host is off by `ahead`, and drifts within bounds. */
struct world {
	struct rnd *rnd;
	uint64_t ours;
	double ahead, drift; /* ahead in ns, drift in ns per ns */
};

static uint64_t theirs(const struct world *w, uint64_t ours)
{
	return ours + (uint64_t)(int64_t)(w->ahead + w->drift * (double)ours);
}

static uint64_t pick(struct world *w, uint64_t max)
{
	return rnd_in(w->rnd, 0, max);
}

/* The bound for the time `when` that follows only from the pair (stamp, at). */
static int64_t bound(uint64_t stamp, uint64_t at, uint64_t when)
{
	int64_t age = (int64_t)(when - at);

	return (int64_t)stamp + age -
	       (age + CLOCK_OFFSET_DRIFT - 1) / CLOCK_OFFSET_DRIFT;
}

START_TEST(nothing_known)
{
	struct clock_offset o = { 0 };

	ck_assert_uint_eq(clock_offset_convert(&o, 5 * SECOND), 0);
}
END_TEST

START_TEST(before_it_began)
{
	struct clock_offset o = { 0 };

	clock_offset_add(&o, 1, 10 * SECOND);
	ck_assert_uint_eq(clock_offset_convert(&o, 10 * SECOND), 1);
	ck_assert_uint_eq(clock_offset_convert(&o, 9 * SECOND), 0);
}
END_TEST

START_TEST(stamps_that_cannot_be)
{
	const uint64_t odd[] = { 0, 1, INT64_MAX, 1ull << 63, UINT64_MAX };
	unsigned int i, k;

	for (i = 0; i < 5; i++) {
		for (k = 0; k < 5; k++) {
			struct clock_offset o = { 0 };

			clock_offset_add(&o, odd[i], odd[k]);
			clock_offset_add(&o, odd[k], 7);
			clock_offset_convert(&o, odd[i]);
			clock_offset_convert(&o, UINT64_MAX);
		}
	}
}
END_TEST

/* The estimate is never later than the truth, and as late as the best pair permits. */
static void one_world(struct world *w)
{
	uint64_t stamp[NOTES], at[NOTES], when, said;
	struct clock_offset o = { 0 };
	unsigned int n, i;

	for (n = 0; n < NOTES; n++) {
		uint64_t transit = pick(w, pick(w, SECOND));
		int64_t best = INT64_MIN;

		w->ours += pick(w, pick(w, 100 * SECOND));
		stamp[n] = theirs(w, w->ours);
		w->ours += transit;
		at[n] = w->ours;
		clock_offset_add(&o, stamp[n], at[n]);
		when = w->ours + pick(w, pick(w, 10000 * SECOND));
		said = clock_offset_convert(&o, when);
		ck_assert_uint_le(said, theirs(w, when) + 1);
		for (i = 0; i <= n; i++)
			if (bound(stamp[i], at[i], when) > best)
				best = bound(stamp[i], at[i], when);
		if (best < 0)
			best = 0;
		/* each rounds up once */
		ck_assert_int_le((int64_t)said, best + 1);
		ck_assert_int_ge((int64_t)said + 1, best);
	}
}

START_TEST(it_grows_old)
{
	uint64_t age = CLOCK_OFFSET_FRESH_MS * 1000000ull;
	struct clock_offset o = { 0 };

	ck_assert(!clock_offset_is_fresh(&o, 0));
	clock_offset_add(&o, 500 * SECOND, 600 * SECOND);
	ck_assert(clock_offset_is_fresh(&o, 600 * SECOND));
	ck_assert(clock_offset_is_fresh(&o, 600 * SECOND + age - 1));
	ck_assert(!clock_offset_is_fresh(&o, 600 * SECOND + age));
	clock_offset_add(&o, 500 * SECOND + age, 600 * SECOND + age);
	ck_assert(clock_offset_is_fresh(&o, 600 * SECOND + age));
}
END_TEST

START_TEST(as_all_notes)
{
	struct rnd rnd;
	unsigned int i;

	rnd_init(&rnd, 1);
	for (i = 0; i < 300; i++) {
		struct world w = { .rnd = &rnd, .ours = 20000 * SECOND };

		w.ahead = (double)pick(&w, 20000 * SECOND) -
			  (double)(10000 * SECOND);
		w.drift = ((double)pick(&w, 1000) - 500.0) / 1e6 * 0.999;
		one_world(&w);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock_offset");
	TCase *tc = tcase_create("offset");

	tcase_add_test(tc, nothing_known);
	tcase_add_test(tc, before_it_began);
	tcase_add_test(tc, stamps_that_cannot_be);
	tcase_add_test(tc, as_all_notes);
	tcase_add_test(tc, it_grows_old);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
