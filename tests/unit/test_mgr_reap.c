/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_reap.c - the locks of an ended session are dropped, if necessary later. */
#include <errno.h>
#include <string.h>

#include "common/comm/progress/ctx.h"
#include "mgr/db/db_int.h"
#include "mgr/db/lock_rows.h"
#include "mgr/session/session_table_int.h"
#include "tests/unit/store_fixture.h"

#define SESSION 77u
#define FILE_ID 5u

static struct store_fixture fx;
static struct rpc_ctx ctx;
static struct session_table table;
static struct mgr mgr;
static unsigned int lines;

static void count_line(void *arg, enum log_level level, const char *msg)
{
	lines += strstr(msg, "the manager tries it again") != NULL;
}

static void put_session(void)
{
	const struct session_rec s = { .id = SESSION, .flags = SESSION_BYE };
	const struct lock_rec lock = { .handle = FILE_ID,
				       .session = SESSION,
				       .end = 1,
				       .type = LOCK_EXCLUSIVE };

	ck_assert_int_eq(ns_begin(&mgr.ns), 0);
	ck_assert_int_eq(session_put(fx.st, &s), 0);
	ck_assert_int_eq(lock_put(fx.st, &lock, 0), 0);
	ck_assert_int_eq(locker_put(fx.st, SESSION, FILE_ID, 1), 0);
	ck_assert_int_eq(ns_commit(&mgr.ns), 0);
}

static void setup(void)
{
	struct ns_attr ns = { .niods = 4, .ssize = 65536 };

	store_fx_setup(&fx);
	fx.log.sink = count_line;
	lines = 0;
	memset(&ctx, 0, sizeof(ctx));
	TAILQ_INIT(&ctx.dues);
	table = (struct session_table){ .mgr = &mgr };
	mgr = (struct mgr){
		.ctx = &ctx, .log = &fx.log, .st = fx.st, .sessions = &table
	};
	ns.st = fx.st;
	ck_assert_int_eq(ns_open_space(&mgr.ns, &ns), 0);
	ck_assert_int_eq(checkpointer_open(fx.st, &mgr.cp), 0);
	session_drops_open(&mgr);
	put_session();
}

static void teardown(void)
{
	session_drops_close(&mgr);
	checkpointer_close(mgr.cp);
	store_fx_teardown(&fx);
}

static void set_panic(int on)
{
	DB_ENV *env = fx.st->env;

	ck_assert_int_eq(env->set_flags(env, DB_PANIC_ENVIRONMENT, on), 0);
}

static bool has_session(void)
{
	struct session_rec rec;
	uint64_t handle;
	int rc = session_get(fx.st, SESSION, &rec);

	ck_assert_int_eq(locker_any(fx.st, SESSION, &handle), rc);
	return !rc;
}

static void reap_all(void)
{
	while (sessions_drop_some(&mgr))
		;
}

START_TEST(test_after_an_error)
{
	session_drop_later(&mgr, SESSION);
	set_panic(1);
	reap_all();
	table.retry.fire(&table.retry);
	reap_all();
	set_panic(0);
	ck_assert_uint_eq(lines, 1);
	ck_assert(has_session());
	ck_assert(table.retry.armed);
	table.retry.fire(&table.retry);
	reap_all();
	ck_assert(!has_session());
}
END_TEST

/* The same for files that were held until all sessions had declared their holds. */
START_TEST(test_settle_after_an_error)
{
	mgr.ns.holds.later = true;
	set_panic(1);
	ck_assert(!sessions_remove_unheld(&mgr));
	table.retry.fire(&table.retry);
	ck_assert(!sessions_remove_unheld(&mgr));
	set_panic(0);
	ck_assert_uint_eq(lines, 1);
	table.retry.fire(&table.retry);
	ck_assert(mgr.ns.holds.later);
	ck_assert(!sessions_remove_unheld(&mgr));
	table.retry.fire(&table.retry);
	ck_assert(!mgr.ns.holds.later);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_reap");
	TCase *tc = tcase_create("reap");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_after_an_error);
	tcase_add_test(tc, test_settle_after_an_error);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
