/* SPDX-License-Identifier: BSD-2-Clause */
/* test_manager_conf.c - the managers in a configuration file. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/comm/cluster/server_conf.h"
#include "tests/run_suite.h"

#define TEN(x) x x x x x x x x x x
#define MGR(n, host) "[mgr." #n "]\naddress = pvfs://" host "\nstorage = /s\n"
#define THREE MGR(0, "a") MGR(1, "b") MGR(2, "c")

static const struct {
	const char *text;
	const char *hosts; /* NULL: rejected with this message */
	const char *flaw;
} files[] = {
	{ "[mgr]\naddress = pvfs://a\n", "a", NULL },
	{ "[mgr]\naddress = pvfs://0.0.0.0:1\n", "0.0.0.0", NULL },
	{ MGR(0, "a"), "a", NULL },
	{ THREE, "a,b,c", NULL },
	{ "[mgr]\nslots = 4\nfrom = x\n" THREE, "a,b,c", NULL },
	{ MGR(2, "c") MGR(0, "[::1]:4") MGR(1, "b"), "::1,b,c", NULL },
	{ THREE MGR(3, "d") MGR(4, "e"), "a,b,c,d,e", NULL },
	{ "[mgr.0]\naddress = pvfs://a:1\nstorage = /x\n"
	  "[mgr.1]\naddress = pvfs://a:2\nstorage = /y\n" MGR(2, "c"),
	  "a,a,c", NULL },
	{ "", NULL, "[mgr] address: missing" },
	{ "[mgr]\naddress = a\n", NULL, "[mgr] address: not an address" },
	{ "[mgr]\naddress = pvfs://x\n" THREE, NULL,
	  "[mgr] address: the managers have sections of their own: move it to "
	  "[mgr.0]" },
	{ THREE "[mgr]\nstorage = /x\n", NULL,
	  "[mgr] storage: the managers have sections of their own" },
	{ MGR(0, "a") MGR(1, "b"), NULL, "there are 2 managers; write 3" },
	{ THREE MGR(3, "d"), NULL, "there are 4 managers; write 3" },
	{ THREE MGR(3, "d") MGR(4, "e") MGR(5, "f") MGR(6, "g"), NULL,
	  "there are 7 managers; write 3" },
	{ MGR(0, "a") MGR(1, "b") MGR(3, "c"), NULL,
	  "[mgr.2] address: missing, with 3 managers" },
	{ MGR(1, "a"), NULL, "[mgr.0] address: missing, with 1 managers" },
	{ MGR(0, "a") MGR(1, "b") MGR(x, "c"), NULL,
	  "[mgr.2] address: missing, with 3 managers" },
	{ MGR(0, "a") MGR(1, "b") "[mgr.2]\nstorage = /s\n", NULL,
	  "[mgr.2] address: missing; add" },
	{ MGR(0, "a") MGR(1, "b") "[mgr.2]\naddress = pvfs://c\n", NULL,
	  "[mgr.2] storage: missing; add" },
	{ MGR(0, "a") MGR(1, "b") "[mgr.2]\naddress = pvfs://c\nstorage = s\n",
	  NULL, "[mgr.2] storage: write an absolute path" },
	{ MGR(0, "a") MGR(1, "b") MGR(2, "A:3000"), NULL,
	  "[mgr.2] address: is that of [mgr.0]" },
	{ MGR(0, "a") MGR(1, "b:1") MGR(2, "b:2"), NULL,
	  "[mgr.2] storage: is that of [mgr.1] on the same host" },
	{ MGR(0, "a") MGR(1, "0.0.0.0:4") MGR(2, "c"), NULL,
	  "[mgr.1] address: stands for any host" },
	{ MGR(0, "[::]") MGR(1, "b") MGR(2, "c"), NULL,
	  "[mgr.0] address: stands for any host" },
	{ MGR(0, "a") MGR(1, "b") MGR(2, TEN("123456789.")), NULL,
	  "[mgr.2] address: longer than 96 characters" },
	{ MGR(0, "a") MGR(1, "b") MGR(2, "c:x"), NULL,
	  "[mgr.2] address: not an address" },
};

static struct conf *file;
static char err[512];

static void load(const char *text)
{
	char name[] = "/tmp/test_manager_conf.XXXXXX";
	int fd = mkstemp(name);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	ck_assert_int_eq(conf_load(name, &file, err, sizeof(err)), 0);
	unlink(name);
}

START_TEST(reads_managers)
{
	struct conf_section in = { .name = "filesystem",
				   .err = err,
				   .errlen = sizeof(err) };
	struct server_mgrs mgrs = { .n = 77 };
	char hosts[512];
	int rc;

	load(files[_i].text);
	in.conf = file;
	rc = server_conf_managers(&in, &mgrs);
	conf_free(file);
	if (!files[_i].hosts) {
		ck_assert_int_eq(rc, -EINVAL);
		ck_assert_msg(strstr(err, files[_i].flaw), "%s", err);
		ck_assert_uint_eq(mgrs.n, 77);
		return;
	}
	ck_assert_msg(!rc, "%s", err);
	ck_assert_int_eq(server_mgrs_hosts(&mgrs, hosts, sizeof(hosts)), 0);
	ck_assert_str_eq(hosts, files[_i].hosts);
	ck_assert(mgrs.numbered == !!strstr(files[_i].text, "[mgr.0]"));
	ck_assert_int_eq(server_mgrs_hosts(&mgrs, hosts, strlen(hosts)),
			 -ENAMETOOLONG);
}
END_TEST

/* Iods and managers may not share an address. */
START_TEST(no_iod_has_the_address_of_a_manager)
{
	struct conf_section in = { .name = "filesystem",
				   .err = err,
				   .errlen = sizeof(err) };
	struct server_addrs all;

	load(THREE "[iod.0]\naddress = pvfs://c:3000\n");
	in.conf = file;
	ck_assert_int_eq(server_conf_addresses(&in, &all), -EINVAL);
	ck_assert_msg(strstr(err, "[iod.0] address: is that of [mgr]"), "%s",
		      err);
	conf_free(file);
	load(THREE "[iod.0]\naddress = pvfs://c\n");
	in.conf = file;
	ck_assert_int_eq(server_conf_addresses(&in, &all), 0);
	ck_assert_uint_eq(all.mgrs.n, 3);
	conf_free(file);
	free(all.iod);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("manager_conf");
	TCase *tc = tcase_create("manager_conf");

	tcase_add_loop_test(tc, reads_managers, 0,
			    (int)(sizeof(files) / sizeof(files[0])));
	tcase_add_test(tc, no_iod_has_the_address_of_a_manager);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
