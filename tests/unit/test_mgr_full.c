/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_full.c - the disk of the database is full: the N-th write of Berkeley DB fails.  No
 * flushed change is lost, the store continues, and everything works when there is space again.
 */
#include <db.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/statvfs.h>

#include "mgr/state/flusher.h"
#include "tests/unit/store_fixture.h"

#define ROWS 24u
#define VALUE 3000u

static struct store_fixture fx;
/* number of writes until the first one that fails */
static atomic_long writes_left;
static atomic_long refusals; /* number of writes that fail from then on */
static atomic_uint refused;
static uint64_t base; /* the number of the first row of this round */

static bool refuse(void)
{
	if (atomic_fetch_sub(&writes_left, 1) > 0 ||
	    atomic_fetch_sub(&refusals, 1) <= 0)
		return false;
	atomic_fetch_add(&refused, 1);
	errno = ENOSPC;
	return true;
}

static ssize_t full_pwrite(int fd, const void *p, size_t n, off_t at)
{
	return refuse() ? -1 : pwrite(fd, p, n, at);
}

static ssize_t full_write(int fd, const void *p, size_t n)
{
	return refuse() ? -1 : write(fd, p, n);
}

/* From the n-th write on, so_many writes fail with ENOSPC. */
static void fill_disk(long nth, long so_many)
{
	atomic_store(&refused, 0);
	atomic_store(&refusals, so_many);
	atomic_store(&writes_left, nth);
}

static void free_disk(void)
{
	atomic_store(&refusals, 0);
}

static unsigned int lines;

static void count_line(void *arg, enum log_level level, const char *msg)
{
	lines++;
}

static void setup(void)
{
	free_disk();
	db_env_set_func_pwrite(full_pwrite);
	db_env_set_func_write(full_write);
	store_fx_setup(&fx);
	fx.log.sink = count_line;
	lines = 0;
}

static void teardown(void)
{
	free_disk();
	store_fx_teardown(&fx);
}

static int put_row(uint32_t n, const uint8_t *val)
{
	uint8_t key[8];
	int rc = store_begin(fx.st);

	key_u64(key, base + n);
	if (!rc)
		rc = store_put(fx.st, STORE_SYMLINKS, key, 8, val, VALUE);
	if (!rc)
		return store_commit(fx.st);
	store_abort(fx.st);
	return rc;
}

/* Returns whether the call succeeded; its error must be that of a full disk. */
static bool done(int rc)
{
	ck_assert_msg(!rc || rc == -ENOSPC, "rc %d", rc);
	ck_assert(!store_failed(fx.st));
	return !rc;
}

static bool has_row(uint32_t n, const uint8_t *val)
{
	uint8_t key[8], is[STORE_VAL_MAX];
	size_t len;
	int rc;

	key_u64(key, base + n);
	rc = store_get(fx.st, STORE_SYMLINKS, key, 8, is, sizeof(is), &len);
	if (rc == -ENOENT)
		return false;
	ck_assert_int_eq(rc, 0);
	return len == VALUE && !memcmp(is, val, VALUE);
}

/* Writes rows, flushes some of them, and makes some checkpoints. */
static void work(const uint8_t *val, bool durable[ROWS])
{
	bool committed[ROWS] = { false };

	memset(durable, 0, ROWS);
	for (uint32_t i = 0; i < ROWS; i++) {
		committed[i] = done(put_row(i, val));
		if (done(store_flush(fx.st)))
			memcpy(durable, committed, i + 1);
		if (i % 8 == 7)
			done(store_checkpoint(fx.st, 0));
	}
}

static void check_rows(const uint8_t *val, const bool durable[ROWS])
{
	for (uint32_t i = 0; i < ROWS; i++)
		ck_assert_msg(!durable[i] || has_row(i, val), "row %u", i);
}

static void one_round(long nth, long so_many, const uint8_t *val)
{
	bool durable[ROWS];

	base += 2 * ROWS;
	fill_disk(nth, so_many);
	work(val, durable);
	free_disk();
	ck_assert_int_eq(store_checkpoint(fx.st, 0), 0);
	ck_assert_int_eq(put_row(ROWS, val), 0);
	ck_assert_int_eq(store_flush(fx.st), 0);
	check_rows(val, durable);
	store_fx_close(&fx);
	store_fx_open(&fx);
	check_rows(val, durable);
	ck_assert(has_row(ROWS, val));
}

/* One write fails, or a few, or all later ones. */
START_TEST(test_nth_write)
{
	static const long so_many[] = { 1, 7, 1000000 };
	uint8_t val[VALUE];
	long n = 0;

	do {
		memset(val, (int)(n % 251) + 1, sizeof(val));
		one_round(n++, so_many[_i], val);
	} while (atomic_load(&refused));
	ck_assert_int_gt(n, 20); /* the loop reached all writes */
}
END_TEST

/* The file of the log messages may be on the same disk. */
START_TEST(test_few_lines)
{
	uint8_t val[VALUE] = { 1 };

	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_int_eq(put_row(i, val), 0);
	ck_assert_int_eq(store_flush(fx.st), 0);
	fill_disk(0, 1000000);
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(store_checkpoint(fx.st, 0), -ENOSPC);
	ck_assert_uint_ge(lines, 1);
	ck_assert_uint_le(lines, 20);
	free_disk();
	ck_assert_int_eq(store_checkpoint(fx.st, 0), 0);
	ck_assert_int_eq(store_check_space(fx.st), STORE_SPACE_OK);
}
END_TEST

static sem_t woken;
static unsigned int durable_items;

static void wake(void *arg)
{
	sem_post(&woken);
}

static void on_durable(struct flusher_item *item)
{
	durable_items++;
}

/* A request that waits for a flush without space gets its reply when there is space. */
START_TEST(test_flusher)
{
	static const uint64_t quick_ns[] = { 0, UINT64_MAX };
	struct flusher_item item = { .durable = on_durable };
	struct flusher *fl;

	durable_items = 0;
	sem_init(&woken, 0, 0);
	ck_assert_int_eq(flusher_open(fx.st, quick_ns[_i], 8, wake, NULL, &fl),
			 0);
	store_fx_commit_row(&fx, 1);
	fill_disk(0, 3);
	flusher_add(fl, &item);
	if (flusher_submit(fl))
		ck_assert_int_eq(flusher_collect(fl), 0);
	while (!flusher_is_empty(fl)) {
		sem_wait(&woken);
		ck_assert_int_ge(flusher_collect(fl), 0);
	}
	ck_assert_uint_eq(durable_items, 1);
	ck_assert_uint_eq(atomic_load(&refused), 3);
	flusher_close(fl);
	sem_destroy(&woken);
}
END_TEST

static atomic_bool unlimited; /* as a tmpfs with size=0 */

int statvfs(const char *path, struct statvfs *vfs)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fstatvfs(fd, vfs);

	if (fd >= 0)
		close(fd);
	if (!rc && atomic_load(&unlimited))
		vfs->f_blocks = vfs->f_bfree = vfs->f_bavail = 0;
	return rc;
}

START_TEST(test_no_limit)
{
	atomic_store(&unlimited, true);
	for (int i = 0; i < 3; i++) {
		usleep(30000); /* longer than the interval of two checks */
		ck_assert_int_eq(store_check_space(fx.st), STORE_SPACE_OK);
	}
	atomic_store(&unlimited, false);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("full");
	Suite *s = suite_create("mgr_full");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_nth_write, 0, 3);
	tcase_add_test(tc, test_few_lines);
	tcase_add_test(tc, test_no_limit);
	tcase_add_loop_test(tc, test_flusher, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
