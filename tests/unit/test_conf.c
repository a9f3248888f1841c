/* SPDX-License-Identifier: BSD-2-Clause */
/* test_conf.c - values of a configuration, and helpful messages. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/conf.h"
#include "tests/run_suite.h"

static char path[64];
static char err[512];
static struct conf *conf;

static const struct conf_section *in(const char *name)
{
	static struct conf_section section;

	section = (struct conf_section){ conf, name, err, sizeof(err) };
	return &section;
}

static void put_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

static int load(const char *text)
{
	put_file(text, strlen(text));
	err[0] = '\0';
	return conf_load(path, &conf, err, sizeof(err));
}

static void setup(void)
{
	int fd;

	strcpy(path, "/tmp/test_conf.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	conf = NULL;
}

static void teardown(void)
{
	conf_free(conf);
	unlink(path);
}

/* Checks that err is "PATH:LINE: ...want...". */
static void ck_err(int line, const char *want)
{
	char where[128];

	snprintf(where, sizeof(where), "%s:%d: ", path, line);
	ck_assert_msg(!strncmp(err, where, strlen(where)), "'%s' not at '%s'",
		      err, where);
	ck_assert_msg(strstr(err, want) != NULL, "no '%s' in '%s'", want, err);
}

static const char sample[] = "# comment\n"
			     "[filesystem]\n"
			     "id = 0123456789abcdef ; why not\n"
			     "  stripe_size=64K\n"
			     "\n"
			     "[iod.0]\r\n"
			     "\taddress = tcp://host:7000\r\n"
			     "sync = on\n"
			     "[filesystem]\n"
			     "stripe_count: 0\n"
			     "[iod.1]\n"
			     "empty =\n";

START_TEST(values)
{
	ck_assert_int_eq(load(sample), 0);
	ck_assert_str_eq(conf_get(in("filesystem"), "id"), "0123456789abcdef");
	ck_assert_str_eq(conf_get(in("filesystem"), "stripe_size"), "64K");
	ck_assert_str_eq(conf_get(in("filesystem"), "stripe_count"), "0");
	ck_assert_str_eq(conf_get(in("iod.0"), "address"), "tcp://host:7000");
	ck_assert_str_eq(conf_get(in("iod.1"), "empty"), "");
	ck_assert_ptr_null(conf_get(in("iod.1"), "address"));
	ck_assert_ptr_null(conf_get(in("iod.2"), "address"));
	ck_assert_ptr_null(conf_get(in("Filesystem"), "id"));
}
END_TEST

START_TEST(complaints_say_where)
{
	char want[128];

	ck_assert_int_eq(load(sample), 0);
	ck_assert_int_eq(conf_complain(in("iod.0"), "address", "no"), -EINVAL);
	ck_err(7, "[iod.0] address: no");
	conf_complain(in("filesystem"), "stripe_count", "no");
	ck_err(10, "[filesystem] stripe_count: no");
	conf_complain(in("iod.0"), "x", "no");
	snprintf(want, sizeof(want), "%s: [iod.0] x: no", path);
	ck_assert_str_eq(err, want);
}
END_TEST

START_TEST(empty_file)
{
	ck_assert_int_eq(load(""), 0);
	ck_assert_ptr_null(conf_get(in(""), ""));
}
END_TEST

START_TEST(no_file)
{
	ck_assert_int_eq(conf_load("/nonexistent/pvfs.conf", &conf, err,
				   sizeof(err)),
			 -ENOENT);
	ck_assert_str_eq(err, "/nonexistent/pvfs.conf: No such file or "
			      "directory; name a readable file with "
			      "--config");
	ck_assert_ptr_null(conf);
	ck_assert_int_eq(conf_load("/tmp", &conf, err, sizeof(err)), -EIO);
	ck_assert_ptr_null(conf);
}
END_TEST

START_TEST(malformed)
{
	static const struct {
		const char *text;
		int line;
		const char *want;
	} t[] = {
		{ "[a]\nb = 1\nrubbish\nc = 2\n", 3, "correct the line" },
		{ "[a\nb = 1\n", 1, "correct the line" },
		{ "[a]\nrubbish\nb = 1\nb = 2\n", 2, "correct the line" },
		{ "[a]\nb = 1\nb = 2\nrubbish\n", 3, "given in line 2" },
		{ "[a]\nb = 1\n[c]\nd = 1\n[a]\nb = 1\n", 6,
		  "given in line 2" },
		{ "[a]\nb = 1\n  b2 = 2\n  b2 = 3\n", 4, "given in line 3" },
	};

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ck_assert_int_eq(load(t[i].text), -EINVAL);
		ck_assert_ptr_null(conf);
		ck_err(t[i].line, t[i].want);
	}
}
END_TEST

START_TEST(nul_byte)
{
	put_file("[a]\nb = \0001\n", 11);
	ck_assert_int_eq(conf_load(path, &conf, err, sizeof(err)), -EINVAL);
	ck_err(2, "NUL");
}
END_TEST

START_TEST(long_line)
{
	char text[400] = "[a]\nb = ";
	size_t n = strlen(text);

	memset(text + n, 'x', 194);
	strcpy(text + n + 194, "\n");
	ck_assert_int_eq(load(text), 0);
	ck_assert_uint_eq(strlen(conf_get(in("a"), "b")), 194);
	conf_free(conf);
	conf = NULL;
	strcpy(text + n + 194, "x\n");
	ck_assert_int_eq(load(text), -EINVAL);
	ck_err(2, "too long");
	strcpy(text, "[a]\n  ");
	memset(text + 6, 'x', 300);
	strcpy(text + 306, "=1");
	ck_assert_int_eq(load(text), -EINVAL);
	ck_err(2, "too long");
}
END_TEST

START_TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t val;
	} t[] = {
		{ "0", 0 },
		{ "65536", 65536 },
		{ "64K", 65536 },
		{ "3M", 3 << 20 },
		{ "2G", 2ull << 30 },
		{ "1T", 1ull << 40 },
		{ "16777215T", 16777215ull << 40 },
		{ "18446744073709551615", UINT64_MAX },
	};
	char text[64];
	uint64_t val;

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(text, sizeof(text), "[a]\nb = %s\n", t[i].text);
		ck_assert_int_eq(load(text), 0);
		ck_assert_int_eq(conf_size(in("a"), "b", 0, UINT64_MAX, &val),
				 0);
		ck_assert_uint_eq(val, t[i].val);
		conf_free(conf);
		conf = NULL;
	}
}
END_TEST

START_TEST(bad_sizes)
{
	static const char *const t[] = { "",	      "x",
					 "-1",	      "+1",
					 "1k",	      "1KB",
					 "1.5K",      "0x10",
					 "1 K",	      "K",
					 "9",	      "101",
					 "16777216T", "18446744073709551616" };
	char text[64];
	uint64_t val = 42;

	for (unsigned int i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		snprintf(text, sizeof(text), "[a]\nb = %s\n", t[i]);
		ck_assert_int_eq(load(text), 0);
		ck_assert_msg(conf_size(in("a"), "b", 10, 100, &val) == -EINVAL,
			      "'%s'", t[i]);
		ck_err(2, "from 10 to 100");
		ck_assert_uint_eq(val, 42);
		conf_free(conf);
		conf = NULL;
	}
}
END_TEST

START_TEST(missing_keeps_the_default)
{
	uint64_t val = 42;
	unsigned int n = 43;
	bool b = true;

	ck_assert_int_eq(load("[a]\n"), 0);
	ck_assert_int_eq(conf_size(in("a"), "b", 1, 2, &val), 0);
	ck_assert_uint_eq(val, 42);
	ck_assert_int_eq(conf_uint(in("a"), "b", 1, 2, &n), 0);
	ck_assert_uint_eq(n, 43);
	ck_assert_int_eq(conf_bool(in("a"), "b", &b), 0);
	ck_assert(b);
}
END_TEST

START_TEST(bools)
{
	bool on = false;

	ck_assert_int_eq(load("[a]\n1=on\n2=off\n3=yes\n4=no\n5=true\n"
			      "6=false\n7=On\n8=1\n9=\n"),
			 0);
	for (char key[2] = "1"; key[0] <= '6'; key[0]++) {
		on = key[0] % 2 == 0;
		ck_assert_int_eq(conf_bool(in("a"), key, &on), 0);
		ck_assert(on == (key[0] % 2 == 1));
	}
	for (char key[2] = "7"; key[0] <= '9'; key[0]++) {
		ck_assert_int_eq(conf_bool(in("a"), key, &on), -EINVAL);
		ck_err(key[0] - '0' + 1, "neither on nor off");
	}
}
END_TEST

static const char *const known[] = { "filesystem.id", "iod.address",
				     "iod.sync",      "iod.*.address",
				     "iod.*.storage", NULL };

static int only(const char *text)
{
	int rc;

	ck_assert_int_eq(load(text), 0);
	rc = conf_only(conf, known, err, sizeof(err));
	conf_free(conf);
	conf = NULL;
	return rc;
}

START_TEST(only_known)
{
	ck_assert_int_eq(only("[filesystem]\nid=1\n[iod]\nsync=on\n"
			      "[iod.0]\naddress=x\n[iod.11]\nstorage=x\n"),
			 0);
	ck_assert_int_eq(only(""), 0);
	ck_assert_int_eq(only("[filesystem]\nid=1\nidd=2\n"), -EINVAL);
	ck_err(3, "unknown key 'idd' in [filesystem]; remove it or use one "
		  "of: id");
	ck_assert_int_eq(only("[iod.3]\naddress=x\nsync=on\n"), -EINVAL);
	ck_err(3, "one of: address, storage");
	ck_assert_int_eq(only("[file]\nid=1\n"), -EINVAL);
	ck_err(2, "unknown section [file]");
	ck_assert_int_eq(only("[filesystems]\nid=1\n"), -EINVAL);
	ck_err(2, "unknown section [filesystems]");
	ck_assert_int_eq(only("[io]\naddress=1\n"), -EINVAL);
	ck_err(2, "unknown section [io]");
	ck_assert_int_eq(only("[iod.x]\naddress=1\n"), -EINVAL);
	ck_err(2, "unknown section [iod.x]");
	ck_assert_int_eq(only("[iod.-1]\naddress=1\n"), -EINVAL);
	ck_assert_int_eq(only("[iod.01]\naddress=1\n"), -EINVAL);
	ck_assert_int_eq(only("[iod.9999999999]\naddress=1\n"), -EINVAL);
	ck_assert_int_eq(only("[iod.]\naddress=1\n"), -EINVAL);
	ck_assert_int_eq(only("id=1\n"), -EINVAL);
	ck_err(1, "unknown section []");
}
END_TEST

static int note(void *arg, const char *section)
{
	char *seen = arg;

	strcat(seen, section);
	strcat(seen, " ");
	return strcmp(section, "stop") ? 0 : 5;
}

START_TEST(sections)
{
	char seen[128] = "";

	ck_assert_int_eq(load("[b]\nx=1\n[a]\nx=1\ny=1\n[b]\ny=1\n[c]\nx=1\n"),
			 0);
	ck_assert_int_eq(conf_sections(conf, note, seen), 0);
	ck_assert_str_eq(seen, "b a c ");
	conf_free(conf);
	seen[0] = '\0';
	ck_assert_int_eq(load("[a]\nx=1\n[stop]\nx=1\n[c]\nx=1\n"), 0);
	ck_assert_int_eq(conf_sections(conf, note, seen), 5);
	ck_assert_str_eq(seen, "a stop ");
}
END_TEST

START_TEST(free_nothing)
{
	conf_free(NULL);
}
END_TEST

static Suite *conf_suite(void)
{
	Suite *suite = suite_create("conf");
	TCase *tc = tcase_create("conf");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, values);
	tcase_add_test(tc, complaints_say_where);
	tcase_add_test(tc, empty_file);
	tcase_add_test(tc, no_file);
	tcase_add_test(tc, malformed);
	tcase_add_test(tc, nul_byte);
	tcase_add_test(tc, long_line);
	tcase_add_test(tc, sizes);
	tcase_add_test(tc, bad_sizes);
	tcase_add_test(tc, missing_keeps_the_default);
	tcase_add_test(tc, bools);
	tcase_add_test(tc, only_known);
	tcase_add_test(tc, sections);
	tcase_add_test(tc, free_nothing);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(conf_suite());
}
