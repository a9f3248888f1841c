/* SPDX-License-Identifier: BSD-2-Clause */
/* test_watched_descriptor.c - a thread that sleeps for messages also watches a descriptor. */
#include <check.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"
#include "common/comm/rpc.h"
#include "tests/run_suite.h"

static const char *const providers[] = { "tcp", "local" };

static struct tp_dev *dev;
static struct rpc_ctx *ctx;
static unsigned int left;

/* Ends the sleep. */
static void leave(struct watched_descriptor *watched)
{
	left++;
	rpc_ctx_wake(ctx);
}

static void setup(int i)
{
	struct tp_dev_attr dev_attr = { 0 };
	struct rpc_ctx_attr attr = { 0 };

	ck_assert_int_eq(tp_dev_open(providers[i], &dev_attr, &dev), 0);
	attr.dev = dev;
	ck_assert_int_eq(rpc_ctx_open(&attr, &ctx), 0);
	left = 0;
}

static void teardown(void)
{
	rpc_ctx_close(ctx);
	tp_dev_close(dev);
}

/* The time limit is only against a hang. */
START_TEST(while_it_sleeps)
{
	struct watched_descriptor watched = { .fd = eventfd(1, EFD_CLOEXEC),
					      .hand_over = leave };

	setup(_i);
	watched_descriptor_set(&watched);
	ck_assert_int_eq(watched_descriptor_fd(), watched.fd);
	rpc_ctx_progress(ctx, clock_after_ms(20000));
	ck_assert_uint_eq(left, 1);
	ck_assert_int_eq(watched_descriptor_fd(), -1);
	close(watched.fd);
	teardown();
}
END_TEST

/* A thread that was woken for another reason still has its task. */
START_TEST(and_afterwards)
{
	struct watched_descriptor watched = { .fd = eventfd(0, EFD_CLOEXEC),
					      .hand_over = leave };

	setup(_i);
	watched_descriptor_set(&watched);
	rpc_ctx_progress(ctx, clock_after_ms(1));
	ck_assert_int_eq(watched_descriptor_fd(), watched.fd);
	watched_descriptor_hand_over();
	watched_descriptor_hand_over();
	ck_assert_uint_eq(left, 1);
	close(watched.fd);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watched_descriptor");
	TCase *tc = tcase_create("watched_descriptor");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, while_it_sleeps, 0, 2);
	tcase_add_loop_test(tc, and_afterwards, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
