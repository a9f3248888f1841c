/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_term.c - terms of managers, and the record that another manager has the iods. */
#include <string.h>

#include "mgr/db/db_int.h"
#include "mgr/jobs/jobs_int.h"
#include "tests/unit/store_fixture.h"

static struct store_fixture fx;
static struct mgr_jobs jobs;
static struct mgr mgr;
static unsigned int lines; /* log lines about the record */

static void count_line(void *arg, enum log_level level, const char *msg)
{
	lines += strstr(msg, "cannot record") != NULL;
}

static void wake(void *arg)
{
}

static void setup(void)
{
	store_fx_setup(&fx);
	fx.log.sink = count_line;
	lines = 0;
	mgr = (struct mgr){
		.log = &fx.log, .st = fx.st, .ns.st = fx.st, .jobs = &jobs
	};
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

static void set_panic(int on)
{
	DB_ENV *env = fx.st->env;

	ck_assert_int_eq(env->set_flags(env, DB_PANIC_ENVIRONMENT, on), 0);
}

/* The store begins no transaction, so there is none to abort. */
START_TEST(test_store_failed)
{
	set_panic(1);
	jobs_note_displaced(&mgr);
	set_panic(0); /* lets the store close */
	ck_assert_uint_eq(lines, 1);
}
END_TEST

/* Starts one manager, or the leader of several in this term of their log. */
static uint64_t start_manager(uint64_t group_term)
{
	jobs = (struct mgr_jobs){ 0 };
	mgr.group_term = group_term;
	ck_assert_int_eq(flusher_open(fx.st, 0, 1, wake, NULL, &mgr.fl), 0);
	ck_assert_int_eq(checkpointer_open(fx.st, &mgr.cp), 0);
	ck_assert_int_eq(term_open(&mgr), 0);
	checkpointer_close(mgr.cp);
	flusher_close(mgr.fl);
	return jobs.term;
}

/* The term rises with each start, also if the log of the managers begins again. */
START_TEST(test_terms)
{
	ck_assert_uint_eq(start_manager(0), 1);
	ck_assert_uint_eq(start_manager(0), 2);
	ck_assert_uint_eq(start_manager(1), 3);
	ck_assert_uint_eq(start_manager(6), 8);
	ck_assert_uint_eq(start_manager(0), 9); /* alone again */
	ck_assert_uint_eq(start_manager(2), 11);
	ck_assert_uint_eq(start_manager(3), 12);
	ck_assert_uint_eq(start_manager(1), 13);
	ck_assert_uint_eq(start_manager(2), 14);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_term");
	TCase *tc = tcase_create("term");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_store_failed);
	tcase_add_test(tc, test_terms);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
