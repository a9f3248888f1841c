/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_conf.c - the domains of the iods, and the number of copies, in the manager's settings. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/state/mgr_conf.h"
#include "tests/run_suite.h"

#define IOD(n, host, more)                                                     \
	"[iod." #n "]\naddress = pvfs://" host ":700" #n "\nstorage = /s" #n   \
	"\n" more
#define ALL                                                                    \
	IOD(0, "a", "rack = r1\npower = x\n")                                  \
	IOD(1, "b", "rack = r2\npower = x\nhost = A\n")                        \
	IOD(2, "b", "rack = r1\n") IOD(3, "a", "rack = r3\npower =\n")

static const struct {
	const char *line; /* of [filesystem] */
	uint32_t number[4];
	const char *flaw; /* NULL: no error */
} cases[] = {
	{ "", { 0, 0, 2, 0 }, NULL },
	{ "domain = host\n", { 0, 0, 2, 0 }, NULL },
	{ "domain = iod\n", { 0, 1, 2, 3 }, NULL },
	{ "domain = rack\n", { 0, 1, 0, 3 }, NULL },
	{ "domain = power\n",
	  { 0 },
	  "[iod.2] power: missing; [filesystem] domain requires it" },
	{ "copies = 1\n", { 0, 0, 2, 0 }, NULL },
	{ "copies = 2\n",
	  { 0 },
	  "[filesystem] copies: this release stores one" },
	{ "copies = 0\n",
	  { 0 },
	  "'copies = 0' in [filesystem] is out of range" },
	{ "domain = room\n",
	  { 0 },
	  "[filesystem] domain: write iod, host, rack or power" },
};

static int load(const char *line, struct mgr_conf *conf, char err[512])
{
	char path[] = "/tmp/test_mgr_conf.XXXXXX", text[1024];
	int fd = mkstemp(path), len, rc;

	ck_assert_int_ge(fd, 0);
	len = snprintf(text, sizeof(text),
		       "[filesystem]\nid = 0123456789abcdef\n%s[mgr]\n"
		       "address = pvfs://a:3000\nstorage = /m\n%s",
		       line, ALL);
	ck_assert_int_eq(write(fd, text, (size_t)len), len);
	close(fd);
	rc = mgr_conf_load(path, 0, conf, err, 512);
	unlink(path);
	return rc;
}

START_TEST(numbers_domains)
{
	struct mgr_conf conf, copy;
	char err[512];
	int rc = load(cases[_i].line, &conf, err);

	if (cases[_i].flaw) {
		ck_assert_int_eq(rc, -EINVAL);
		ck_assert_msg(strstr(err, cases[_i].flaw), "%s", err);
		return;
	}
	ck_assert_msg(!rc, "%s", err);
	ck_assert_int_eq(mgr_conf_copy(&copy, &conf), 0);
	mgr_conf_free(&conf);
	ck_assert_uint_eq(copy.niods, 4);
	ck_assert_mem_eq(copy.domain, cases[_i].number,
			 sizeof(cases[_i].number));
	mgr_conf_free(&copy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_conf");
	TCase *tc = tcase_create("mgr_conf");

	tcase_add_loop_test(tc, numbers_domains, 0,
			    (int)(sizeof(cases) / sizeof(cases[0])));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
