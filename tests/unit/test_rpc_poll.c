/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_poll.c - a context polls only while work usually comes soon. */
#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "rpc.h"

#define POLL_US 10000u

static struct tp_dev *dev;
static struct rpc_ctx *ctx;
static unsigned int yields;
static bool fired;

int sched_yield(void)
{
	yields++;
	return (int)syscall(SYS_sched_yield);
}

static void fire(struct rpc_timer *timer)
{
	fired = true;
}

/* Work comes after us microseconds; returns how often was yielded. */
static unsigned int pause_us(unsigned int us)
{
	struct rpc_timer timer = { .fire = fire };

	yields = 0;
	fired = false;
	rpc_timer_set(ctx, &timer, clock_now() + us * 1000ull);
	while (!fired)
		rpc_ctx_progress(ctx, clock_after_ms(10000));
	return yields;
}

START_TEST(polls_when_it_pays)
{
	unsigned int i;

	ck_assert_uint_gt(pause_us(8 * POLL_US), 0);
	for (i = 0; i < 8; i++)
		pause_us(8 * POLL_US);
	ck_assert_uint_eq(pause_us(8 * POLL_US), 0);
	for (i = 0; i < 1000 && !pause_us(POLL_US / 10); i++)
		;
	ck_assert_uint_lt(i, 1000);
}
END_TEST

static void setup(void)
{
	struct tp_dev_attr dev_attr = { 0 };
	struct rpc_ctx_attr attr = { .poll_us = POLL_US };

	ck_assert_int_eq(tp_dev_open("tcp", &dev_attr, &dev), 0);
	attr.dev = dev;
	ck_assert_int_eq(rpc_ctx_open(&attr, &ctx), 0);
}

static void teardown(void)
{
	rpc_ctx_close(ctx);
	tp_dev_close(dev);
}

int main(void)
{
	Suite *s = suite_create("rpc_poll");
	TCase *tc = tcase_create("poll");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, polls_when_it_pays);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
