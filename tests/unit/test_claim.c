/* SPDX-License-Identifier: BSD-2-Clause */
/* test_claim.c - which manager may claim which store. */
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "common/util/stamp.h"
#include "server/store/object_store.h"

#define FSID 0x1122334455667788u
#define OWNER 7u
#define OTHER 8u
#define UNKNOWN 0u
#define OLD 99u /* the number of an older store */

static char dir[64];
static struct object_store *store;

static int open_store(bool lost)
{
	struct object_store_attr attr = { .dir = dir,
					  .fsid = FSID,
					  .lost = lost };

	return store_open(&attr, &store);
}

static void reopen(void)
{
	store_close(store);
	ck_assert_int_eq(open_store(false), 0);
}

static void setup(void)
{
	strcpy(dir, "/tmp/pvfs-claim-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(open_store(false), 0);
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

static int claim(uint64_t owner, uint64_t known, bool fresh, bool ask)
{
	struct store_claim c = { owner, known, fresh, ask };

	return store_claim(store, &c);
}

/* Writes the stamp as earlier versions did. */
static void write_stamp(unsigned int version)
{
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "%s/pvfs-stamp", dir);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f,
		"pvfs-ib store\nversion %u\nfilesystem %016llx\nrole iod\n"
		"index 0\n",
		version, (unsigned long long)FSID);
	fclose(f);
}

/* Returns the number after "version" in the stamp. */
static unsigned int stamped(void)
{
	unsigned int version = 0;
	char path[80];
	FILE *f;

	snprintf(path, sizeof(path), "%s/pvfs-stamp", dir);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "pvfs-ib store\nversion %u", &version), 1);
	fclose(f);
	return version;
}

START_TEST(new_store_waits)
{
	ck_assert(!store_claimed(store));
	ck_assert_int_eq(claim(OWNER, UNKNOWN, true, true), STORE_OURS);
	ck_assert(!store_claimed(store));
	ck_assert_int_eq(claim(OWNER, UNKNOWN, true, false), STORE_OURS);
	ck_assert(store_claimed(store));
}
END_TEST

START_TEST(new_store_is_no_old_one)
{
	int round;

	for (round = 0; round < 2; round++) {
		ck_assert_int_eq(claim(OWNER, OLD, false, false),
				 STORE_REPLACED);
		ck_assert_int_eq(claim(OWNER, UNKNOWN, false, false),
				 STORE_REPLACED);
		ck_assert(!store_claimed(store) && store_is_new(store));
		reopen();
	}
}
END_TEST

START_TEST(claimed_store_claimed_its_owner)
{
	uint64_t id = store_identity(store);

	ck_assert_int_eq(claim(OWNER, UNKNOWN, true, false), STORE_OURS);
	reopen();
	ck_assert(!store_claimed(store));
	ck_assert_uint_eq(store_identity(store), id);
	ck_assert_int_eq(claim(OWNER, id, false, false), STORE_OURS);
	ck_assert(store_claimed(store));
	ck_assert_int_eq(claim(OWNER, UNKNOWN, true, false), STORE_OURS);
	ck_assert_int_eq(claim(OWNER, OLD, false, false), STORE_REPLACED);
	ck_assert_int_eq(claim(OTHER, UNKNOWN, true, true), STORE_FOREIGN);
	ck_assert_int_eq(claim(OTHER, id, false, false), STORE_FOREIGN);
}
END_TEST

START_TEST(lost_store_may_be_new)
{
	uint64_t id;

	store_close(store);
	ck_assert_int_eq(open_store(true), 0);
	id = store_identity(store);
	ck_assert(!store_claimed(store));
	ck_assert_int_eq(claim(OWNER, OLD, false, false), STORE_OURS);
	ck_assert_int_eq(claim(OWNER, OLD, false, false), STORE_OURS);
	store_close(store);
	ck_assert_int_eq(open_store(true), -EINVAL);
	ck_assert_int_eq(open_store(false), 0);
	ck_assert_int_eq(claim(OWNER, id, false, false), STORE_OURS);
}
END_TEST

START_TEST(stamps_go_forward)
{
	ck_assert_uint_eq(stamped(), STAMP_VERSION);
	store_close(store);
	write_stamp(STAMP_VERSION + 1);
	ck_assert_int_eq(open_store(false), -EINVAL);
	ck_assert_uint_eq(stamped(), STAMP_VERSION + 1);
	write_stamp(1);
	ck_assert_int_eq(open_store(false), 0);
	ck_assert_uint_eq(stamped(), STAMP_VERSION);
}
END_TEST

START_TEST(old_store_goes_on)
{
	store_close(store);
	write_stamp(1);
	ck_assert_int_eq(open_store(false), 0);
	ck_assert(!store_claimed(store));
	ck_assert_int_eq(claim(OTHER, UNKNOWN, true, true), STORE_FOREIGN);
	ck_assert_int_eq(claim(OWNER, _i ? OLD : UNKNOWN, false, false),
			 STORE_OURS);
	if (_i)
		ck_assert_uint_eq(store_identity(store), OLD);
	ck_assert_uint_ne(store_identity(store), 0);
	reopen();
	ck_assert_int_eq(claim(OTHER, UNKNOWN, false, false), STORE_FOREIGN);
}
END_TEST

/* The folder of the objects, or its content, is missing. */
START_TEST(objects_that_are_gone)
{
	char path[80], mark[90];

	ck_assert_int_eq(claim(OWNER, UNKNOWN, true, false), STORE_OURS);
	store_close(store);
	snprintf(path, sizeof(path), "%s/objects", dir);
	snprintf(mark, sizeof(mark), "%s/here", path);
	ck_assert_int_eq(rmdir(mark), 0);
	ck_assert_int_eq(open_store(false), -ENOENT);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(open_store(false), -ENOENT);
	ck_assert_int_eq(access(path, F_OK), -1);
	write_stamp(1);
	ck_assert_int_eq(open_store(false), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claim");
	TCase *tc = tcase_create("claim");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, new_store_waits);
	tcase_add_test(tc, new_store_is_no_old_one);
	tcase_add_test(tc, claimed_store_claimed_its_owner);
	tcase_add_test(tc, lost_store_may_be_new);
	tcase_add_test(tc, stamps_go_forward);
	tcase_add_loop_test(tc, old_store_goes_on, 0, 2);
	tcase_add_test(tc, objects_that_are_gone);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
