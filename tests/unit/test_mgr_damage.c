/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_damage.c - tables that are lost or damaged are no truth: the store is
 * not opened.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "store_fixture.h"

static struct store_fixture fx;

static void setup(void)
{
	store_fx_setup(&fx);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

/* An empty one in its place would be taken for the truth. */
START_TEST(test_lost_table)
{
	static const char *const table[] = { "inodes",	"dirents", "opens",
					     "replies", "lockers", "meta" };
	struct store_attr attr = { fx.dir, 1 << 20, &fx.log };
	char path[128];

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(store_put(fx.st, STORE_INODES, "12345678", 8, "x", 1),
			 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	snprintf(path, sizeof(path), "%s/db/%s", fx.dir, table[_i]);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(store_open(&attr, &fx.st), -EIO);
	ck_assert_int_eq(store_open(&attr, &fx.st), -EIO);
}
END_TEST

static bool advised;

static void catch_advice(void *arg, enum log_level level, const char *msg)
{
	if (strstr(msg, "restore the folder from a backup"))
		advised = true;
	log_to_file(arg, level, msg);
}

static const char *const damage[] = {
	"dd if=/dev/zero of=%s bs=4096 count=1 seek=1 conv=notrunc",
	"dd if=/dev/zero of=%s bs=4096 count=1 seek=2 conv=notrunc",
	"truncate -s -4096 %s && truncate -s +4096 %s",
	"dd if=/dev/zero of=%s bs=4096 count=1 conv=notrunc",
	"dd if=/dev/urandom of=%s bs=4096 count=1 seek=1 conv=notrunc",
	"printf x | dd of=%s bs=1 count=1 seek=6000 conv=notrunc",
	"truncate -s 0 %s",
	"truncate -s 4096 %s",
	"truncate -s 8192 %s",
	"rm $(dirname %s)/log.*",
};

/* 0: an open fails, with advice. */
static int open_damaged(void)
{
	struct store_attr attr = { fx.dir, 1 << 20, &fx.log };

	advised = false;
	fx.log.sink = catch_advice;
	return store_open(&attr, &fx.st) != -EIO || !advised;
}

/* In a child, as Berkeley DB does not free everything after a failure. */
static void refuse_damaged(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(open_damaged());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Found out at the start, not when somebody needs it. */
START_TEST(test_damaged_table)
{
	char path[80], cmd[256];
	uint8_t key[8];

	ck_assert_int_eq(store_begin(fx.st), 0);
	for (uint64_t i = 0; i < 2000; i++) {
		key_u64(key, i);
		ck_assert_int_eq(store_put(fx.st, STORE_INODES, key, 8, &i, 8),
				 0);
	}
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	store_fx_open(&fx); /* as it is, it is taken */
	store_fx_close(&fx);
	snprintf(path, sizeof(path), "%s/db/inodes", fx.dir);
	snprintf(cmd, sizeof(cmd), damage[_i], path, path);
	ck_assert_int_eq(system(cmd), 0);
	refuse_damaged();
}
END_TEST

/* Nor does a table that had rows pass for an empty one, whichever it is. */
START_TEST(test_zeroed_root)
{
	static const char *const table[] = { "meta",	 "inodes",  "dirents",
					     "symlinks", "opens",   "sessions",
					     "replies",	 "intents", "tombs",
					     "locks",	 "lockers" };
	char cmd[256];

	_Static_assert(sizeof(table) / sizeof(table[0]) == STORE_TABLES, "");
	ck_assert_int_eq(store_begin(fx.st), 0);
	for (int t = STORE_INODES; t < STORE_TABLES; t++)
		ck_assert_int_eq(store_put(fx.st, (enum store_table)t, "key", 3,
					   "v", 1),
				 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	snprintf(cmd, sizeof(cmd),
		 "dd if=/dev/zero of=%s/db/%s bs=4096 count=1 seek=1 "
		 "conv=notrunc",
		 fx.dir, table[_i]);
	ck_assert_int_eq(system(cmd), 0);
	refuse_damaged();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("store");
	Suite *s = suite_create("mgr_damage");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_lost_table, 0, 6);
	tcase_add_loop_test(tc, test_damaged_table, 0,
			    sizeof(damage) / sizeof(damage[0]));
	tcase_add_loop_test(tc, test_zeroed_root, 0, STORE_TABLES);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
