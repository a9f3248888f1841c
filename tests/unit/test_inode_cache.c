/* SPDX-License-Identifier: BSD-2-Clause */
/* test_inode_cache.c - the entry of an inode, from its first reply until it is forgotten. */
#include <check.h>
#include <errno.h>

#include "client/fuse/cache/inode_cache.h"
#include "client/lib/names/mgr_requests.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"

#define DIR 1000u
#define INODE 7u
#define OTHER 8u
#define USER 5u
#define MANY 100000u

static struct inode_cache *cache;
static uint64_t name_a, name_b;

static void setup(void)
{
	cache = inode_cache_new();
	ck_assert_ptr_nonnull(cache);
	name_a = inode_cache_name(DIR, "a");
	name_b = inode_cache_name(DIR, "b");
}

static void teardown(void)
{
	inode_cache_free(cache);
}

static void record(uint64_t handle, mode_t mode, nlink_t nlink, uint64_t name)
{
	const struct stat st = { .st_ino = handle,
				 .st_mode = mode,
				 .st_nlink = nlink,
				 .st_uid = USER };

	inode_cache_record(cache,
			   &(struct inode_reply){ .st = &st, .name = name });
}

static bool is_removed(uint64_t handle)
{
	struct stat st;

	return inode_cache_removed_lacks(cache, handle, INODE_LACKS) ||
	       !inode_cache_set_removed(cache, handle, 0,
					&(struct setattr){ 0 }, &st);
}

/* ---- names ---- */

START_TEST(last_name_removes)
{
	record(INODE, S_IFREG, 2, name_a);
	inode_cache_record_name(cache, name_b, INODE);
	ck_assert(inode_cache_knows(cache, name_b));
	inode_cache_unlink(cache, name_a);
	ck_assert(!inode_cache_knows(cache, name_a));
	ck_assert(!is_removed(INODE));
	inode_cache_unlink(cache, name_b);
	ck_assert(is_removed(INODE));
}
END_TEST

START_TEST(directory_has_one_name)
{
	record(INODE, S_IFDIR, 5, name_a);
	inode_cache_unlink(cache, name_a);
	ck_assert(is_removed(INODE));
}
END_TEST

START_TEST(unknown_name_removes_nothing)
{
	record(INODE, S_IFREG, 1, 0);
	inode_cache_unlink(cache, name_a);
	inode_cache_unlink(cache, 0);
	ck_assert(!is_removed(INODE));
}
END_TEST

static const struct {
	uint64_t target; /* the inode of b */
	bool swaps;
	uint64_t a, b; /* the inodes of both names after the rename of a to b */
	bool removed; /* the target is removed */
} renames[] = {
	{ 0, false, 0, INODE, false },
	{ OTHER, false, 0, INODE, true },
	{ OTHER, true, OTHER, INODE, false },
	{ INODE, false, INODE, INODE, false },
};

START_TEST(renamed)
{
	record(INODE, S_IFREG, 1, name_a);
	if (renames[_i].target)
		record(renames[_i].target, S_IFREG, 1, name_b);
	inode_cache_rename(cache, name_a, name_b, renames[_i].swaps);
	ck_assert_uint_eq(inode_cache_handle(cache, name_a), renames[_i].a);
	ck_assert_uint_eq(inode_cache_handle(cache, name_b), renames[_i].b);
	ck_assert_int_eq(is_removed(OTHER), renames[_i].removed);
	ck_assert(!is_removed(INODE));
}
END_TEST

/* ---- removed inodes ---- */

START_TEST(removed_keeps_its_attributes)
{
	struct stat st;

	record(INODE, S_IFIFO | 0600, 1, name_a);
	inode_cache_unlink(cache, name_a);
	record(INODE, S_IFIFO | 0644, 1, name_a); /* from before the removal */
	ck_assert(inode_cache_get_removed(cache, INODE, &st));
	ck_assert_uint_eq(st.st_mode, S_IFIFO | 0600);
	ck_assert_uint_eq(st.st_nlink, 0);
	/* the manager still has the inode */
	record(INODE, S_IFIFO | 0640, 0, 0);
	ck_assert(inode_cache_get_removed(cache, INODE, &st));
	ck_assert_uint_eq(st.st_mode, S_IFIFO | 0640);
}
END_TEST

START_TEST(removed_elsewhere)
{
	struct stat st;

	ck_assert(!inode_cache_get_removed(cache, INODE, &st));
	record(INODE, S_IFDIR | 0700, 2, 0);
	ck_assert(inode_cache_get_removed(cache, INODE, &st));
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
	ck_assert_uint_eq(st.st_nlink, 0);
}
END_TEST

/* A program lists an open directory with attributes, and another host removes it. */
START_TEST(directory_of_many_files)
{
	struct stat st;

	record(INODE, S_IFDIR | 0755, 2, 0);
	for (uint64_t n = 1; n <= MANY; n++)
		record(INODE + n, S_IFREG | 0644, 1, 0);
	ck_assert(inode_cache_get_removed(cache, INODE, &st));
	ck_assert(inode_cache_get_removed(cache, INODE + MANY, &st));
}
END_TEST

START_TEST(file_among_directories)
{
	struct stat st;

	record(INODE, S_IFREG | 0644, 1, 0);
	for (uint64_t n = 1; n <= MANY; n++)
		record(INODE + n, S_IFDIR | 0755, 2, 0);
	ck_assert(inode_cache_get_removed(cache, INODE, &st));
}
END_TEST

START_TEST(removed_until_forgotten)
{
	record(INODE, S_IFIFO, 1, name_a);
	inode_cache_forget(cache, INODE);
	ck_assert(inode_cache_knows(cache, name_a));
	inode_cache_unlink(cache, name_a);
	for (uint64_t n = 1; n <= INODE_CACHE_MAX; n++)
		record(INODE + n, S_IFREG, 1, 0);
	ck_assert(is_removed(INODE));
	inode_cache_forget(cache, INODE);
	ck_assert(!is_removed(INODE));
}
END_TEST

START_TEST(set_by_its_owner)
{
	const struct setattr mode = { .valid = WIRE_S_MODE, .mode = 0640 };
	const struct setattr owner = { .valid = WIRE_S_UID, .uid = USER + 1 };
	struct stat st;

	record(INODE, S_IFIFO | 0600, 1, name_a);
	ck_assert_int_eq(inode_cache_set_removed(cache, INODE, USER, &mode,
						 &st),
			 -ESTALE);
	inode_cache_unlink(cache, name_a);
	ck_assert_int_eq(inode_cache_set_removed(cache, INODE, USER + 1, &mode,
						 &st),
			 -EPERM);
	ck_assert_int_eq(inode_cache_set_removed(cache, INODE, USER, &owner,
						 &st),
			 -EPERM);
	ck_assert_int_eq(
		inode_cache_set_removed(cache, INODE, USER, &mode, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFIFO | 0640);
	ck_assert_int_eq(inode_cache_set_removed(cache, INODE, 0, &owner, &st),
			 0);
	ck_assert_uint_eq(st.st_uid, USER + 1);
}
END_TEST

/* ---- extended attributes ---- */

static void record_lacks(uint64_t handle, mode_t mode, uint64_t asked)
{
	const struct attr attr = { .handle = handle,
				   .mode = mode,
				   .flags = INODE_LACKS };

	inode_cache_record(cache, &(struct inode_reply){
					  .attr = &attr,
					  .asked = asked,
					  .until = clock_after_ms(60000) });
}

static bool lacks_acl(uint64_t handle)
{
	return inode_cache_lacks(cache, handle, WIRE_A_NOACL);
}

START_TEST(lacks_until_changed)
{
	uint64_t before = clock_now();

	ck_assert(!lacks_acl(INODE));
	record_lacks(INODE, S_IFREG, before);
	ck_assert(lacks_acl(INODE));
	inode_cache_xattr_changed(cache, INODE);
	ck_assert(!lacks_acl(INODE));
	record_lacks(INODE, S_IFREG, before);
	ck_assert(!lacks_acl(INODE));
	record_lacks(INODE, S_IFREG, clock_now() + 1);
	ck_assert(lacks_acl(INODE));
}
END_TEST

/* A reply from before a change does not count, even if the entry was evicted or is new. */
START_TEST(change_outlives_the_entry)
{
	uint64_t before = clock_now();

	record_lacks(INODE, S_IFREG, before);
	inode_cache_xattr_changed(cache, INODE);
	inode_cache_xattr_changed(cache, OTHER);
	for (uint64_t n = 1; n <= INODE_CACHE_MAX; n++)
		record(INODE + n + 1, S_IFREG, 1, 0);
	record_lacks(INODE, S_IFREG, before);
	record_lacks(OTHER, S_IFREG, before);
	ck_assert(!lacks_acl(INODE));
	ck_assert(!lacks_acl(OTHER));
}
END_TEST

START_TEST(link_has_no_acl)
{
	record_lacks(INODE, S_IFLNK, clock_now());
	ck_assert(!lacks_acl(INODE));
	ck_assert(inode_cache_lacks(cache, INODE, WIRE_A_NOXATTR));
}
END_TEST

/* ---- pages ---- */

START_TEST(same_version)
{
	struct stat st = { .st_ino = INODE, .st_size = 5 };

	ck_assert(!inode_cache_same_version(cache, &st));
	ck_assert(inode_cache_same_version(cache, &st));
	st.st_size = 6;
	ck_assert(!inode_cache_same_version(cache, &st));
	st.st_mtim.tv_nsec = 1;
	ck_assert(!inode_cache_same_version(cache, &st));
	clock_gettime(CLOCK_REALTIME, &st.st_ctim);
	ck_assert(!inode_cache_same_version(cache, &st));
	/* the change is too recent */
	ck_assert(!inode_cache_same_version(cache, &st));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("inode_cache");
	TCase *tc = tcase_create("inodes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, last_name_removes);
	tcase_add_test(tc, directory_has_one_name);
	tcase_add_test(tc, unknown_name_removes_nothing);
	tcase_add_loop_test(tc, renamed, 0,
			    sizeof(renames) / sizeof(renames[0]));
	tcase_add_test(tc, removed_keeps_its_attributes);
	tcase_add_test(tc, removed_elsewhere);
	tcase_add_test(tc, directory_of_many_files);
	tcase_add_test(tc, file_among_directories);
	tcase_add_test(tc, removed_until_forgotten);
	tcase_add_test(tc, set_by_its_owner);
	tcase_add_test(tc, lacks_until_changed);
	tcase_add_test(tc, change_outlives_the_entry);
	tcase_add_test(tc, link_has_no_acl);
	tcase_add_test(tc, same_version);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
