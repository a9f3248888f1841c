/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_addresses.c - from where a manager may connect to an iod. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "common/comm/cluster/mgr_addresses.h"

static const struct log silent;

static const struct {
	const char *hosts, *peer;
	bool trusted;
} cases[] = {
	{ "10.0.0.1", "tcp 10.0.0.1:40123", true },
	{ "10.0.0.1", "verbs 10.0.0.1:40123", true },
	{ "10.0.0.1", "tcp [::ffff:10.0.0.1]:40123", true },
	{ "10.0.0.1", "tcp 10.0.0.11:40123", false },
	{ "10.0.0.1", "tcp 10.0.0.2:40123", false },
	{ "10.0.0.1", "tcp 127.0.0.1:40123", false },
	{ "10.0.0.1, 10.0.1.1", "tcp 10.0.1.1:40123", true },
	{ "10.0.0.1 10.0.1.1", "tcp 10.0.0.1:40123", true },
	{ "127.0.0.2", "tcp 127.0.0.1:40123", true },
	{ "::1", "tcp 127.0.0.1:40123", true },
	{ "127.0.0.1", "tcp [::1]:40123", true },
	{ "fe80::1", "tcp [fe80::1]:40123", true },
	{ "fe80::1", "tcp [fe80::1%eth0]:40123", true },
	{ "fe80::1", "tcp [fe80::2]:40123", false },
	{ "", "tcp 10.0.0.1:40123", false },
	{ "", "tcp 127.0.0.1:40123", false },
	{ "10.0.0.1", "-", false },
	{ "10.0.0.1", "tcp ?", false },
	{ "10.0.0.1", "tcp ", false },
	{ "10.0.0.1", "tcp []:1", false },
	{ "10.0.0.1", "local pid 77 uid 0 at here:7000", true },
	{ "10.0.0.1", "local pid 77 uid 4000000 at here:7000", false },
};

START_TEST(test_peer)
{
	struct mgr_addresses *trust;

	ck_assert_int_eq(mgr_addresses_open(cases[_i].hosts, &silent, &trust),
			 0);
	ck_assert_msg(mgr_addresses_match(trust, cases[_i].peer) ==
			      cases[_i].trusted,
		      "'%s', '%s'", cases[_i].hosts, cases[_i].peer);
	mgr_addresses_close(trust);
}
END_TEST

START_TEST(test_own_user)
{
	struct mgr_addresses *trust;
	char peer[64];

	snprintf(peer, sizeof(peer), "local pid 77 uid %u at here:1",
		 (unsigned int)geteuid());
	ck_assert_int_eq(mgr_addresses_open("", &silent, &trust), 0);
	ck_assert(mgr_addresses_match(trust, peer));
	mgr_addresses_close(trust);
}
END_TEST

START_TEST(test_refused_hosts)
{
	struct mgr_addresses *trust = NULL;
	char label[80] = { 0 };

	/* longer than a name may be: no name service is asked */
	memset(label, 'a', sizeof(label) - 1);
	ck_assert_int_eq(mgr_addresses_open("0.0.0.0", &silent, &trust),
			 -EINVAL);
	ck_assert_int_eq(mgr_addresses_open("10.0.0.1, ::", &silent, &trust),
			 -EINVAL);
	ck_assert_int_eq(mgr_addresses_open(label, &silent, &trust),
			 -EHOSTUNREACH);
	ck_assert_ptr_null(trust);
}
END_TEST

/* None is left out without a word. */
START_TEST(test_too_many_hosts)
{
	struct mgr_addresses *trust = NULL;
	char hosts[65 * 16] = "";
	int i;

	for (i = 0; i < 65; i++)
		sprintf(hosts + strlen(hosts), "10.9.8.%d ", i);
	ck_assert_int_eq(mgr_addresses_open(hosts, &silent, &trust), -EINVAL);
	ck_assert_ptr_null(trust);
	*strrchr(hosts, '1') = '\0'; /* without the last */
	ck_assert_int_eq(mgr_addresses_open(hosts, &silent, &trust), 0);
	ck_assert(mgr_addresses_match(trust, "tcp 10.9.8.63:7"));
	mgr_addresses_close(trust);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_addresses");
	TCase *tc = tcase_create("mgr_addresses");

	tcase_add_loop_test(tc, test_peer, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, test_own_user);
	tcase_add_test(tc, test_refused_hosts);
	tcase_add_test(tc, test_too_many_hosts);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
