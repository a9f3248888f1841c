/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rail_choice.c - the order in which rails and addresses are tried. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "tests/run_suite.h"

/* Rails by letter: A and B are two devices of one transport, and T is tcp. */
static const struct {
	const char *rails, *scheme;
	unsigned int hosts, turn;
	const char *tries; /* pairs of rail and address, in order */
} cases[] = {
	{ "T", "pvfs", 1, 0, "T0" },
	{ "T", "pvfs", 3, 1, "T0 T1 T2" },
	{ "AT", "pvfs", 1, 1, "A0 T0" },
	{ "ABT", "pvfs", 1, 0, "A0 B0 T0" },
	{ "ABT", "pvfs", 1, 1, "B0 A0 T0" },
	{ "ABT", "pvfs", 1, 2, "A0 B0 T0" },
	{ "ABT", "pvfs", 2, 0, "A0 A1 B1 B0 T0 T1" },
	{ "ABT", "pvfs", 2, 1, "B1 B0 A0 A1 T0 T1" },
	{ "ABT", "pvfs", 3, 3, "B1 B2 B0 A0 A1 A2 T0 T1 T2" },
	{ "AB", "pvfs", 2, 0xffffffff, "B1 B0 A0 A1" },
	{ "TAB", "pvfs", 1, 1, "T0 B0 A0" },
	{ "ABT", "fault+tcp", 2, 1, "B1 B0 A0 A1" },
	{ "ABT", "tcp", 2, 1, "T0 T1" },
	{ "AB", "tcp", 1, 0, "" },
};

static struct rpc_ctx ctx;
static struct rpc_peer peer;

static void make(unsigned int i)
{
	const char *rail;

	memset(&ctx, 0, sizeof(ctx));
	memset(&peer, 0, sizeof(peer));
	for (rail = cases[i].rails; *rail; rail++)
		ck_assert_int_eq(tp_dev_open(*rail == 'T' ? "tcp" : "fault+tcp",
					     NULL,
					     &ctx.rails.dev[ctx.rails.n++]),
				 0);
	peer.link.ctx = &ctx;
	peer.turn = cases[i].turn;
	peer.hosts.n = cases[i].hosts;
	for (unsigned int k = 0; k < peer.hosts.n; k++)
		snprintf(peer.hosts.host[k], HOST_LEN, "%u", k);
	snprintf(peer.addr.scheme, sizeof(peer.addr.scheme), "%s",
		 cases[i].scheme);
}

START_TEST(in_this_order)
{
	char tries[512] = "";
	struct addr addr;
	int rail;

	make((unsigned int)_i);
	rail_choice_begin(&peer);
	while ((rail = rail_choice_next(&peer, &addr)) >= 0) {
		size_t len = strlen(tries);

		snprintf(tries + len, sizeof(tries) - len, "%s%c%.3s",
			 len ? " " : "", cases[_i].rails[rail], addr.host);
		ck_assert_int_eq(rail_choice_is_last(&peer),
				 !strcmp(tries, cases[_i].tries));
	}
	ck_assert_str_eq(tries, cases[_i].tries);
	while (ctx.rails.n)
		tp_dev_close(ctx.rails.dev[--ctx.rails.n]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rail_choice");
	TCase *tc = tcase_create("choose");

	tcase_add_loop_test(tc, in_this_order, 0,
			    sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
