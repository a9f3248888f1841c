/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fence.c - the file of the fences: after restarts, torn or failed writes, on a full disk, and
 * in the format of earlier versions.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/store/fence_file.h"
#include "tests/run_suite.h"
#include "server/store/object_store.h"

#define FSID 0x1122334455667788ull
#define HEAD 16384 /* length of each of the two heads */

static char dir[64];
static struct object_store *store;
static atomic_int broken; /* errno with which writes fail */
/* the number (from 1) of the write that writes only its first half */
static atomic_int tear;
/* bits 1 << index of the heads whose reads fail */
static atomic_int unreadable;

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	if (atomic_load(&broken)) {
		errno = atomic_load(&broken);
		return -1;
	}
	if (atomic_load(&tear) && atomic_fetch_sub(&tear, 1) == 1) {
		syscall(SYS_pwrite64, fd, buf, n / 2, off);
		atomic_store(&broken, EIO);
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buf, n, off);
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	if (off < 2 * HEAD && atomic_load(&unreadable) & 1 << off / HEAD) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_pread64, fd, buf, n, off);
}

static int open_store(void)
{
	struct object_store_attr attr = { .dir = dir, .fsid = FSID };

	return store_open(&attr, &store);
}

static void reopen(void)
{
	store_close(store);
	ck_assert_int_eq(open_store(), 0);
}

static const struct store_claim first_claim = { .owner = 7, .fresh = true };

static void setup(void)
{
	atomic_store(&broken, 0);
	atomic_store(&tear, 0);
	atomic_store(&unreadable, 0);
	strcpy(dir, "/tmp/pvfs-fence-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(open_store(), 0);
	ck_assert_int_eq(store_claim(store, &first_claim), STORE_OURS);
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static void teardown(void)
{
	store_close(store);
	ck_assert_int_eq(nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static int open_file(const char *name, int flags)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, flags, 0600);
}

static void forget(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/fences", dir);
	ck_assert_int_eq(unlink(path), 0);
}

static void put_old(const char *text)
{
	int fd = open_file("fenced", O_WRONLY | O_CREAT | O_TRUNC);
	ssize_t len = (ssize_t)strlen(text);

	ck_assert_int_eq(write(fd, text, (size_t)len), len);
	close(fd);
}

/* Flips one bit, as if a write had been lost. */
static void flip(off_t at)
{
	int fd = open_file("fences", O_RDWR);
	uint8_t byte;

	ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
	byte ^= 4;
	ck_assert_int_eq(syscall(SYS_pwrite64, fd, &byte, 1, at), 1);
	close(fd);
}

static void cut(void)
{
	int fd = open_file("fences", O_RDWR);

	ck_assert_int_eq(ftruncate(fd, 5 * HEAD), 0);
	close(fd);
}

static void mark(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		ck_assert_int_eq(store_fence_mark(store, from), 0);
}

static void add(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		ck_assert_int_eq(store_fence_add(store, from), 0);
}

static void all_there(uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		ck_assert_msg(store_fence_has(store, from), "%llu is lost",
			      (unsigned long long)from);
}

START_TEST(kept_over_a_restart)
{
	ck_assert(!store_fence_has(store, 77));
	add(77, 78);
	add(UINT64_MAX, UINT64_MAX);
	ck_assert_int_eq(store_fence_add(store, UINT64_MAX), 0);
	ck_assert_int_eq(store_fence_add(store, 77), 0);
	reopen();
	ck_assert(store_fence_has(store, 77));
	ck_assert(store_fence_has(store, UINT64_MAX));
	ck_assert(!store_fence_has(store, 78));
	/* one by one, beyond the end of a page */
	add(1000, 1000 + FENCE_PAGE_IDS + 3);
	reopen();
	all_there(1000, 1000 + FENCE_PAGE_IDS + 3);
	ck_assert(store_fence_has(store, 77));
}
END_TEST

/* Creates a store with fences 1 to n in the format of an earlier version. */
static void begin_with(uint64_t n)
{
	char *text = malloc(n * 17 + 1);

	for (uint64_t i = 0; i < n; i++)
		sprintf(text + 17 * i, "%016llx\n", (unsigned long long)i + 1);
	store_close(store);
	forget();
	put_old(text);
	free(text);
	ck_assert_int_eq(open_store(), 0);
}

/* At least the newest STORE_FENCE_MAX fences are kept, also beyond the end of the ring. */
START_TEST(the_oldest_make_room)
{
	const uint64_t n = FENCE_PAGES * FENCE_PAGE_IDS + 700 * (uint64_t)_i;

	begin_with(n - 300);
	mark(n - 299, n + 300);
	ck_assert_int_eq(store_fence_write(store), 0);
	reopen();
	for (uint64_t id = n + 300 - STORE_FENCE_MAX; id < n + 300; id += 97)
		ck_assert(store_fence_has(store, id));
	ck_assert(!store_fence_has(store, 1));
	all_there(n - 299, n + 300);
}
END_TEST

/* If either head is damaged, or both in turn, no acknowledged fence is lost. */
START_TEST(damaged_head)
{
	add(1, 5 + (uint64_t)_i % 2);
	ck_assert_int_eq(store_term_write(store, 9, 4), 0);
	store_close(store);
	flip(_i / 2 * HEAD + 40);
	ck_assert_int_eq(open_store(), 0);
	all_there(1, 5 + (uint64_t)_i % 2);
	ck_assert_int_eq(store_term_write(store, 8, 4), -ESTALE);
	store_close(store);
	flip((1 - _i / 2) * HEAD + 40);
	ck_assert_int_eq(open_store(), 0);
	all_there(1, 5 + (uint64_t)_i % 2);
	ck_assert_int_eq(store_term_write(store, 9, 5), -ESTALE);
	add(100, 103);
	reopen();
	all_there(1, 5 + (uint64_t)_i % 2);
	all_there(100, 103);
}
END_TEST

/* If the disk cannot read one head, the other one counts; without both the store stays closed. */
START_TEST(unreadable_head)
{
	add(1, 5);
	store_close(store);
	atomic_store(&unreadable, 3);
	ck_assert_int_eq(open_store(), -EIO);
	atomic_store(&unreadable, 1 << _i);
	ck_assert_int_eq(open_store(), 0);
	all_there(1, 5);
	add(100, 103);
	reopen();
	all_there(1, 5);
	all_there(100, 103);
}
END_TEST

/* Each of the writes around the end of a page is torn. */
START_TEST(torn_write)
{
	const uint64_t n = FENCE_PAGE_IDS - 3;
	uint64_t kept = n;

	mark(1, n);
	ck_assert_int_eq(store_fence_write(store), 0);
	atomic_store(&tear, 1 + _i);
	for (uint64_t id = n; id < n + 6; id++)
		kept += !store_fence_add(store, id);
	ck_assert_int_eq(atomic_load(&broken), EIO);
	/* each fence writes two heads, and the fourth one also a page before */
	ck_assert_uint_eq(kept, n + (uint64_t)(_i > 6 ? _i - 1 : _i) / 2);
	atomic_store(&broken, 0);
	reopen();
	all_there(1, kept);
	add(n, n + 600);
	reopen();
	all_there(1, n + 600);
}
END_TEST

/* The torn page has replaced the oldest one. */
START_TEST(torn_page_of_a_full_ring)
{
	const uint64_t n = FENCE_PAGES * FENCE_PAGE_IDS + 500;

	begin_with(n - 1);
	atomic_store(&tear, 1);
	mark(n, n + 30);
	ck_assert_int_eq(store_fence_write(store), -EIO);
	atomic_store(&broken, 0);
	reopen();
	all_there(n - 300, n);
	ck_assert(store_fence_has(store, n - STORE_FENCE_MAX + 1));
}
END_TEST

START_TEST(damage_is_seen)
{
	add(1, FENCE_PAGE_IDS + 5);
	store_close(store);
	flip(2 * HEAD + 100);
	ck_assert_int_eq(open_store(), -EBADMSG);
	flip(2 * HEAD + 100);
	flip(100);
	flip(HEAD + 100);
	ck_assert_int_eq(open_store(), -EBADMSG);
	flip(100);
	ck_assert_int_eq(open_store(), 0);
	store_close(store);
	cut();
	ck_assert_int_eq(open_store(), -EBADMSG);
	forget();
	ck_assert_int_eq(open_store(), 0);
}
END_TEST

/* A fence that cannot be written holds in memory, and is written as soon as that works. */
START_TEST(a_disk_that_fails)
{
	add(1, 3);
	atomic_store(&broken, EIO);
	ck_assert_int_eq(store_fence_add(store, 3), -EIO);
	ck_assert_int_eq(store_term_write(store, 9, 1), -EIO);
	ck_assert(store_fence_has(store, 3));
	ck_assert_uint_eq(store_term(store), 0);
	atomic_store(&broken, 0);
	ck_assert_int_eq(store_fence_add(store, 3), 0);
	reopen();
	all_there(1, 4);
}
END_TEST

START_TEST(terms_grow)
{
	ck_assert_uint_eq(store_term(store), 0);
	ck_assert_int_eq(store_term_write(store, 7, 1), 0);
	ck_assert_int_eq(store_term_write(store, 7, 1), 0);
	ck_assert_int_eq(store_term_write(store, 6, 1), -ESTALE);
	ck_assert_int_eq(store_term_write(store, 7, 2), -ESTALE);
	add(1, 3);
	reopen();
	ck_assert_uint_eq(store_term(store), 7);
	ck_assert_int_eq(store_term_write(store, 7, 2), -ESTALE);
	ck_assert_int_eq(store_term_write(store, 7, 1), 0);
	ck_assert_int_eq(store_term_write(store, 6, 1), -ESTALE);
	ck_assert_int_eq(store_term_write(store, 8, 5), 0);
	ck_assert(store_obeys(store, 8, 5));
	ck_assert_int_eq(store_term_write(store, 8, 3), 0);
	ck_assert(store_obeys(store, 8, 3));
	ck_assert(!store_obeys(store, 8, 5) && !store_obeys(store, 7, 3));
	ck_assert_int_eq(store_term_write(store, 8, 5), -ESTALE);
	reopen();
	ck_assert(store_obeys(store, 8, 3));
	ck_assert_int_eq(store_term_write(store, 8, 5), -ESTALE);
	ck_assert_int_eq(store_term_write(store, UINT64_MAX, 1), 0);
	reopen();
	ck_assert_uint_eq(store_term(store), UINT64_MAX);
	all_there(1, 3);
}
END_TEST

START_TEST(earlier_versions)
{
	store_close(store);
	forget();
	put_old("12\n");
	ck_assert_int_eq(open_store(), -EINVAL);
	ck_assert_int_eq(open_file("fences", O_RDONLY), -1);
	put_old("");
	ck_assert_int_eq(open_store(), 0);
	begin_with(4096);
	all_there(1, 4097);
	add(5000, 5003);
	reopen();
	all_there(1, 4097);
	all_there(5000, 5003);
	ck_assert_int_eq(open_file("fenced", O_RDONLY), -1);
}
END_TEST

/*
 * Mounts a small file system that only this process sees.  Returns false if that is not permitted.
 */
static bool mount_small(const char *size)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", dir, "tmpfs", 0, size);
}

static void fill_disk(void)
{
	static char buf[4096];
	int fd = open_file("filler", O_WRONLY | O_CREAT);

	ck_assert_int_ge(fd, 0);
	while (write(fd, buf, sizeof(buf)) > 0)
		;
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
}

START_TEST(full_disk)
{
	store_close(store);
	if (!mount_small("size=1m")) {
		fprintf(stderr, "SKIPPED: ENOSPC: may not mount a tmpfs\n");
		ck_assert_int_eq(open_store(), 0);
		return;
	}
	ck_assert_int_eq(open_store(), 0);
	ck_assert_int_eq(store_claim(store, &first_claim), STORE_OURS);
	fill_disk();
	add(1, 2 * FENCE_PAGE_IDS);
	ck_assert_int_eq(store_term_write(store, 5, 1), 0);
	reopen();
	all_there(1, 2 * FENCE_PAGE_IDS);
	store_close(store);
	ck_assert_int_eq(umount2(dir, MNT_DETACH), 0);
	/* without room for the file: the store does not open */
	ck_assert_int_eq(mount("none", dir, "tmpfs", 0, "size=256k"), 0);
	ck_assert_int_eq(open_store(), -ENOSPC);
	ck_assert_int_eq(umount2(dir, MNT_DETACH), 0);
	ck_assert_int_eq(open_store(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fence");
	TCase *tc = tcase_create("fence");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, kept_over_a_restart);
	tcase_add_loop_test(tc, the_oldest_make_room, 0, 2);
	tcase_add_loop_test(tc, damaged_head, 0, 4);
	tcase_add_loop_test(tc, unreadable_head, 0, 2);
	tcase_add_loop_test(tc, torn_write, 0, 13);
	tcase_add_test(tc, torn_page_of_a_full_ring);
	tcase_add_test(tc, damage_is_seen);
	tcase_add_test(tc, a_disk_that_fails);
	tcase_add_test(tc, terms_grow);
	tcase_add_test(tc, earlier_versions);
	tcase_add_test(tc, full_disk);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
