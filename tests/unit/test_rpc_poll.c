/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_poll.c - a context rarely polls after polling has found nothing. */
#include <check.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/comm/rpc.h"
#include "tests/run_suite.h"

#define POLL_US 10000u
#define LONG_PAUSES 60u

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

/* Work arrives after us microseconds.  Returns the number of yields. */
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

/* A slow machine may make some pauses shorter or longer, but not all. */
START_TEST(seldom_in_vain)
{
	unsigned int i, polled = 0;

	for (i = 0; i < LONG_PAUSES; i++)
		polled += pause_us(2 * POLL_US) > 0;
	ck_assert_uint_ge(polled, 1);
	ck_assert_uint_le(polled, LONG_PAUSES / 2);
}
END_TEST

START_TEST(again_when_it_pays)
{
	unsigned int i, row = 0;

	for (i = 0; i < LONG_PAUSES; i++)
		pause_us(2 * POLL_US);
	for (i = 0; i < 2000 && row < 10; i++)
		row = pause_us(POLL_US / 20) ? row + 1 : 0;
	ck_assert_uint_eq(row, 10);
}
END_TEST

START_TEST(never_if_told)
{
	struct rpc_ctx_attr attr = { .dev = dev };
	unsigned int i;

	rpc_ctx_close(ctx);
	ck_assert_int_eq(rpc_ctx_open(&attr, &ctx), 0);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(pause_us(1000), 0);
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

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, seldom_in_vain);
	tcase_add_test(tc, again_when_it_pays);
	tcase_add_test(tc, never_if_told);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
