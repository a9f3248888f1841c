/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_copy.c - copies of a store in use.  Each copy opens in the state that the store had at
 * one moment during the copy.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr/backup/backup_int.h"
#include "tests/unit/member_rig.h"
#include "tests/unit/rnd.h"
#include "tests/unit/store_fixture.h"

#define ROWS 20000u
#define COPIES 6

static struct store_fixture fx;
static char dir[64];

static void setup(void)
{
	store_fx_setup(&fx);
	snprintf(dir, sizeof(dir), "/tmp/pvfs-copy-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_copy(void)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
	remove_copy();
}

static int copy_to_folder(struct store *st, const char *to)
{
	struct backup_folder folder = { .uid = (uid_t)-1 };
	const struct store_sink sink = { backup_folder_file, backup_folder_data,
					 &folder };
	int rc = backup_folder_open(&folder, to);

	if (rc)
		return rc;
	rc = store_copy(st, &sink);
	if (!rc)
		rc = backup_folder_publish(&folder);
	if (rc)
		backup_folder_discard(&folder);
	else
		backup_folder_close(&folder);
	return rc;
}

static int open_copy(struct store **st)
{
	struct store_attr attr = { .dir = dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };

	return store_open(&attr, st);
}

/* ---- copies while transactions run ---- */

static struct rnd rnd;
static atomic_uint_fast64_t flushed, begun; /* numbers of transactions */
static atomic_bool stop;

static void put_count(enum store_table table, uint64_t key, uint64_t count,
		      size_t len)
{
	uint8_t k[8], val[1000] = { 0 };

	memcpy(val, &count, sizeof(count));
	key_u64(k, key);
	ck_assert_int_eq(store_put(fx.st, table, k, sizeof(k), val, len), 0);
}

/* Transaction `count` writes its number into some rows, and into a row of another table. */
static void change_rows(uint64_t count)
{
	uint64_t from = rnd_in(&rnd, 0, ROWS - 1);

	ck_assert_int_eq(store_begin(fx.st), 0);
	for (uint64_t i = 0; i < 5; i++)
		put_count(STORE_INODES, (from + i * 997) % ROWS, count,
			  rnd_in(&rnd, 8, 400));
	put_count(STORE_DIRENTS, count % 1000, count, 900);
	put_count(STORE_OPENS, 0, count, 8);
	if (rnd_in(&rnd, 0, 9) == 0)
		store_abort(fx.st);
	else
		ck_assert_int_eq(store_commit(fx.st), 0);
}

static void *work(void *arg)
{
	for (uint64_t n = 1; !atomic_load(&stop); n++) {
		atomic_store(&begun, n);
		change_rows(n);
		if (n % 64 == 0) {
			ck_assert_int_eq(store_flush(fx.st), 0);
			atomic_store(&flushed, n - 10);
		}
		store_check_space(fx.st);
	}
	return NULL;
}

static void *make_checkpoints(void *arg)
{
	while (!atomic_load(&stop)) {
		ck_assert_int_eq(store_checkpoint(fx.st, 0), 0);
		usleep(20000);
	}
	return NULL;
}

static uint64_t count_in(const struct store_cursor *it)
{
	uint64_t count;

	memcpy(&count, it->val, sizeof(count));
	return count;
}

/* Returns the highest number in a table. */
static uint64_t last_count(struct store *st, enum store_table table)
{
	struct store_cursor it;
	uint64_t last = 0;

	ck_assert_int_eq(store_cursor_open(st, table, "", 0, &it), 0);
	while (!store_cursor_next(&it))
		if (count_in(&it) > last)
			last = count_in(&it);
	store_cursor_close(&it);
	return last;
}

/*
 * Checks that all tables have the state of one moment, between the begin and the end of the copy.
 */
static void check_copy(uint64_t least, uint64_t most)
{
	struct store_attr attr = { .dir = dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };
	struct store *st;
	uint64_t last;

	ck_assert_int_eq(store_check(&attr), 0);
	ck_assert_int_eq(open_copy(&st), 0);
	last = last_count(st, STORE_OPENS);
	ck_assert_uint_ge(last, least);
	ck_assert_uint_le(last, most);
	ck_assert_uint_eq(last_count(st, STORE_INODES), last);
	ck_assert_uint_eq(last_count(st, STORE_DIRENTS), last);
	store_close(st);
	remove_copy();
}

START_TEST(test_in_use)
{
	pthread_t worker, checkpointer;

	rnd_init(&rnd, 5);
	ck_assert_int_eq(pthread_create(&worker, NULL, work, NULL), 0);
	ck_assert_int_eq(
		pthread_create(&checkpointer, NULL, make_checkpoints, NULL), 0);
	for (int i = 0; i < COPIES; i++) {
		uint64_t least = atomic_load(&flushed);

		ck_assert_int_eq(copy_to_folder(fx.st, dir), 0);
		check_copy(least, atomic_load(&begun));
		usleep(100000);
	}
	atomic_store(&stop, true);
	pthread_join(worker, NULL);
	pthread_join(checkpointer, NULL);
}
END_TEST

/* ---- the files of a copy ---- */

START_TEST(test_folder)
{
	struct store *st;
	char path[96];

	store_fx_commit_row(&fx, 7);
	ck_assert_int_eq(copy_to_folder(fx.st, dir), 0);
	ck_assert_int_eq(copy_to_folder(fx.st, dir), -ENOTEMPTY);
	ck_assert_int_eq(open_copy(&st), 0);
	store_close(st);
	/* the log of a copy is checked like that of a store */
	snprintf(path, sizeof(path), "%s/db/log.0000000001", dir);
	ck_assert_int_eq(truncate(path, 4096), 0);
	ck_assert_int_eq(open_copy(&st), -EIO);
	ck_assert_int_eq(copy_to_folder(fx.st, "/nonexistent/dir"), -ENOENT);
	ck_assert(!store_failed(fx.st));
}
END_TEST

static int files, fail_at;

static int sink_file(void *arg, const char *name)
{
	return files++ == fail_at ? -EDQUOT : 0;
}

static int sink_data(void *arg, uint64_t offset, const void *bytes, size_t len)
{
	uint64_t *at = arg;

	ck_assert(offset == *at || !offset);
	*at = offset + len;
	return files == fail_at ? -EPIPE : 0;
}

/* An error of the sink ends the copy, and the store goes on. */
START_TEST(test_sink_error)
{
	uint64_t at = 0;
	const struct store_sink sink = { sink_file, sink_data, &at };
	int all;

	store_fx_commit_row(&fx, 7);
	fail_at = -1;
	files = 0;
	ck_assert_int_eq(store_copy(fx.st, &sink), 0);
	all = files;
	ck_assert_int_eq(all, STORE_TABLES + 2);
	for (int i = 0; i <= all; i++) {
		int rc;

		fail_at = i;
		files = 0;
		rc = store_copy(fx.st, &sink);
		ck_assert(rc == (i ? -EPIPE : -EDQUOT));
		ck_assert(!store_failed(fx.st));
	}
	store_fx_commit_row(&fx, 8);
	ck_assert_int_eq(store_checkpoint(fx.st, 0), 0);
	ck_assert_int_eq(store_flush(fx.st), 0);
}
END_TEST

/* ---- several managers ---- */

static struct rig rig;

/* A copy of the leader has only committed changes; a new member continues from it. */
START_TEST(test_new_member)
{
	struct rig_member leader, member;

	rig_init(&rig);
	rig_member_make(&leader, "leader");
	rig_member_make(&member, "member");
	ck_assert_int_eq(rig_open(&rig, &leader), 0);
	rig_lead(&rig, &leader);
	for (uint32_t n = 1; n <= 200; n++) {
		ck_assert_int_eq(store_begin(leader.st), 0);
		ck_assert_int_eq(rig_put(leader.st, n % 3, n % 20, n), 0);
		ck_assert_int_eq(store_commit(leader.st), 0);
		if (n % 7 == 0)
			ck_assert_int_eq(store_flush(leader.st), 0);
		if (n % 50 != 0)
			continue;
		ck_assert_int_eq(copy_to_folder(leader.st, member.dir), 0);
		ck_assert_int_eq(rig_open(&rig, &member), 0);
		rig_check_applied(&rig, &member);
		rig_apply_all(&rig, &member);
		rig_check_applied(&rig, &member);
		rig_close(&member);
		ck_assert_int_eq(store_flush(leader.st), 0);
		ck_assert_int_eq(rig_open(&rig, &member), 0);
		rig_apply_all(&rig, &member);
		ck_assert_uint_eq(rig_sum(member.st), rig_sum(leader.st));
		rig_member_remove(&member);
	}
	rig_member_remove(&leader);
	rig_free(&rig);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("copy");
	Suite *s = suite_create("mgr_copy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_in_use);
	tcase_add_test(tc, test_folder);
	tcase_add_test(tc, test_sink_error);
	tcase_add_test(tc, test_new_member);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
