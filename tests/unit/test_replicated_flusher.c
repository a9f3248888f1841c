/* SPDX-License-Identifier: BSD-2-Clause */
/* test_replicated_flusher.c - items that wait for the log of several managers. */
#include "mgr/state/flusher.h"
#include "tests/run_suite.h"
#include "tests/unit/member_rig.h"

#include <check.h>

#define MOST_DEFERRED 2u

static struct rig rig;
static struct rig_member leader;
static struct flusher *fl;
static bool leads;
static unsigned int proposed, collected, durable;

/* ---- the managers' log ---- */

static void log_propose(void *arg)
{
	proposed++;
}

static void log_collect(void *arg)
{
	collected++;
}

static bool log_leads(void *arg)
{
	return leads;
}

static int log_wait(void *arg)
{
	return rig_flush(&rig);
}

static void setup(void)
{
	static const struct managers_log log = { .propose = log_propose,
						 .collect = log_collect,
						 .leads = log_leads,
						 .wait = log_wait };

	proposed = collected = durable = 0;
	leads = true;
	rig_init(&rig);
	rig.takes_entries = true;
	rig_member_make(&leader, "flusher");
	ck_assert_int_eq(rig_open(&rig, &leader), 0);
	rig_lead(&rig, &leader);
	ck_assert_int_eq(flusher_open_replicated(leader.st, &log, MOST_DEFERRED,
						 &fl),
			 0);
}

static void teardown(void)
{
	flusher_close(fl);
	rig_member_remove(&leader);
	rig_free(&rig);
}

/* ---- items ---- */

static void on_durable(struct flusher_item *item)
{
	durable++;
}

static struct flusher_item item_of(void)
{
	return (struct flusher_item){ .durable = on_durable };
}

static void commit_change(unsigned int key)
{
	ck_assert_int_eq(store_begin(leader.st), 0);
	ck_assert_int_eq(rig_put(leader.st, 0, key, key + 1), 0);
	ck_assert_int_eq(store_commit(leader.st), 0);
}

/* The owner never flushes, and durable() is only called in flusher_collect(). */
static void submit(void)
{
	ck_assert(!flusher_will_flush_here(fl));
	ck_assert(!flusher_submit(fl));
}

static void collect(unsigned int n)
{
	unsigned int before = durable, calls = collected;

	ck_assert_int_eq(flusher_collect(fl), (int)n);
	ck_assert_uint_eq(durable, before + n);
	ck_assert_uint_eq(collected, calls + 1);
}

START_TEST(test_change)
{
	struct flusher_item a = item_of(), b = item_of();

	commit_change(1);
	flusher_add(fl, &a);
	submit();
	ck_assert_uint_eq(proposed, 1);
	collect(0);
	ck_assert_int_eq(rig_flush(&rig), 0);
	/* committed after a was submitted: a does not wait for it */
	commit_change(2);
	flusher_add(fl, &b);
	submit();
	collect(1);
	ck_assert_uint_eq(flusher_count(fl), 1);
	collect(0);
	ck_assert_int_eq(flusher_wait(fl), 0);
	collect(1);
	ck_assert(flusher_is_empty(fl));
}
END_TEST

/* A read waits only if a change is not committed. */
START_TEST(test_read)
{
	struct flusher_item first = item_of(), second = item_of(),
			    third = item_of();

	ck_assert(flusher_add_read(fl, &first));
	ck_assert_uint_eq(durable, 1);
	commit_change(1);
	ck_assert(!flusher_add_read(fl, &second));
	submit();
	ck_assert_uint_eq(proposed, 1);
	collect(0);
	ck_assert_int_eq(rig_flush(&rig), 0);
	ck_assert(flusher_add_read(fl, &third));
	collect(1);
}
END_TEST

/* While another manager may lead, nothing is released, and nothing is lost. */
START_TEST(test_lease)
{
	struct flusher_item change = item_of(), read = item_of();

	commit_change(1);
	flusher_add(fl, &change);
	submit();
	leads = false;
	ck_assert(!flusher_leads(fl));
	ck_assert_int_eq(rig_flush(&rig), 0);
	collect(0);
	ck_assert(!flusher_add_read(fl, &read));
	submit();
	collect(0);
	leads = true;
	ck_assert(flusher_leads(fl));
	collect(2);
}
END_TEST

START_TEST(test_deferred)
{
	struct flusher_item deferred[MOST_DEFERRED] = { item_of(), item_of() };

	commit_change(1);
	flusher_add_deferred(fl, &deferred[0]);
	submit();
	ck_assert_uint_eq(proposed, 0);
	flusher_add_deferred(fl, &deferred[1]);
	submit();
	ck_assert_uint_eq(proposed, 1);
	ck_assert_int_eq(rig_flush(&rig), 0);
	collect(2);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("flusher");
	Suite *s = suite_create("replicated_flusher");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_change);
	tcase_add_test(tc, test_read);
	tcase_add_test(tc, test_lease);
	tcase_add_test(tc, test_deferred);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
