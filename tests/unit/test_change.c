/* SPDX-License-Identifier: BSD-2-Clause */
/* test_change.c - which changes an iod makes: those of its own group. */
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/util/clock.h"
#include "server/copyset/change.h"
#include "tests/run_suite.h"

static char dir[64];
static struct object_store *store;
static struct store_obj *own, *other;

static struct store_obj *open_object(struct object_key key)
{
	struct store_obj *obj;

	ck_assert_int_eq(store_obj_get(store, key, true, &obj), 0);
	return obj;
}

static void setup(void)
{
	struct object_store_attr attr = { .dir = dir, .fsid = 1 };

	strcpy(dir, "/tmp/pvfs-change-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(store_open(&attr, &store), 0);
	own = open_object(object_key_own(7));
	other = open_object((struct object_key){ 7, 1024 });
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static void teardown(void)
{
	store_obj_put(own);
	store_obj_put(other);
	store_close(store);
	ck_assert_int_eq(nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static bool is_shut(struct store_obj *obj)
{
	return gate_is_shut(store_gate(store), store_obj_key(obj));
}

static void wait_until(uint64_t expiry)
{
	while (clock_boot() < expiry)
		;
}

/* A change that stays inside is late for its own object alone. */
START_TEST(enters_the_gate_in_time)
{
	struct rpc_req req = { .expiry = clock_boot() + 1000000 };
	struct gate_entry entry;

	ck_assert_int_eq(change_enter(&req, own, &entry), 0);
	wait_until(req.expiry);
	ck_assert(is_shut(own) && !is_shut(other));
	change_leave(own, &entry);
	ck_assert(!is_shut(own));
	ck_assert_int_eq(change_enter(&req, own, &entry), -ETIMEDOUT);
}
END_TEST

static void note_status(struct file_access *change, int status)
{
	change->status = status;
}

START_TEST(of_another_group_is_refused)
{
	struct rpc_req req = { .expiry = CLOCK_NEVER };
	struct store_seg seg = { 0, 3 };
	struct file_access change = {
		.io = { .obj = other, .seg = &seg, .buf = "abc", .len = 3 },
		.req = &req,
		.done = note_status
	};
	struct gate_entry entry;
	struct store_stat st;

	ck_assert_int_eq(change_enter(&req, other, &entry), -EOPNOTSUPP);
	change_start(&change);
	ck_assert_int_eq(change.status, -EOPNOTSUPP);
	ck_assert_int_eq(store_obj_stat(other, &st), 0);
	ck_assert_uint_eq(st.size, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("change");
	TCase *tc = tcase_create("groups");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, enters_the_gate_in_time);
	tcase_add_test(tc, of_another_group_is_refused);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
