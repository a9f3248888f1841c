/* SPDX-License-Identifier: BSD-2-Clause */
/* test_exporter_host.c - for which Host headers pvfs-exporter replies. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/monitor/exporter/host.h"
#include "tests/run_suite.h"

static const struct host_names none, two = { { "watch.example", "Watch" }, 2 };

static const struct {
	const char *host, *at;
	bool ours;
} asked[] = {
	{ "localhost", "127.0.0.1", true },
	{ "LocalHost:9797", "127.0.0.1", true },
	{ "localhost.", "127.0.0.1", true },
	{ "localhost:", "127.0.0.1", true },
	{ "127.0.0.1:9797", "127.0.0.1", true },
	{ "127.9.9.9", "10.0.0.5", true },
	{ "[::1]:9797", "::1", true },
	{ "[::1]", "10.0.0.5", true },
	{ "10.0.0.5:9797", "10.0.0.5", true },
	{ "10.0.0.5", "::ffff:10.0.0.5", true },
	{ "[fd00::5]:1", "fd00:0::5", true },
	{ "10.0.0.6", "10.0.0.5", false },
	{ "10.0.0.5", "", false },
	{ "[fd00::6]", "fd00::5", false },
	{ "0.0.0.0:9797", "127.0.0.1", false },
	{ "evil.example", "127.0.0.1", false },
	{ "evil.example:9797", "10.0.0.5", false },
	{ "localhost.evil.example", "127.0.0.1", false },
	{ "evil.localhost.", "127.0.0.1", false },
	{ "127.0.0.1.evil.example", "127.0.0.1", false },
	{ "127.1", "127.0.0.1", false }, /* no browser sends this */
	{ "localhost:9797@evil.example", "127.0.0.1", false },
	{ "localhost:x", "127.0.0.1", false },
	{ "evil.example#localhost", "127.0.0.1", false },
	{ "[::1", "::1", false },
	{ "[::1]x", "::1", false },
	{ "[]", "::1", false },
	{ "::1", "::1", false },
	{ "", "127.0.0.1", false },
	{ ":9797", "127.0.0.1", false },
	{ ".", "127.0.0.1", false },
	{ " localhost", "127.0.0.1", false },
};

START_TEST(test_addresses)
{
	ck_assert_msg(host_is_ours(&none, asked[_i].host, asked[_i].at) ==
			      asked[_i].ours,
		      "%s at %s", asked[_i].host, asked[_i].at);
}
END_TEST

START_TEST(test_names)
{
	char own[256] = "", first[300];

	ck_assert(host_is_ours(&two, "WATCH.example:80", "10.0.0.5"));
	ck_assert(host_is_ours(&two, "watch", "10.0.0.5"));
	ck_assert(!host_is_ours(&two, "watch.example.org", "10.0.0.5"));
	ck_assert(!host_is_ours(&none, "watch.example", "10.0.0.5"));
	ck_assert_int_eq(gethostname(own, sizeof(own) - 1), 0);
	ck_assert(host_is_ours(&none, own, "10.0.0.5"));
	own[strcspn(own, ".")] = '\0';
	ck_assert(host_is_ours(&none, own, "10.0.0.5"));
	snprintf(first, sizeof(first), "%s.evil.example", own);
	ck_assert(!host_is_ours(&none, first, "10.0.0.5"));
}
END_TEST

START_TEST(test_long)
{
	char name[4096];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert(!host_is_ours(&none, name, name));
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("exporter_host");
	TCase *tc = tcase_create("host");

	tcase_add_loop_test(tc, test_addresses, 0,
			    (int)(sizeof(asked) / sizeof(asked[0])));
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_long);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
