/* SPDX-License-Identifier: BSD-2-Clause */
/* test_dentry_cache.c - names that the kernel may keep expire before a lock is granted. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "client/fuse/cache/dentry_cache.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"

#define DIR 1000u
#define OTHER 2000u
#define FILE_IN_DIR 7u
#define ME 5
/* longer than a test on a busy host, so that no name is forgotten */
#define KEPT_S 3600

static struct dentry_cache *cache;
static char expired[100000];

static void make(void)
{
	cache = dentry_cache_new(KEPT_S);
	ck_assert_ptr_nonnull(cache);
}

static void drop(void)
{
	dentry_cache_free(cache);
}

static double keep_since(uint64_t dir, const char *name, uint64_t handle,
			 uint64_t begun)
{
	const struct dentry is = {
		.dir = dir, .name = name, .handle = handle, .thread = ME
	};

	return dentry_cache_add(cache, &is, begun);
}

static double keep(uint64_t dir, const char *name, uint64_t handle)
{
	return keep_since(dir, name, handle, clock_now());
}

static void note_expired(const struct dentry *name, void *arg)
{
	strcat(strcat(arg, name->name), " ");
}

static const char *granted_to(uint64_t handle, uint64_t opened)
{
	const struct dentry_file f = { handle, opened };

	expired[0] = '\0';
	dentry_cache_expire(cache, &f, ME, note_expired, expired);
	return expired;
}

static const char *granted(uint64_t handle)
{
	return granted_to(handle, 0);
}

static void asked(uint64_t handle)
{
	dentry_cache_lock_dir(cache, &(struct dentry_file){ handle, 0 });
}

static void moved(uint64_t dir, const char *name, uint64_t to_dir,
		  const char *to)
{
	dentry_cache_rename(cache, &(struct dentry){ .dir = dir, .name = name },
			    &(struct dentry){ .dir = to_dir, .name = to },
			    false);
}

START_TEST(directory_of_file)
{
	ck_assert(keep(DIR, "lock", FILE_IN_DIR) > 0);
	ck_assert(keep(DIR, "absent", 0) > 0);
	ck_assert(keep(OTHER, "other", 8) > 0);
	asked(FILE_IN_DIR);
	ck_assert(dentry_cache_may_hold(cache, FILE_IN_DIR));
	ck_assert(keep(DIR, "new", 9) == 0);
	ck_assert(!dentry_cache_may_hold(cache, 9));
	ck_assert(keep(OTHER, "new", 10) > 0);
	ck_assert(dentry_cache_may_hold(cache, 10));
	ck_assert_str_eq(granted(FILE_IN_DIR), "lock absent ");
	ck_assert_str_eq(granted(FILE_IN_DIR), "");
	ck_assert(keep(DIR, "lock", FILE_IN_DIR) == 0);
}
END_TEST

static void keep_again(const struct dentry *name, void *arg)
{
	keep(OTHER, "between", 8);
	note_expired(name, arg);
}

/* While names expire, the next one in the list moves to its end. */
START_TEST(list_changes_in_expiry)
{
	const struct dentry_file f = { FILE_IN_DIR, 0 };
	char name[32], want[1024] = "";

	for (unsigned int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%u", i);
		keep(DIR, name, FILE_IN_DIR);
		strcat(strcat(want, name), " ");
		if (i == 15) /* the last one of the first batch */
			keep(OTHER, "between", 8);
	}
	expired[0] = '\0';
	dentry_cache_expire(cache, &f, ME, keep_again, expired);
	ck_assert_str_eq(expired, want);
}
END_TEST

/* No other request precedes the grant, as after a long wait. */
START_TEST(grant_alone)
{
	keep(DIR, "lock", FILE_IN_DIR);
	ck_assert_str_eq(granted(FILE_IN_DIR), "lock ");
	ck_assert(keep(DIR, "lock", FILE_IN_DIR) == 0);
}
END_TEST

START_TEST(directory_at_open)
{
	const struct dentry_file f = { FILE_IN_DIR, DIR };

	keep(DIR, "lock", FILE_IN_DIR);
	ck_assert_uint_eq(dentry_cache_dir_of(cache, FILE_IN_DIR), DIR);
	keep(OTHER, "other", FILE_IN_DIR + 16384); /* in its place */
	ck_assert_uint_eq(dentry_cache_dir_of(cache, FILE_IN_DIR), 0);
	dentry_cache_lock_dir(cache, &f);
	ck_assert(keep(DIR, "new", 9) == 0);
	ck_assert(keep(OTHER, "new", 10) > 0);
}
END_TEST

START_TEST(directory_unknown)
{
	keep(DIR, "one", 8);
	keep(OTHER, "other", 9);
	asked(FILE_IN_DIR);
	ck_assert(keep(DIR, "new", 10) == 0);
	ck_assert_str_eq(granted(FILE_IN_DIR), "one other ");
}
END_TEST

START_TEST(directories_of_links)
{
	const struct dentry is = { .dir = OTHER,
				   .name = "link",
				   .handle = FILE_IN_DIR,
				   .linked = true };

	keep(DIR, "lock", FILE_IN_DIR);
	dentry_cache_add(cache, &is, clock_now());
	ck_assert_uint_eq(dentry_cache_dir_of(cache, FILE_IN_DIR), 0);
	ck_assert_str_eq(granted(FILE_IN_DIR), "lock link ");
}
END_TEST

START_TEST(directory_of_moved)
{
	keep(DIR, "lock", FILE_IN_DIR);
	keep(OTHER, "lock", FILE_IN_DIR);
	ck_assert_uint_eq(dentry_cache_dir_of(cache, FILE_IN_DIR), OTHER);
}
END_TEST

START_TEST(answer_is_late)
{
	ck_assert(keep_since(DIR, "lock", FILE_IN_DIR,
			     clock_now() - 6000 * CLOCK_NS_PER_MS) == 0);
}
END_TEST

START_TEST(rename_brings_name)
{
	keep(DIR, "lock", FILE_IN_DIR);
	granted(FILE_IN_DIR);
	keep(OTHER, "from", 8);
	moved(OTHER, "from", DIR, "to");
	moved(OTHER, "absent", DIR, "nothing");
	ck_assert_str_eq(granted(FILE_IN_DIR), "lock to ");
	ck_assert_str_eq(granted(FILE_IN_DIR), "");
}
END_TEST

/* The kernel drops the name that was there. */
START_TEST(rename_replaces_name)
{
	keep(DIR, "lock", FILE_IN_DIR);
	keep(DIR, "new", 8);
	keep(DIR, "old", 9);
	moved(DIR, "new", DIR, "old");
	moved(DIR, "old", DIR, "old");
	ck_assert_str_eq(granted(FILE_IN_DIR), "lock old ");
}
END_TEST

START_TEST(rename_swaps_names)
{
	const struct dentry in = { .dir = DIR, .name = "in", .handle = 8 },
			    out = { .dir = OTHER, .name = "out", .handle = 9 };

	keep(DIR, "lock", FILE_IN_DIR);
	keep(DIR, "in", 8);
	keep(OTHER, "out", 9);
	dentry_cache_rename(cache, &in, &out, true);
	ck_assert_uint_eq(dentry_cache_dir_of(cache, 8), OTHER);
	ck_assert_uint_eq(dentry_cache_dir_of(cache, 9), DIR);
	ck_assert_str_eq(granted(FILE_IN_DIR), "lock in ");
	keep(OTHER, "x", 10);
	ck_assert_str_eq(granted(10), "out x ");
}
END_TEST

static void moved_file(uint64_t handle, const char *name)
{
	dentry_cache_rename(
		cache,
		&(struct dentry){ .dir = DIR, .name = name, .handle = handle },
		&(struct dentry){ .dir = OTHER, .name = "moved" }, false);
}

/* The kernel does no LOOKUP after a rename. */
START_TEST(rename_moves_file)
{
	keep(DIR, "lock", FILE_IN_DIR);
	keep(OTHER, "other", 8);
	keep(DIR, "old", 9);
	moved_file(FILE_IN_DIR, "lock");
	ck_assert_uint_eq(dentry_cache_dir_of(cache, FILE_IN_DIR), OTHER);
	ck_assert_str_eq(granted_to(FILE_IN_DIR, DIR), "moved other ");
}
END_TEST

/* ... also if the name of the file is not recorded */
START_TEST(rename_moves_file_without_name)
{
	keep(DIR, "lock", FILE_IN_DIR);
	keep(OTHER, "other", 8);
	moved_file(FILE_IN_DIR, "else");
	ck_assert_str_eq(granted_to(FILE_IN_DIR, DIR), "other ");
}
END_TEST

START_TEST(rename_moves_unknown_file)
{
	keep(DIR, "lock", FILE_IN_DIR);
	keep(OTHER, "other", 8);
	moved_file(0, "else");
	ck_assert_str_eq(granted_to(FILE_IN_DIR, DIR), "lock other ");
	ck_assert_uint_eq(dentry_cache_dir_of(cache, 8), OTHER);
}
END_TEST

START_TEST(rename_after_open)
{
	keep(DIR, "lock", FILE_IN_DIR);
	moved_file(FILE_IN_DIR, "lock");
	keep(DIR, "in its place", FILE_IN_DIR + 16384);
	ck_assert_str_eq(granted_to(FILE_IN_DIR, DIR), "moved in its place ");
}
END_TEST

START_TEST(rename_keeps_links)
{
	const struct dentry is = { .dir = DIR,
				   .name = "link",
				   .handle = FILE_IN_DIR,
				   .linked = true };

	dentry_cache_add(cache, &is, clock_now());
	moved_file(FILE_IN_DIR, "link");
	ck_assert_uint_eq(dentry_cache_dir_of(cache, FILE_IN_DIR), 0);
}
END_TEST

/* A name that cannot be recorded is not cached. */
START_TEST(too_many_names)
{
	unsigned int kept = 0;
	char name[32];

	for (unsigned int i = 0; i < 40000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		kept += keep(DIR, name, i + 1) > 0;
	}
	ck_assert_uint_ge(kept, 1000);
	ck_assert_uint_lt(kept, 40000);
	memset(expired, 'x', 300);
	expired[300] = '\0';
	ck_assert(keep(DIR, expired, 8) == 0);
}
END_TEST

/* If a lock cannot be recorded, nothing is cached in any directory. */
START_TEST(too_many_locks)
{
	for (uint64_t i = 0; i < 9; i++) {
		keep(DIR + i * 4096, "lock", i + 1);
		asked(i + 1);
	}
	for (uint64_t i = 0; i < 9; i++)
		ck_assert(keep(DIR + i * 4096, "new", 100 + i) == 0);
	ck_assert(keep(OTHER, "new", 99) == 0);
	ck_assert_str_eq(granted(9), "lock lock lock lock lock lock lock lock "
				     "lock ");
}
END_TEST

START_TEST(nothing_is_kept)
{
	drop();
	cache = dentry_cache_new(0);
	ck_assert(keep(DIR, "lock", FILE_IN_DIR) == 0);
	ck_assert(!dentry_cache_may_hold(cache, FILE_IN_DIR));
	ck_assert_str_eq(granted(FILE_IN_DIR), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dentry_cache");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, directory_of_file);
	tcase_add_test(tc, list_changes_in_expiry);
	tcase_add_test(tc, grant_alone);
	tcase_add_test(tc, directory_at_open);
	tcase_add_test(tc, directory_unknown);
	tcase_add_test(tc, directories_of_links);
	tcase_add_test(tc, directory_of_moved);
	tcase_add_test(tc, answer_is_late);
	tcase_add_test(tc, rename_brings_name);
	tcase_add_test(tc, rename_replaces_name);
	tcase_add_test(tc, rename_swaps_names);
	tcase_add_test(tc, rename_moves_file);
	tcase_add_test(tc, rename_moves_file_without_name);
	tcase_add_test(tc, rename_moves_unknown_file);
	tcase_add_test(tc, rename_after_open);
	tcase_add_test(tc, rename_keeps_links);
	tcase_add_test(tc, too_many_names);
	tcase_add_test(tc, too_many_locks);
	tcase_add_test(tc, nothing_is_kept);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
