/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_rails_idle.c - a context with several rails, none of which has a connection any more:
 * work left in their queues keeps no thread awake.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/comm/fabric/fabric.h"
#include "common/transport/provider.h"
#include "common/comm/rpc.h"
#include "tests/run_suite.h"

#define WAITS_MAX 1000u

/* A provider whose queue has completions that only polling removes. */
struct stub_cq {
	struct tp_cq cq;
	unsigned int left; /* completions of a closed endpoint */
	unsigned int waits;
	int fd;
};

static struct stub_cq cqs[2];

static struct stub_cq *stub(struct tp_cq *cq)
{
	return (struct stub_cq *)(void *)cq;
}

static int stub_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct stub_cq *s = &cqs[cqs[0].cq.dev ? 1 : 0];

	*s = (struct stub_cq){ .cq.dev = dev, .left = 1 };
	s->fd = eventfd(0, EFD_CLOEXEC);
	*out = &s->cq;
	return 0;
}

static void stub_close(struct tp_cq *cq)
{
	close(stub(cq)->fd);
	stub(cq)->cq.dev = NULL;
}

static int stub_poll(struct tp_cq *cq, struct tp_wc *wc, int n)
{
	int had = stub(cq)->left ? 1 : 0;

	wc[0] = (struct tp_wc){ .status = -ECANCELED };
	stub(cq)->left = 0;
	return had;
}

static int stub_event(struct tp_cq *cq, struct tp_event *ev)
{
	return 0;
}

static int stub_wait(struct tp_cq *cq, uint64_t deadline)
{
	struct pollfd fd = { stub(cq)->fd, POLLIN, 0 };

	if (stub(cq)->left) {
		ck_assert_uint_lt(++stub(cq)->waits, WAITS_MAX);
		return 0;
	}
	poll(&fd, 1, clock_left_ms(deadline));
	return -ETIMEDOUT;
}

static int stub_arm(struct tp_cq *cq)
{
	return stub(cq)->left ? 1 : 0;
}

static int stub_fd(struct tp_cq *cq)
{
	return stub(cq)->fd;
}

static const struct tp_ops ops = {
	.name = "stub",
	.cq_open = stub_open,
	.cq_close = stub_close,
	.cq_poll = stub_poll,
	.cq_event = stub_event,
	.cq_wait = stub_wait,
	.cq_arm = stub_arm,
	.cq_fd = stub_fd,
};

START_TEST(sleeps)
{
	struct tp_dev dev[2] = { { .ops = &ops }, { .ops = &ops } };
	struct fabric fabric = { .rails = { .dev = { &dev[0], &dev[1] },
					    .n = 2 } };
	struct rpc_ctx_attr attr = { .fabric = &fabric };
	struct rpc_ctx *ctx;
	unsigned int i;

	ck_assert_int_eq(rpc_ctx_open(&attr, &ctx), 0);
	for (i = 0; i < 3; i++)
		rpc_ctx_progress(ctx, clock_after_ms(20));
	ck_assert_uint_eq(cqs[0].left, 0);
	rpc_ctx_close(ctx);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_rails_idle");
	TCase *tc = tcase_create("idle");

	tcase_add_test(tc, sleeps);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
