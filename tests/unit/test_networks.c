/* SPDX-License-Identifier: BSD-2-Clause */
/* test_networks.c - networks in their text form, compared with peers in theirs. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "common/util/networks.h"
#include "tests/run_suite.h"

static const struct {
	const char *nets, *peer;
	bool in;
} cases[] = {
	{ "10.0.0.0/8", "tcp 10.255.0.1:7000", true },
	{ "10.0.0.0/8", "tcp 11.0.0.1:7000", false },
	{ "10.0.0.0/9", "tcp 10.127.9.9:1", true },
	{ "10.0.0.0/9", "tcp 10.128.0.0:1", false },
	{ "10.1.2.3", "verbs 10.1.2.3:65535", true },
	{ "10.1.2.3", "verbs 10.1.2.2:65535", false },
	{ "10.1.2.3", "tcp [::ffff:10.1.2.3]:9", true },
	{ "0.0.0.0/0", "tcp 203.0.113.9:9", true },
	{ "0.0.0.0/0", "tcp [2001:db8::1]:9", false },
	{ "::/0", "tcp [2001:db8::1]:9", true },
	{ "::/0", "tcp 10.0.0.1:9", true },
	{ "fd00::/8", "tcp [fdff::1]:9", true },
	{ "fd00::/8", "tcp [fe00::1]:9", false },
	{ "fe80::/10", "tcp [fe80::1%eth0]:9", true },
	{ "10.0.0.0/8, fd00::/8\t192.0.2.1", "tcp 192.0.2.1:9", true },
	{ "10.0.0.0/8, fd00::/8\t192.0.2.1", "tcp 192.0.2.2:9", false },
	{ "127.0.0.0/8", "local pid 1 uid 0 at 127.0.0.1:7000", false },
	{ "0.0.0.0/0 ::/0", "verbs ?:0", false },
	{ "0.0.0.0/0 ::/0", "-", false },
	{ "0.0.0.0/0 ::/0", "", false },
	{ "0.0.0.0/0 ::/0", "tcp ", false },
	{ "0.0.0.0/0 ::/0", "tcp [::1", false },
};

START_TEST(test_members)
{
	struct networks nets = { 0 };

	ck_assert_int_eq(networks_parse(cases[_i].nets, &nets), 0);
	ck_assert_int_eq(networks_have(&nets, cases[_i].peer), cases[_i].in);
}
END_TEST

static const char *const wrong[] = {
	"",
	",",
	"10",
	"10.0.0.0/33",
	"10.0.0.0/-1",
	"10.0.0.0/",
	"10.0.0.0/8x",
	"10.0.0.1/8",
	"fd00::1/64",
	"::/129",
	"10.0.0.0/+8",
	"host/8",
	"10.0.0.0/8 host",
	"10.0.0.0/ 8",
};

START_TEST(test_wrong)
{
	struct networks nets = { .n = 7 };

	ck_assert_int_eq(networks_parse(wrong[_i], &nets), -EINVAL);
	ck_assert_uint_eq(nets.n, 7);
}
END_TEST

START_TEST(test_bound)
{
	char text[(NETWORKS_MAX + 1) * sizeof("10.0.0.1 ")], *to = text;
	struct networks nets = { 0 };

	for (unsigned int i = 0; i < NETWORKS_MAX; i++)
		to = stpcpy(to, "10.0.0.1 ");
	ck_assert_int_eq(networks_parse(text, &nets), 0);
	ck_assert_uint_eq(nets.n, NETWORKS_MAX);
	strcpy(to, "10.0.0.1");
	ck_assert_int_eq(networks_parse(text, &nets), -EINVAL);
}
END_TEST

START_TEST(test_here)
{
	ck_assert(peer_is_here("local pid 12 uid 0 at 127.0.0.1:7000"));
	ck_assert(!peer_is_here("tcp 127.0.0.1:7000"));
	ck_assert(!peer_is_here("-"));
	ck_assert(!peer_is_here("tcp"));
}
END_TEST

static const struct {
	const char *a, *b;
	bool same;
} peers[] = {
	{ "tcp 10.0.0.1:4711", "tcp 10.0.0.1:4712", true },
	{ "tcp 10.0.0.1:4711", "tcp 10.0.0.2:4711", false },
	{ "tcp 10.0.0.1:4711", "verbs 10.0.0.1:4711", true },
	{ "tcp 10.0.0.1:4711", "tcp [::ffff:10.0.0.1]:4711", true },
	{ "tcp [::ffff:10.0.0.1]:1", "tcp [::ffff:10.0.0.2]:1", false },
	{ "tcp [fd00::1]:1", "tcp [fd00::ffff:1:2:3]:1", true },
	{ "tcp [fd00::1]:1", "tcp [fd00:0:0:1::1]:1", false },
	{ "local pid 1 uid 7 at h:1", "local pid 2 uid 7 at h:1", true },
	{ "local pid 1 uid 7 at h:1", "local pid 1 uid 8 at h:1", false },
	{ "local pid 1 uid 0 at h:1", "tcp 127.0.0.1:1", false },
	{ "-", "mock", true },
	{ "-", "tcp 0.0.0.1:1", false },
};

START_TEST(test_hosts)
{
	uint8_t a[PEER_HOST_LEN], b[PEER_HOST_LEN];

	peer_host(peers[_i].a, a);
	peer_host(peers[_i].b, b);
	ck_assert_msg(!memcmp(a, b, sizeof(a)) == peers[_i].same, "%s %s",
		      peers[_i].a, peers[_i].b);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("networks");
	TCase *tc = tcase_create("networks");

	tcase_add_loop_test(tc, test_members, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, test_wrong, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_loop_test(tc, test_hosts, 0,
			    sizeof(peers) / sizeof(peers[0]));
	tcase_add_test(tc, test_bound);
	tcase_add_test(tc, test_here);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
