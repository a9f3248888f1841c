/* SPDX-License-Identifier: BSD-2-Clause */
/* test_addr.c - server addresses: strict in, canonical out. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "common/util/addr.h"
#include "tests/run_suite.h"

static const struct {
	const char *uri;
	uint16_t default_port;
	const char *scheme, *host;
	uint16_t port;
	const char *out;
} good[] = {
	{ "tcp://host:7000", 0, "tcp", "host", 7000, "tcp://host:7000" },
	{ "tcp://host", 3000, "tcp", "host", 3000, "tcp://host:3000" },
	{ "tcp://host:1", 3000, "tcp", "host", 1, "tcp://host:1" },
	{ "verbs://10.0.0.7:65535", 0, "verbs", "10.0.0.7", 65535,
	  "verbs://10.0.0.7:65535" },
	{ "tcp://h:0", 9, "tcp", "h", 0, "tcp://h:0" },
	{ "tcp://h:00080", 0, "tcp", "h", 80, "tcp://h:80" },
	{ "pvfs://Node-1.x_y.org:3000", 0, "pvfs", "Node-1.x_y.org", 3000,
	  "pvfs://Node-1.x_y.org:3000" },
	{ "tcp://[::1]:7000", 0, "tcp", "::1", 7000, "tcp://[::1]:7000" },
	{ "tcp://[fe80::1%eth0.5]", 1, "tcp", "fe80::1%eth0.5", 1,
	  "tcp://[fe80::1%eth0.5]:1" },
	{ "tcp://[::ffff:1.2.3.4]:5", 0, "tcp", "::ffff:1.2.3.4", 5,
	  "tcp://[::ffff:1.2.3.4]:5" },
};

START_TEST(accepted)
{
	struct addr a, again;
	char buf[ADDR_STRLEN];

	ck_assert_int_eq(addr_parse(good[_i].uri, good[_i].default_port, &a),
			 0);
	ck_assert_str_eq(a.scheme, good[_i].scheme);
	ck_assert_str_eq(a.host, good[_i].host);
	ck_assert_uint_eq(a.port, good[_i].port);
	ck_assert_ptr_eq(addr_format(&a, buf, sizeof(buf)), buf);
	ck_assert_str_eq(buf, good[_i].out);
	ck_assert_int_eq(addr_parse(buf, 0, &again), 0);
	ck_assert_str_eq(again.host, a.host);
}
END_TEST

static const char *const bad[] = {
	"",
	"host",
	"host:7000",
	"://host:1",
	"tcp:/host:1",
	"tcp:host:1",
	"t-p://host:1",
	"TCP://host:1",
	"1tcp://host:1",
	"t cp://host:1",
	"a+toolong+scheme://host:1",
	"tcp://",
	"tcp://:7000",
	"tcp://host",
	"tcp://host:",
	"tcp://host:x",
	"tcp://host:-1",
	"tcp://host:+1",
	"tcp://host: 1",
	"tcp://host:1 ",
	"tcp://host:65536",
	"tcp://host:99999",
	"tcp://host:000001",
	"tcp://host:18446744073709551617",
	"tcp://host:1/",
	"tcp://host/path:1",
	"tcp://user@host:1",
	"tcp://ho st:1",
	"tcp://-host:1",
	"tcp://h\xc3\xb6st:1",
	"tcp://::1:7000",
	"tcp://[]:1",
	"tcp://[::1:1",
	"tcp://::1]:1",
	"tcp://[::1]x:1",
	"tcp://[::1]1",
	"tcp://[host]:1",
	"tcp://[1.2.3.4]:1",
	"tcp://[::1%]:1",
	"tcp://[%eth0]:1",
	"tcp://[:::1]:1",
	"tcp://[1:2:3:4:5:6:7:8:9]:1",
	"tcp://[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1",
};

START_TEST(refused)
{
	struct addr a, before;

	memset(&a, 0x5a, sizeof(a));
	before = a;
	ck_assert_msg(addr_parse(bad[_i], 0, &a) == -EINVAL, "'%s'", bad[_i]);
	ck_assert_mem_eq(&a, &before, sizeof(a));
	ck_assert_ptr_nonnull(addr_flaw(bad[_i], 0));
}
END_TEST

START_TEST(says_what_is_wrong)
{
	ck_assert_str_eq(addr_flaw("tcp://host", 0), "it has no port");
	ck_assert_ptr_null(addr_flaw("tcp://host", 7000));
	ck_assert_ptr_nonnull(strstr(addr_flaw("tcp://h:65536", 0), "65535"));
	ck_assert_ptr_nonnull(strstr(addr_flaw("tcp://:1", 0), "no host"));
	ck_assert_ptr_nonnull(strstr(addr_flaw("host:1", 0), "transport"));
}
END_TEST

START_TEST(host_length)
{
	char uri[400];
	struct addr a;

	memset(uri, 'a', sizeof(uri));
	memcpy(uri, "tcp://", 6);
	strcpy(uri + 6 + 255, ":1");
	ck_assert_int_eq(addr_parse(uri, 0, &a), 0);
	ck_assert_uint_eq(strlen(a.host), 255);
	memcpy(uri + 6 + 255, "aa", 2);
	strcpy(uri + 6 + 256, ":1");
	ck_assert_int_eq(addr_parse(uri, 0, &a), -EINVAL);
}
END_TEST

START_TEST(format_is_bounded)
{
	struct addr a = { "tcp", "host", 7000 };
	char buf[16];

	memset(buf, 'x', sizeof(buf));
	addr_format(&a, buf, 8);
	ck_assert_mem_eq(buf, "tcp://h\0x", 9);
}
END_TEST

/* The longest address fits ADDR_STRLEN. */
START_TEST(loopback)
{
	static const char *const here[] = { "tcp://127.0.0.1:1",
					    "tcp://[::1]:1",
					    "pvfs://127.9.9.9:1",
					    "pvfs://localhost:1" },
				 *const there[] = { "tcp://128.0.0.1:1",
						    "tcp://[fe80::1]:1",
						    "pvfs://localhost.org:1",
						    "pvfs://host:1" };
	struct addr a;
	unsigned int i;

	for (i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
		ck_assert_int_eq(addr_parse(here[i], 0, &a), 0);
		ck_assert(addr_is_loopback(&a));
		ck_assert_int_eq(addr_parse(there[i], 0, &a), 0);
		ck_assert(!addr_is_loopback(&a));
	}
}
END_TEST

START_TEST(longest)
{
	struct addr a = { "fifteen-letters", "", 65535 };
	char buf[ADDR_STRLEN + 8];

	memset(a.host, ':', sizeof(a.host) - 1);
	addr_format(&a, buf, sizeof(buf));
	ck_assert_uint_lt(strlen(buf), ADDR_STRLEN);
}
END_TEST

static Suite *addr_suite(void)
{
	Suite *suite = suite_create("addr");
	TCase *tc = tcase_create("addr");

	tcase_add_loop_test(tc, accepted, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, says_what_is_wrong);
	tcase_add_test(tc, host_length);
	tcase_add_test(tc, format_is_bounded);
	tcase_add_test(tc, loopback);
	tcase_add_test(tc, longest);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(addr_suite());
}
