/* SPDX-License-Identifier: BSD-2-Clause */
/* test_log.c - lines reach the sink, complete, printable and by level. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/log.h"
#include "tests/run_suite.h"

struct caught {
	unsigned int lines;
	enum log_level level;
	char msg[2048];
};

static void catch_line(void *arg, enum log_level level, const char *msg)
{
	struct caught *c = arg;

	c->lines++;
	c->level = level;
	snprintf(c->msg, sizeof(c->msg), "%s", msg);
	errno = EIO; /* a sink may change it */
}

START_TEST(levels)
{
	struct caught c = { 0 };
	struct log log = { LOG_LV_WARN, catch_line, &c };

	log_info(&log, "no");
	log_debug(&log, "no");
	ck_assert_uint_eq(c.lines, 0);
	log_warn(&log, "iod %d: %s", 2, "gone");
	ck_assert_uint_eq(c.lines, 1);
	ck_assert_int_eq(c.level, LOG_LV_WARN);
	ck_assert_str_eq(c.msg, "iod 2: gone");
	log_error(&log, "e");
	ck_assert_uint_eq(c.lines, 2);
	log.level = LOG_LV_DEBUG;
	log_debug(&log, "d");
	ck_assert_uint_eq(c.lines, 3);
	log.level = LOG_LV_ERROR;
	log_always(&log, "iod %d", 2);
	ck_assert_uint_eq(c.lines, 4);
	ck_assert_int_eq(c.level, LOG_LV_INFO);
	ck_assert_str_eq(c.msg, "iod 2");
}
END_TEST

START_TEST(silence)
{
	struct log log = { LOG_LV_DEBUG, NULL, NULL };

	log_error(NULL, "nobody listens");
	log_error(&log, "nobody listens");
	log_always(NULL, "nobody listens");
	log_always(&log, "nobody listens");
}
END_TEST

START_TEST(errno_survives)
{
	struct caught c = { 0 };
	struct log log = { LOG_LV_INFO, catch_line, &c };

	errno = ENOENT;
	log_info(&log, "x");
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(c.lines, 1);
}
END_TEST

START_TEST(one_line)
{
	struct caught c = { 0 };
	struct log log = { LOG_LV_INFO, catch_line, &c };

	log_info(&log, "peer '%s'", "a\nerror: forged\x1b[31m\x7f-");
	ck_assert_str_eq(c.msg, "peer 'a?error: forged?[31m?-'");
	log_info(&log, "caf\xc3\xa9");
	ck_assert_str_eq(c.msg, "caf\xc3\xa9");
	log_info(&log, "\xc2\x9b"
		       "31m\xc2\xa0\xc2\x80\xc2");
	ck_assert_str_eq(c.msg, "??31m\xc2\xa0??\xc2");
}
END_TEST

START_TEST(long_line_is_cut)
{
	struct caught c = { 0 };
	struct log log = { LOG_LV_INFO, catch_line, &c };

	log_info(&log, "%01999d", 7);
	ck_assert_uint_eq(c.lines, 1);
	ck_assert_uint_eq(strlen(c.msg), 1023);
}
END_TEST

/* A peer that causes log lines repeatedly does not fill the disk. */
START_TEST(too_many)
{
	struct caught c = { 0 };
	struct log_budget budget = { 0 };
	struct log log = { LOG_LV_DEBUG, catch_line, &c, &budget };
	unsigned int i, n = 10 * LOG_BURST;

	for (i = 0; i < LOG_BURST; i++)
		log_warn(&log, "a");
	ck_assert_uint_eq(c.lines, LOG_BURST);
	for (i = 0; i < n; i++)
		log_info(&log, "b");
	ck_assert_uint_lt(c.lines, LOG_BURST + n / 2);
	/* these lines are always written */
	c.lines = 0;
	log_error(&log, "c");
	log_debug(&log, "c");
	log_always(&log, "c");
	ck_assert_uint_eq(c.lines, 3);
	/* later, a line reports that there were more */
	atomic_store(&budget.at, 0);
	atomic_store(&budget.left_out, 7);
	c.lines = 0;
	log_warn(&log, "d");
	ck_assert_uint_eq(c.lines, 2);
	log_warn(&log, "d");
	ck_assert_uint_eq(c.lines, 3);
}
END_TEST

START_TEST(to_file)
{
	struct log_file file = { .prefix = "pvfs-iod" };
	struct log log = { LOG_LV_DEBUG, log_to_file, &file };
	char *text;
	size_t len;

	file.out = open_memstream(&text, &len);
	ck_assert_ptr_nonnull(file.out);
	log_error(&log, "a");
	log_warn(&log, "b");
	log_info(&log, "c");
	log_debug(&log, "d");
	fclose(file.out);
	ck_assert_str_eq(text, "pvfs-iod: error: a\npvfs-iod: warn: b\n"
			       "pvfs-iod: info: c\npvfs-iod: debug: d\n");
	free(text);
}
END_TEST

START_TEST(level_names)
{
	static const char *const bad[] = { "", "Info", "information", "warn ",
					   "2" };
	enum log_level lv = LOG_LV_WARN;

	for (unsigned int i = 0; i < 5; i++) {
		ck_assert_int_eq(log_level_parse(bad[i], &lv), -EINVAL);
		ck_assert_int_eq(lv, LOG_LV_WARN);
	}
	ck_assert_int_eq(log_level_parse("error", &lv), 0);
	ck_assert_int_eq(lv, LOG_LV_ERROR);
	ck_assert_int_eq(log_level_parse("warn", &lv), 0);
	ck_assert_int_eq(lv, LOG_LV_WARN);
	ck_assert_int_eq(log_level_parse("info", &lv), 0);
	ck_assert_int_eq(lv, LOG_LV_INFO);
	ck_assert_int_eq(log_level_parse("debug", &lv), 0);
	ck_assert_int_eq(lv, LOG_LV_DEBUG);
}
END_TEST

static Suite *log_suite(void)
{
	Suite *suite = suite_create("log");
	TCase *tc = tcase_create("log");

	tcase_add_test(tc, levels);
	tcase_add_test(tc, silence);
	tcase_add_test(tc, errno_survives);
	tcase_add_test(tc, one_line);
	tcase_add_test(tc, long_line_is_cut);
	tcase_add_test(tc, too_many);
	tcase_add_test(tc, to_file);
	tcase_add_test(tc, level_names);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(log_suite());
}
