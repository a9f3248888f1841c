/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_store.c - the tables, the transaction, recovery after a process
 * that died, identifiers that never come twice, group commit.
 */
#include <check.h>
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flusher.h"
#include "intents.h"
#include "run_suite.h"
#include "sessions.h"
#include "tombs.h"

static char dir[64];
static struct log_file out;
static struct log logger;
static struct store *st;

static void open_store(void)
{
	struct store_attr attr = { dir, 1 << 20, &logger };

	ck_assert_int_eq(store_open(&attr, &st), 0);
}

/* A test that fails before the next open_store() has none to take down. */
static void close_store(void)
{
	store_close(st);
	st = NULL;
}

static void setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/pvfs-st-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	out = (struct log_file){ stderr, "test" };
	logger = (struct log){ LOG_LV_WARN, log_to_file, &out };
	open_store();
}

static void teardown(void)
{
	char cmd[128];

	store_close(st);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static int put_row(uint32_t n)
{
	uint8_t key[8];

	key_u64(key, n);
	return store_put(st, STORE_META, key, 8, &n, sizeof(n));
}

static int get_row(uint32_t n)
{
	uint8_t key[8];
	uint32_t val = 0;
	size_t len;
	int rc;

	key_u64(key, n);
	rc = store_get(st, STORE_META, key, 8, &val, sizeof(val), &len);
	if (!rc)
		ck_assert_uint_eq(val, n);
	return rc;
}

static void commit_row(uint32_t n)
{
	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_int_eq(put_row(n), 0);
	ck_assert_int_eq(store_commit(st), 0);
}

START_TEST(test_rows)
{
	ck_assert_int_eq(get_row(1), -ENOENT);
	ck_assert_int_eq(store_begin(st), 0);
	ck_assert(!store_changed(st));
	ck_assert_int_eq(put_row(1), 0);
	ck_assert(store_changed(st));
	ck_assert_int_eq(get_row(1), 0);
	store_abort(st);
	ck_assert_int_eq(get_row(1), -ENOENT);
	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_int_eq(put_row(2), 0);
	ck_assert_int_eq(store_insert(st, STORE_META, "k", 1, "v", 1), 0);
	ck_assert_int_eq(store_insert(st, STORE_META, "k", 1, "w", 1), -EEXIST);
	ck_assert_int_eq(store_del(st, STORE_META, "x", 1), -ENOENT);
	ck_assert_int_eq(store_del(st, STORE_META, "k", 1), 0);
	ck_assert_int_eq(store_commit(st), 0);
	ck_assert_int_eq(get_row(2), 0);
	ck_assert_int_eq(store_get(st, STORE_META, "k", 1, NULL, 0, NULL),
			 -ENOENT);
	ck_assert(!store_failed(st));
}
END_TEST

START_TEST(test_walk)
{
	struct store_iter it;
	uint8_t key[8];
	uint32_t n = 10;

	for (uint32_t i = 0; i < 1000; i++)
		commit_row(i * 10);
	key_u64(key, 7);
	ck_assert_int_eq(store_iter_open(st, STORE_META, key, 8, &it), 0);
	while (!store_iter_next(&it) && it.key[0] == 0) {
		ck_assert_uint_eq(key_get_u64(it.key), n);
		commit_row(n - 5); /* behind the walk: pages split under it */
		n += 10;
	}
	store_iter_close(&it);
	ck_assert_uint_eq(n, 10000);
}
END_TEST

/* A process that dies at once, without closing anything. */
static void die_after(void (*fn)(void))
{
	pid_t pid;
	int status;

	close_store();
	pid = fork();
	if (!pid) {
		open_store();
		fn();
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	open_store();
}

static void half_flushed(void)
{
	for (uint32_t i = 0; i < 500; i++)
		commit_row(i);
	store_flush(st);
	for (uint32_t i = 500; i < 1000; i++)
		commit_row(i);
	store_begin(st);
	put_row(1000);
}

START_TEST(test_recovery)
{
	uint32_t n = 0;

	die_after(half_flushed);
	while (n < 1001 && !get_row(n))
		n++;
	ck_assert_uint_ge(n, 500);
	ck_assert_uint_le(n, 1000);
	for (uint32_t i = n; i < 1001; i++)
		ck_assert_int_eq(get_row(i), -ENOENT);
}
END_TEST

/* An empty one in its place would be taken for the truth. */
START_TEST(test_lost_table)
{
	static const char *const table[] = { "inodes",	"dirents", "opens",
					     "replies", "lockers", "meta" };
	struct store_attr attr = { dir, 1 << 20, &logger };
	char path[128];

	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_int_eq(store_put(st, STORE_INODES, "12345678", 8, "x", 1), 0);
	ck_assert_int_eq(store_commit(st), 0);
	close_store();
	snprintf(path, sizeof(path), "%s/db/%s", dir, table[_i]);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(store_open(&attr, &st), -EIO);
	ck_assert_int_eq(store_open(&attr, &st), -EIO);
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
	struct store_attr attr = { dir, 1 << 20, &logger };

	advised = false;
	logger.sink = catch_advice;
	return store_open(&attr, &st) != -EIO || !advised;
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

	ck_assert_int_eq(store_begin(st), 0);
	for (uint64_t i = 0; i < 2000; i++) {
		key_u64(key, i);
		ck_assert_int_eq(store_put(st, STORE_INODES, key, 8, &i, 8), 0);
	}
	ck_assert_int_eq(store_commit(st), 0);
	close_store();
	open_store(); /* as it is, it is taken */
	close_store();
	snprintf(path, sizeof(path), "%s/db/inodes", dir);
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
	ck_assert_int_eq(store_begin(st), 0);
	for (int t = STORE_INODES; t < STORE_TABLES; t++)
		ck_assert_int_eq(store_put(st, (enum store_table)t, "key", 3,
					   "v", 1),
				 0);
	ck_assert_int_eq(store_commit(st), 0);
	close_store();
	snprintf(cmd, sizeof(cmd),
		 "dd if=/dev/zero of=%s/db/%s bs=4096 count=1 seek=1 "
		 "conv=notrunc",
		 dir, table[_i]);
	ck_assert_int_eq(system(cmd), 0);
	refuse_damaged();
}
END_TEST

static void give_ids(void)
{
	store_begin(st);
	for (int i = 0; i < 1000; i++)
		store_id(st);
	store_abort(st);
}

START_TEST(test_ids)
{
	uint64_t last;

	ck_assert_int_eq(store_begin(st), 0);
	last = store_id(st);
	ck_assert_uint_eq(store_id(st), last + 1);
	store_abort(st);
	die_after(give_ids);
	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_uint_gt(store_id(st), last + 1001);
	store_abort(st);
	/* over the end of a range */
	ck_assert_int_eq(store_begin(st), 0);
	last = store_id(st);
	for (int i = 0; i < 600000; i++)
		store_id(st);
	ck_assert_int_eq(store_commit(st), 0);
	ck_assert_int_eq(store_begin(st), 0);
	for (int i = 0; i < 600000; i++)
		store_id(st);
	ck_assert_uint_eq(store_id(st), last + 1200001);
	ck_assert_int_eq(store_commit(st), 0);
}
END_TEST

START_TEST(test_hash)
{
	uint64_t a = store_hash(st, "name", 4), b = store_hash(st, "nam", 3);

	ck_assert_uint_ge(a, 3);
	ck_assert_uint_le(a, INT64_MAX);
	ck_assert_uint_ne(a, b);
	close_store();
	open_store();
	ck_assert_uint_eq(store_hash(st, "name", 4), a);
}
END_TEST

static int count_slot(void *arg, unsigned int slot, const struct reply_rec *rec)
{
	unsigned int *n = arg;

	ck_assert_uint_eq(rec->seq, slot + 100);
	(*n)++;
	return 0;
}

START_TEST(test_sessions)
{
	struct session_rec s = { .id = 9, .uid = 1, .name = "h:1:prog" }, t;
	struct reply_rec r = { .kind = REPLY_DONE, .len = 5, .bytes = "hallo" };
	unsigned int n = 0;

	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_int_eq(session_put(st, &s), 0);
	for (unsigned int slot = 0; slot < 300; slot++) {
		r.seq = slot + 100;
		ck_assert_int_eq(reply_put(st, 9, slot, &r), 0);
		ck_assert_int_eq(reply_put(st, 10, slot, &r), 0);
	}
	ck_assert_int_eq(store_commit(st), 0);
	ck_assert_int_eq(session_get(st, 9, &t), 0);
	ck_assert_str_eq(t.name, s.name);
	ck_assert_int_eq(reply_get(st, 9, 7, &r), 0);
	ck_assert_uint_eq(r.seq, 107);
	ck_assert_mem_eq(r.bytes, "hallo", 5);
	ck_assert_int_eq(store_begin(st), 0);
	ck_assert_int_eq(session_del(st, 9), 0);
	ck_assert_int_eq(store_commit(st), 0);
	ck_assert_int_eq(session_get(st, 9, &t), -ENOENT);
	ck_assert_int_eq(reply_walk(st, 9, count_slot, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(reply_walk(st, 10, count_slot, &n), 0);
	ck_assert_uint_eq(n, 300);
}
END_TEST

static int collect(void *arg, uint64_t session)
{
	uint64_t **next = arg;

	*(*next)++ = session;
	return 0;
}

/* Sessions 1001, 1002, ... are ended a second after each other. */
static uint64_t bury(uint64_t n, const struct tomb_limit *limit,
		     uint64_t left[16])
{
	uint64_t last = 99, *next = left;

	for (uint64_t i = 1; i <= n; i++) {
		ck_assert_int_eq(store_begin(st), 0);
		ck_assert_int_eq(tomb_add(st, i, 1000 + i, (int64_t)i, limit),
				 0);
		ck_assert_int_eq(store_commit(st), 0);
	}
	ck_assert_int_eq(tomb_walk(st, collect, &next, &last), 0);
	ck_assert_uint_eq(last, n);
	return (uint64_t)(next - left);
}

START_TEST(test_tombs)
{
	struct tomb_limit many = { .max = 3, .keep = 100 };
	struct tomb_limit old = { .max = 100, .keep = 4 };
	uint64_t left[16];

	ck_assert_uint_eq(bury(0, &many, left), 0);
	ck_assert_uint_eq(bury(9, &many, left), 3);
	ck_assert_uint_eq(left[0], 1007);
	ck_assert_uint_eq(left[2], 1009);
	/* ended at 6 and earlier is older than 4 at 11 */
	ck_assert_uint_eq(bury(11, &old, left), 5);
	ck_assert_uint_eq(left[0], 1007);
	ck_assert_uint_eq(left[4], 1011);
}
END_TEST

START_TEST(test_intents)
{
	struct intent in = { .kind = INTENT_REMOVE, .pcount = 4 }, got[10];

	ck_assert_int_eq(store_begin(st), 0);
	for (in.id = 1; in.id <= 25; in.id++) {
		in.handle = in.id * 2;
		ck_assert_int_eq(intent_put(st, &in), 0);
	}
	in.kind = INTENT_RESIZE;
	in.id = 3;
	ck_assert_int_eq(intent_put(st, &in), 0);
	ck_assert_int_eq(intent_del(st, INTENT_REMOVE, 3), 0);
	ck_assert_int_eq(store_commit(st), 0);
	ck_assert_int_eq(intent_read(st, INTENT_REMOVE, 1, got, 10), 10);
	ck_assert_uint_eq(got[0].id, 2);
	ck_assert_uint_eq(got[1].id, 4);
	ck_assert_uint_eq(got[1].handle, 8);
	ck_assert_int_eq(intent_read(st, INTENT_REMOVE, 20, got, 10), 5);
	ck_assert_int_eq(intent_read(st, INTENT_RESIZE, 0, got, 10), 1);
	ck_assert_int_eq(intent_next(st, INTENT_RESIZE, 3, got), -ENOENT);
}
END_TEST

static sem_t woken;
static unsigned int durable;

static void wake(void *arg)
{
	sem_post(&woken);
}

static void on_durable(struct flusher_item *item)
{
	durable++;
}

static void collect_all(struct flusher *fl)
{
	while (!flusher_idle(fl)) {
		sem_wait(&woken);
		ck_assert_int_ge(flusher_collect(fl), 0);
	}
}

/* By the thread, and by the owner, who then is not woken. */
static const uint64_t quick_ns[] = { 0, UINT64_MAX };

static void submit(struct flusher *fl, bool here)
{
	bool idle = !flusher_gathers(fl);

	if (flusher_submit(fl)) {
		ck_assert(here && !idle);
		sem_post(&woken);
	}
}

START_TEST(test_flusher)
{
	struct flusher_item items[100];
	struct flusher *fl;
	struct checkpointer *cp;

	durable = 0;
	sem_init(&woken, 0, 0);
	ck_assert_int_eq(flusher_open(st, quick_ns[_i], wake, NULL, &fl), 0);
	ck_assert_int_eq(checkpointer_open(st, &cp), 0);
	for (uint32_t i = 0; i < 100; i++) {
		items[i].durable = on_durable;
		commit_row(i);
		flusher_add(fl, &items[i]);
		checkpointer_note(cp);
		if (i % 7 == 6)
			submit(fl, _i);
	}
	ck_assert_uint_eq(durable, 0); /* never outside flusher_collect() */
	submit(fl, _i);
	collect_all(fl);
	ck_assert_uint_eq(durable, 100);
	flusher_close(fl);
	checkpointer_close(cp);
	sem_destroy(&woken);
}
END_TEST

/* One flush for an item in no hurry and the one that it waited for. */
START_TEST(test_late)
{
	struct flusher_item late = { .durable = on_durable };
	struct flusher_item item = { .durable = on_durable };
	struct flusher *fl;
	int rounds;

	durable = 0;
	sem_init(&woken, 0, 0);
	ck_assert_int_eq(flusher_open(st, quick_ns[_i], wake, NULL, &fl), 0);
	flusher_add_late(fl, &late);
	submit(fl, _i);
	ck_assert(!flusher_idle(fl));
	flusher_add(fl, &item);
	submit(fl, _i);
	collect_all(fl);
	ck_assert_uint_eq(durable, 2);
	ck_assert_int_eq(sem_getvalue(&woken, &rounds), 0);
	ck_assert_int_eq(rounds, 0); /* collect_all() took the only one */
	/* and without company */
	flusher_add_late(fl, &late);
	submit(fl, _i);
	flusher_hurry(fl);
	submit(fl, _i);
	collect_all(fl);
	ck_assert_uint_eq(durable, 3);
	flusher_close(fl);
	sem_destroy(&woken);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("store");
	Suite *s = suite_create("mgr_store");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_rows);
	tcase_add_test(tc, test_walk);
	tcase_add_test(tc, test_recovery);
	tcase_add_loop_test(tc, test_lost_table, 0, 6);
	tcase_add_loop_test(tc, test_damaged_table, 0,
			    sizeof(damage) / sizeof(damage[0]));
	tcase_add_loop_test(tc, test_zeroed_root, 0, STORE_TABLES);
	tcase_add_test(tc, test_ids);
	tcase_add_test(tc, test_hash);
	tcase_add_test(tc, test_sessions);
	tcase_add_test(tc, test_tombs);
	tcase_add_test(tc, test_intents);
	tcase_add_loop_test(tc, test_flusher, 0, 2);
	tcase_add_loop_test(tc, test_late, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
