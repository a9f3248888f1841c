/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_lock.c - locks on bytes of a file against a model that keeps one
 * value for each byte and owner.
 */
#include <errno.h>

#include "locks.h"
#include "mgr_fixture.h"
#include "rnd.h"
#include "run_suite.h"

#define SEED 20031118u
#define BYTES 40
#define OWNERS 4 /* two of session 77, two of 78 */

static struct fixture fx;
static struct inode ino;

static void setup(void)
{
	fx_open(&fx);
	ck_assert_int_eq(fx_creat(&fx, "f", 0600), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
}

static void teardown(void)
{
	fx_close(&fx);
}

static int lock(uint64_t session, uint64_t owner, uint32_t type, uint64_t start,
		uint64_t end, uint32_t flags, struct lock_rec *other)
{
	struct ns_lock_args args = { .handle = ino.handle,
				     .owner = owner,
				     .start = start,
				     .end = end,
				     .type = type,
				     .flags = flags };
	struct lock_rec none;

	fx.session = session;
	return FX_DO(&fx, ns_lock(&op, &args, other ? other : &none));
}

/* ---- the model ---- */

struct model {
	uint32_t held[OWNERS][BYTES];
};

static bool model_free(const struct model *m, unsigned int who, uint32_t type,
		       uint64_t start, uint64_t end)
{
	for (unsigned int o = 0; o < OWNERS; o++)
		for (uint64_t b = start; o != who && b < end; b++)
			if (m->held[o][b] == WIRE_L_EXCLUSIVE ||
			    (m->held[o][b] && type == WIRE_L_EXCLUSIVE))
				return false;
	return true;
}

/* The rows, byte by byte, are the model; and no two of one owner touch. */
static void ck_rows(const struct model *m)
{
	struct model seen = { 0 };
	struct lock_rec rec, last = { 0 };
	struct lock_iter it;

	ck_assert_int_eq(lock_iter_open(fx.st, ino.handle, 0, 0, &it), 0);
	while (!lock_iter_next(&it, &rec)) {
		unsigned int o = (unsigned int)((rec.session - 77) * 2 +
						rec.owner);

		ck_assert_uint_lt(rec.start, rec.end);
		ck_assert_uint_le(rec.end, BYTES);
		ck_assert(rec.session != last.session ||
			  rec.owner != last.owner || last.end < rec.start ||
			  (last.end == rec.start && last.type != rec.type));
		for (uint64_t b = rec.start; b < rec.end; b++)
			seen.held[o][b] = rec.type;
		last = rec;
	}
	lock_iter_close(&it);
	ck_assert_mem_eq(&seen, m, sizeof(seen));
}

START_TEST(as_the_model)
{
	struct rnd r = { SEED };
	struct model m = { 0 };

	for (int turn = 0; turn < 3000; turn++) {
		unsigned int who = (unsigned int)rnd_in(&r, 0, OWNERS - 1);
		uint32_t type = (uint32_t)rnd_in(&r, 0, 2);
		uint64_t start = rnd_in(&r, 0, BYTES - 1);
		uint64_t end = rnd_in(&r, start + 1, BYTES);
		bool ok = !type || model_free(&m, who, type, start, end);

		ck_assert_int_eq(lock(77 + who / 2, who % 2, type, start, end,
				      0, NULL),
				 ok ? 0 : -EAGAIN);
		for (uint64_t b = start; ok && b < end; b++)
			m.held[who][b] = type;
		ck_rows(&m);
	}
}
END_TEST

START_TEST(a_test_takes_nothing)
{
	struct lock_rec other;

	ck_assert_int_eq(lock(77, 1, WIRE_L_SHARED, 10, 20, 0, NULL), 0);
	ck_assert_int_eq(
		lock(78, 1, WIRE_L_EXCLUSIVE, 0, 15, WIRE_L_TEST, &other), 0);
	ck_assert_uint_eq(other.type, WIRE_L_SHARED);
	ck_assert_uint_eq(other.start, 10);
	ck_assert_uint_eq(other.end, 20);
	ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, 0, 15, WIRE_L_TEST, &other),
			 0);
	ck_assert_uint_eq(other.type, WIRE_L_UNLOCK);
	ck_assert_int_eq(lock(79, 1, WIRE_L_EXCLUSIVE, 0, 10, 0, NULL), 0);
}
END_TEST

START_TEST(whole_files_are_apart)
{
	const uint64_t all = INT64_MAX;

	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 0, all, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 1, WIRE_L_SHARED, 0, all, WIRE_L_WHOLE, NULL),
			 0);
	ck_assert_int_eq(lock(79, 1, WIRE_L_SHARED, 0, all, 0, NULL), -EAGAIN);
	ck_assert_int_eq(lock(79, 1, WIRE_L_SHARED, 0, all, WIRE_L_WHOLE, NULL),
			 0);
	ck_assert_int_eq(lock(79, 1, WIRE_L_UNLOCK, 0, all, WIRE_L_WHOLE, NULL),
			 0);
	ck_assert_int_eq(lock(79, 1, WIRE_L_SHARED, 0, all, 0, NULL), -EAGAIN);
}
END_TEST

START_TEST(end_with_the_session)
{
	uint64_t handle = 0;

	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 0, 10, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_EXCLUSIVE, 10, 20, 0, NULL), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 20, 30, 0, NULL), 0);
	fx_reopen(&fx); /* they are durable */
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 20, 0, NULL),
			 -EAGAIN);
	ck_assert_int_eq(FX_DO(&fx, ns_drop_locks(&op, 77, &handle)), 0);
	ck_assert_uint_eq(handle, ino.handle);
	ck_assert_int_eq(FX_DO(&fx, ns_drop_locks(&op, 77, &handle)), -ENOENT);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 20, 0, NULL), 0);
	ck_assert_int_eq(lock(79, 1, WIRE_L_SHARED, 29, 30, 0, NULL), -EAGAIN);
}
END_TEST

/* The session's list of files has those alone that it has locks on. */
START_TEST(nothing_stays_of_what_is_let_go)
{
	uint64_t handle;

	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 0, 10, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_EXCLUSIVE, 10, 20, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 0, 20, 0, NULL), 0);
	ck_assert_int_eq(locker_any(fx.st, 77, &handle), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_UNLOCK, 0, 15, 0, NULL), 0);
	ck_assert_int_eq(locker_any(fx.st, 77, &handle), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_UNLOCK, 0, 30, 0, NULL), 0);
	ck_assert_int_eq(locker_any(fx.st, 77, &handle), -ENOENT);
	ck_assert_int_eq(lock(77, 2, WIRE_L_UNLOCK, 0, 30, 0, NULL), 0);
	ck_assert(!store_changed(fx.st));
}
END_TEST

START_TEST(need_a_right_to_the_file)
{
	fx_become(&fx, 1234, 1234);
	ck_assert_int_eq(lock(77, 1, WIRE_L_SHARED, 0, 1, 0, NULL), -EACCES);
	fx_become(&fx, 0, 0);
	ino.handle += 1000;
	ck_assert_int_eq(lock(77, 1, WIRE_L_SHARED, 0, 1, 0, NULL), -ESTALE);
}
END_TEST

static Suite *lock_suite(void)
{
	Suite *suite = suite_create("mgr_lock");
	TCase *tc = tcase_create("mgr_lock");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, as_the_model);
	tcase_add_test(tc, a_test_takes_nothing);
	tcase_add_test(tc, whole_files_are_apart);
	tcase_add_test(tc, end_with_the_session);
	tcase_add_test(tc, nothing_stays_of_what_is_let_go);
	tcase_add_test(tc, need_a_right_to_the_file);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(lock_suite());
}
