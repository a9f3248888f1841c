/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_damage.c - if a table is missing or damaged, the store does not open. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "mgr/db/lock_rows.h"
#include "tests/unit/store_fixture.h"

static struct store_fixture fx;

static void setup(void)
{
	store_fx_setup(&fx);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

/* An empty table in its place would count as the right content. */
START_TEST(test_lost_table)
{
	static const char *const table[] = { "inodes",	"dirents", "opens",
					     "replies", "lockers", "meta" };
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };
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

/* Exits with 0 if an open fails with advice. */
static int open_damaged(void)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };

	advised = false;
	fx.log.sink = catch_advice;
	return store_open(&attr, &fx.st) != -EIO || !advised;
}

/* Runs in a child, because Berkeley DB does not free everything after a failure. */
static void refuse_damaged(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(open_damaged());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Damage is found at the start, not when the table is used. */
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
	store_fx_open(&fx); /* the unchanged table is accepted */
	store_fx_close(&fx);
	snprintf(path, sizeof(path), "%s/db/inodes", fx.dir);
	snprintf(cmd, sizeof(cmd), damage[_i], path, path);
	ck_assert_int_eq(system(cmd), 0);
	refuse_damaged();
}
END_TEST

/* A table that had rows does not pass for an empty one, whichever table it is. */
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

/*
 * Berkeley DB takes a page of zeros for one that was never written.  So rows in the middle of the
 * table would be missing without an error.
 */
START_TEST(test_zeroed_page)
{
	char cmd[256];
	uint8_t key[8];

	ck_assert_int_eq(store_begin(fx.st), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		key_u64(key, i);
		ck_assert_int_eq(store_put(fx.st, STORE_DIRENTS, key, 8, &i, 8),
				 0);
	}
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	snprintf(cmd, sizeof(cmd),
		 "dd if=/dev/zero of=%s/db/dirents bs=4096 count=1 seek=%d "
		 "conv=notrunc",
		 fx.dir, 10 + 7 * _i);
	ck_assert_int_eq(system(cmd), 0);
	refuse_damaged();
}
END_TEST

/* A crash may leave a page of zeros that no other page refers to. */
START_TEST(test_unused_zeros)
{
	uint32_t last = 0;
	char path[80];
	FILE *f;

	store_fx_close(&fx);
	snprintf(path, sizeof(path), "%s/db/dirents", fx.dir);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, 32, SEEK_SET), 0);
	ck_assert_uint_eq(fread(&last, sizeof(last), 1, f), 1);
	fclose(f);
	ck_assert_int_eq(truncate(path, (off_t)(last + 3) * 4096), 0);
	store_fx_open(&fx);
}
END_TEST

/* ---- the log ---- */

#define ROWS 300u

static void commit_big_row(uint32_t n)
{
	static char val[STORE_VAL_MAX];
	uint8_t key[8];

	key_u64(key, n);
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(
		store_put(fx.st, STORE_SYMLINKS, key, 8, val, sizeof(val)), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
}

/* Changes rows, flushes them, and is killed; keeps the log of that moment. */
static void killed_after(uint32_t big_rows)
{
	pid_t pid;
	int status;

	store_fx_close(&fx);
	pid = fork();
	if (!pid) {
		store_fx_open(&fx);
		for (uint32_t n = 0; n < big_rows; n++)
			commit_big_row(n);
		for (uint32_t n = 0; n < ROWS; n++)
			store_fx_commit_row(&fx, n);
		ck_assert_int_eq(store_flush(fx.st), 0);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Returns the offset of the last byte of a record: zeros follow. */
static long written_to(const char *log)
{
	static char data[32 << 20];
	FILE *f = fopen(log, "r");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(data, 1, sizeof(data), f);
	fclose(f);
	while (n && !data[n - 1])
		n--;
	return (long)n - 1;
}

static void flip_bit(const char *path, long at)
{
	FILE *f = fopen(path, "r+");
	int c;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
	c = getc(f);
	ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
	ck_assert_int_eq(putc(c ^ 1, f), c ^ 1);
	ck_assert_int_eq(fclose(f), 0);
}

/* Exits with 0 if both opens fail with advice. */
static int open_cut(void)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };

	advised = false;
	fx.log.sink = catch_advice;
	if (!store_check(&attr) || !advised)
		return 1;
	advised = false;
	return store_open(&attr, &fx.st) != -EIO || !advised;
}

static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

/* Exits with 0 if the store opens and works.  Otherwise a backup is needed, and the log says so. */
static int give_up(void)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log,
				   .accept_loss = true };

	advised = false;
	fx.log.sink = catch_advice;
	if (store_open(&attr, &fx.st))
		return !advised;
	store_close(fx.st);
	attr.accept_loss = false;
	return store_open(&attr, &fx.st) != 0;
}

/* Returns the number of rows; they are numbered from 0. */
static uint32_t rows(void)
{
	uint32_t n, val;
	uint8_t key[8];

	for (n = 0; n < ROWS; n++) {
		key_u64(key, n);
		if (store_get(fx.st, STORE_META, key, 8, &val, sizeof(val),
			      NULL))
			break;
		ck_assert_uint_eq(val, n);
	}
	return n;
}

/* $log: the log file; $end: where its last record ends. */
static const char *const cut[] = {
	"truncate -s $(($end - 3)) $log",
	"truncate -s $(($end / 2)) $log",
	"truncate -s $(($end / 2)) $log; truncate -s 16M $log",
	"truncate -s 0 $log",
	"rm $log",
	"dd if=/dev/zero of=$log bs=4096 count=1 conv=notrunc",
	"dd if=/dev/zero of=$log bs=4096 count=1 seek=2 conv=notrunc",
	"truncate -s 20 $(dirname $log)/log_end",
	"printf x | dd of=$(dirname $log)/log_end bs=1 seek=9 conv=notrunc",
	"rm $(dirname $log)/log_end",
	"true", /* a bit is flipped */
};

START_TEST(test_cut_log)
{
	char log[96], cmd[512];
	long end;

	killed_after(0);
	snprintf(log, sizeof(log), "%s/db/log.0000000001", fx.dir);
	end = written_to(log);
	snprintf(cmd, sizeof(cmd), "log=%s end=%ld; %s", log, end, cut[_i]);
	ck_assert_int_eq(system(cmd), 0);
	if (!strcmp(cut[_i], "true"))
		flip_bit(log, end / 2);
	ck_assert_int_eq(in_child(open_cut), 0);
	ck_assert_int_eq(in_child(open_cut), 0); /* nor is it repaired */
	ck_assert_int_eq(in_child(give_up), 0);
}
END_TEST

/* A kill alone loses nothing, and the bytes after the end do not matter. */
START_TEST(test_killed_log)
{
	killed_after(0);
	store_fx_open(&fx);
	ck_assert_uint_eq(rows(), ROWS);
}
END_TEST

/* A new database was killed while it created its file; an earlier release did that in place. */
START_TEST(test_empty_log_end)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };
	char path[96];

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(store_del(fx.st, STORE_META, "log_end", 7), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	snprintf(path, sizeof(path), "%s/db/log_end", fx.dir);
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(store_check(&attr), 0);
	store_fx_open(&fx);
	store_fx_close(&fx);
	/* once it exists, an empty file is damage */
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert_int_eq(in_child(open_cut), 0);
}
END_TEST

/* Returns the descriptor of the open log_end, or -1. */
static int fd_of_log_end(void)
{
	char link[64], target[256];

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = 0;
		if (strstr(target, "/db/log_end"))
			return fd;
	}
	return -1;
}

/* A change is acknowledged only if the end of the log is recorded. */
START_TEST(test_full_log_end)
{
	int full = open("/dev/full", O_RDWR | O_CLOEXEC);
	int fd = fd_of_log_end(), log_end = dup(fd);

	ck_assert_int_ge(log_end, 0);
	store_fx_commit_row(&fx, 0);
	ck_assert_int_ge(dup2(full, fd), 0);
	ck_assert_int_eq(store_flush(fx.st), -ENOSPC);
	ck_assert_int_eq(store_flush(fx.st), -ENOSPC);
	ck_assert(!store_failed(fx.st));
	ck_assert_int_ge(dup2(log_end, fd), 0);
	ck_assert_int_eq(store_flush(fx.st), 0);
	close(full);
	close(log_end);
}
END_TEST

START_TEST(test_unwritable_log_end)
{
	char path[96];
	int read_only, fd = fd_of_log_end();

	snprintf(path, sizeof(path), "%s/db/log_end", fx.dir);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	store_fx_commit_row(&fx, 0);
	ck_assert_int_ge(dup2(read_only, fd), 0);
	ck_assert_int_eq(store_flush(fx.st), -EIO);
	ck_assert(store_failed(fx.st));
	close(read_only);
}
END_TEST

/*
 * Mounts a file system of 110 MiB that only this process sees.  Returns false if that is not
 * permitted.
 */
static bool mount_small(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", fx.dir, "tmpfs", 0, "size=110m");
}

START_TEST(test_no_room_for_log_end)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };
	char cmd[256];

	store_fx_close(&fx);
	if (!mount_small()) {
		fprintf(stderr, "SKIPPED: may not mount a tmpfs\n");
		return;
	}
	store_fx_open(&fx);
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(store_del(fx.st, STORE_META, "log_end", 7), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	snprintf(cmd, sizeof(cmd),
		 "rm %s/db/log_end; cat /dev/zero >%s/theirs 2>/dev/null",
		 fx.dir, fx.dir);
	ck_assert_int_ne(system(cmd), 0);
	ck_assert_int_eq(store_open(&attr, &fx.st), -ENOSPC);
	snprintf(cmd, sizeof(cmd), "rm %s/theirs", fx.dir);
	ck_assert_int_eq(system(cmd), 0);
	store_fx_open(&fx);
	store_fx_close(&fx);
	ck_assert_int_eq(umount2(fx.dir, MNT_DETACH), 0);
}
END_TEST

static bool said_damaged, said_cause;

static void catch_cause(void *arg, enum log_level level, const char *msg)
{
	said_damaged |= strstr(msg, "damaged") != NULL;
	said_cause |= strstr(msg, strerror(EMFILE)) != NULL;
	log_to_file(arg, level, msg);
}

/*
 * Opens with n more descriptors.  Exits with 0 if the open fails with EMFILE, which is logged, and
 * nothing is called damaged.
 */
static int open_without(unsigned int n)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log };
	struct rlimit limit;
	int fd = dup(0), rc;

	close(fd);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = (rlim_t)fd + n;
	setrlimit(RLIMIT_NOFILE, &limit);
	fx.log.sink = catch_cause;
	rc = store_open(&attr, &fx.st);
	return rc != -EMFILE || said_damaged || !said_cause;
}

/* Without free descriptors the log is not called damaged. */
START_TEST(test_log_not_read)
{
	pid_t pid;
	int status;

	killed_after(0);
	pid = fork();
	if (!pid)
		_exit(open_without((unsigned int)_i));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	store_fx_open(&fx);
	ck_assert_uint_eq(rows(), ROWS);
}
END_TEST

/* The lost changes are the last ones. */
START_TEST(test_loss_accepted)
{
	struct store_attr attr = { .dir = fx.dir,
				   .cache_size = 1 << 20,
				   .log = &fx.log,
				   .accept_loss = true };
	char log[96];
	uint32_t n;

	killed_after(0);
	snprintf(log, sizeof(log), "%s/db/log.0000000001", fx.dir);
	flip_bit(log, written_to(log) - 1000);
	ck_assert_int_eq(store_open(&attr, &fx.st), 0);
	n = rows();
	ck_assert_uint_gt(n, ROWS / 2);
	ck_assert_uint_lt(n, ROWS);
	store_fx_close(&fx);
	store_fx_open(&fx);
	ck_assert_uint_eq(rows(), n);
}
END_TEST

/* Of several files that a recovery reads, one that is not the last is damaged. */
START_TEST(test_damaged_earlier_log)
{
	char log[96], cmd[256];

	killed_after(2200);
	snprintf(log, sizeof(log), "%s/db/log.0000000002", fx.dir);
	ck_assert_int_gt(written_to(log), 0);
	snprintf(log, sizeof(log), "%s/db/log.0000000001", fx.dir);
	if (_i)
		flip_bit(log, 8 << 20);
	else
		snprintf(cmd, sizeof(cmd),
			 "dd if=/dev/zero of=%s bs=4096 count=16 seek=2048 "
			 "conv=notrunc",
			 log);
	ck_assert_int_eq(_i ? 0 : system(cmd), 0);
	refuse_damaged();
	refuse_damaged();
}
END_TEST

/* ---- rows ---- */

struct lock_row {
	uint64_t end;
	uint32_t type, version;
};

/* If a damaged lock were skipped, it would be given to another client. */
START_TEST(test_damaged_lock)
{
	static const struct {
		struct lock_row val;
		size_t klen, vlen;
	} bad[] = {
		{ { 9, 1, 1 }, 39, 16 }, { { 9, 1, 1 }, 40, 15 },
		{ { 9, 1, 2 }, 40, 16 }, { { 9, 0, 1 }, 40, 16 },
		{ { 9, 3, 1 }, 40, 16 }, { { 0, 2, 1 }, 40, 16 },
	};
	const struct lock_rec good = {
		.handle = 5, .session = 7, .end = 9, .type = LOCK_EXCLUSIVE
	};
	uint8_t key[40] = { 6 };

	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(lock_put(fx.st, &good, 0), 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	store_fx_open(&fx); /* the unchanged table is accepted */
	ck_assert_int_eq(store_begin(fx.st), 0);
	ck_assert_int_eq(store_put(fx.st, STORE_LOCKS, key, bad[_i].klen,
				   &bad[_i].val, bad[_i].vlen),
			 0);
	ck_assert_int_eq(store_commit(fx.st), 0);
	store_fx_close(&fx);
	ck_assert_int_eq(in_child(open_cut), 0);
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
	tcase_add_loop_test(tc, test_zeroed_page, 0, 8);
	tcase_add_test(tc, test_unused_zeros);
	tcase_add_loop_test(tc, test_damaged_lock, 0, 6);
	tcase_add_loop_test(tc, test_cut_log, 0, sizeof(cut) / sizeof(cut[0]));
	tcase_add_test(tc, test_empty_log_end);
	tcase_add_test(tc, test_full_log_end);
	tcase_add_test(tc, test_no_room_for_log_end);
	tcase_add_test(tc, test_unwritable_log_end);
	tcase_add_loop_test(tc, test_log_not_read, 0, 2);
	tcase_add_test(tc, test_killed_log);
	tcase_add_test(tc, test_loss_accepted);
	tcase_add_loop_test(tc, test_damaged_earlier_log, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
