/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_lock.c - byte range locks, compared with a model that has a value for each byte and
 * owner.
 */
#include <errno.h>

#include "mgr/db/lock_rows.h"
#include "tests/unit/mgr_fixture.h"
#include "mgr/db/sessions.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define SEED 20031118u
#define BYTES 40
#define OWNERS 4 /* two of session 77, and two of session 78 */
#define SPACES 2 /* locks of records, and of whole files */

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
	uint32_t held[SPACES][OWNERS][BYTES];
};

static bool model_free(const uint32_t held[OWNERS][BYTES], unsigned int who,
		       uint32_t type, uint64_t start, uint64_t end)
{
	for (unsigned int o = 0; o < OWNERS; o++)
		for (uint64_t b = start; o != who && b < end; b++)
			if (held[o][b] == WIRE_L_EXCLUSIVE ||
			    (held[o][b] && type == WIRE_L_EXCLUSIVE))
				return false;
	return true;
}

static void ck_count(uint64_t session, uint32_t rows)
{
	uint32_t locks = 0;

	ck_assert_int_eq(locker_get(fx.db.st, session, ino.handle, &locks),
			 rows ? 0 : -ENOENT);
	ck_assert_uint_eq(locks, rows);
}

/*
 * Checks that the rows are those of the model for each byte, and that no two rows of one owner
 * touch.
 */
static void ck_rows(const struct model *m)
{
	struct model seen = { 0 };
	struct lock_rec rec, last = { 0 };
	uint32_t rows[2] = { 0 };
	struct lock_cursor it;

	ck_assert_int_eq(lock_cursor_open(fx.db.st, ino.handle, 0, 0, &it), 0);
	while (!lock_cursor_next(&it, &rec)) {
		unsigned int o = (unsigned int)((rec.session - 77) * 2 +
						rec.owner);

		ck_assert_uint_lt(rec.start, rec.end);
		ck_assert_uint_le(rec.end, BYTES);
		ck_assert(!lock_same_holder(&rec, &last) ||
			  rec.space != last.space || last.end < rec.start ||
			  (last.end == rec.start && last.type != rec.type));
		for (uint64_t b = rec.start; b < rec.end; b++)
			seen.held[rec.space != 0][o][b] = rec.type;
		rows[rec.session - 77]++;
		last = rec;
	}
	lock_cursor_close(&it);
	ck_count(77, rows[0]);
	ck_count(78, rows[1]);
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
		unsigned int s = (unsigned int)rnd_in(&r, 0, SPACES - 1);
		bool ok = !type || model_free(m.held[s], who, type, start, end);

		ck_assert_int_eq(lock(77 + who / 2, who % 2, type, start, end,
				      s ? WIRE_L_WHOLE : 0, NULL),
				 ok ? 0 : -EAGAIN);
		for (uint64_t b = start; ok && b < end; b++)
			m.held[s][who][b] = type;
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
	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 0, 10, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_EXCLUSIVE, 10, 20, 0, NULL), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 20, 30, 0, NULL), 0);
	fx_reopen(&fx); /* locks are durable */
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 20, 0, NULL),
			 -EAGAIN);
	ck_assert_int_eq(FX_DO(&fx, ns_drop_locks(&op, 77)), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_drop_locks(&op, 77)), -ENOENT);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 20, 0, NULL), 0);
	ck_assert_int_eq(lock(79, 1, WIRE_L_SHARED, 29, 30, 0, NULL), -EAGAIN);
}
END_TEST

/* Each transaction ends a part of the locks, and the rest after a crash. */
START_TEST(many_end_in_parts)
{
	const uint64_t n = 2 * NS_DROP_LOCKS + 1;
	uint64_t i;
	int rounds = 0;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 2 * i, 2 * i + 1,
				      0, NULL),
				 0);
	ck_assert_int_eq(FX_DO(&fx, ns_drop_locks(&op, 77)), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 1, 0, NULL), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 2 * NS_DROP_LOCKS, 2 * n,
			      0, NULL),
			 -EAGAIN);
	fx_reopen(&fx);
	while (!FX_DO(&fx, ns_drop_locks(&op, 77)))
		rounds++;
	ck_assert_int_eq(rounds, 2);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 2 * n, 0, NULL), 0);
}
END_TEST

/*
 * Session 77 adopts the locks of session 78, in parts, and no other client gets a lock meanwhile.
 */
START_TEST(many_are_adopted_in_parts)
{
	const uint64_t n = 2 * NS_DROP_LOCKS + 1;
	const struct session_rec before = { .id = 78 };
	struct ns_adopt_args args = { .session = 78,
				      .handle = ino.handle,
				      .process = true };
	uint32_t done = WIRE_AD_MORE;
	uint64_t i, handle;
	int rounds = 0;

	ck_assert_int_eq(FX_DO(&fx, session_put(fx.db.st, &before)), 0);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(lock(78, 0, WIRE_L_EXCLUSIVE, 2 * i, 2 * i + 1,
				      0, NULL),
				 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 1, 2, 0, NULL), 0);
	for (; done & WIRE_AD_MORE; rounds++) {
		fx.session = 77;
		ck_assert_int_eq(FX_DO(&fx, ns_adopt(&op, &args, &done)), 0);
		for (i = 0; i < n; i += NS_DROP_LOCKS - 1)
			ck_assert_int_eq(lock(79, 0, WIRE_L_SHARED, 2 * i,
					      2 * i + 1, 0, NULL),
					 -EAGAIN);
	}
	ck_assert_int_eq(rounds, 3);
	ck_count(77, (uint32_t)n);
	ck_count(78, 1);
	args.owner = 1;
	fx.session = 77;
	ck_assert_int_eq(FX_DO(&fx, ns_adopt(&op, &args, &done)), 0);
	ck_count(77, (uint32_t)n + 1);
	ck_assert_int_eq(locker_any(fx.db.st, 78, &handle), -ENOENT);
	ck_assert_int_eq(lock(77, 0, WIRE_L_UNLOCK, 0, 2 * n, 0, NULL), 0);
	ck_count(77, 1);
}
END_TEST

/* A session's list contains only the files on which it has locks. */
START_TEST(nothing_stays_of_what_is_let_go)
{
	uint64_t handle;

	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 0, 10, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_EXCLUSIVE, 10, 20, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 0, 20, 0, NULL), 0);
	ck_assert_int_eq(locker_any(fx.db.st, 77, &handle), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_UNLOCK, 0, 15, 0, NULL), 0);
	ck_assert_int_eq(locker_any(fx.db.st, 77, &handle), 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_UNLOCK, 0, 30, 0, NULL), 0);
	ck_assert_int_eq(locker_any(fx.db.st, 77, &handle), -ENOENT);
	ck_assert_int_eq(lock(77, 2, WIRE_L_UNLOCK, 0, 30, 0, NULL), 0);
	ck_assert(!store_changed(fx.db.st));
}
END_TEST

/*
 * A session has its maximum of locks, but others do not inspect all of them.  Otherwise this test
 * would take too long.
 */
START_TEST(many_on_one_file)
{
	const uint32_t most = 65536;

	for (uint32_t i = 0; i < most; i++)
		ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 3 * i, 3 * i + 2,
				      0, NULL),
				 0);
	ck_count(77, most);
	ck_assert_int_eq(lock(77, 2, WIRE_L_SHARED, 3 * most, 3 * most + 1, 0,
			      NULL),
			 -ENOLCK);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 1, 2, 0, NULL), 0);
	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 2, 3, 0, NULL), 0);
	ck_count(77, most);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 2, 3, 0, NULL), -EAGAIN);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 1, 2, 0, NULL), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, 3 * most - 4, 3 * most, 0,
			      NULL),
			 -EAGAIN);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 0, INT64_MAX, 0, NULL), 0);
	ck_count(77, 0);
}
END_TEST

/* Number of rows and nodes that a lock request inspects, also if none of many locks conflicts. */
static uint64_t work_of(uint64_t session, uint64_t owner, uint32_t type,
			uint64_t start, uint64_t end, uint32_t flags, int want)
{
	struct lock_rec other = { 0 };
	uint64_t before = ns_work(&fx.ns);

	ck_assert_int_eq(lock(session, owner, type, start, end, flags, &other),
			 want);
	ck_assert_uint_eq(other.type, WIRE_L_UNLOCK);
	return ns_work(&fx.ns) - before;
}

#define FEW 80u /* maximum number of steps, with thousands of locks */

START_TEST(found_by_range)
{
	const uint32_t n = 4000;
	uint64_t all = 3 * n;

	for (uint32_t i = 0; i < n; i++) {
		/* locks of one holder, of many, and of the requester */
		ck_assert_int_eq(lock(77, 1, WIRE_L_SHARED, 3 * i, 3 * i + 1, 0,
				      NULL),
				 0);
		ck_assert_int_eq(lock(78, i + 2, WIRE_L_SHARED, 3 * i,
				      3 * i + 1, 0, NULL),
				 0);
		ck_assert_int_eq(lock(79, 1, WIRE_L_EXCLUSIVE, 3 * i + 1,
				      3 * i + 2, 0, NULL),
				 0);
	}
	ck_assert_uint_le(work_of(79, 1, WIRE_L_SHARED, 0, all, WIRE_L_TEST, 0),
			  FEW);
	ck_assert_uint_le(work_of(80, 1, WIRE_L_EXCLUSIVE, all, all + 1,
				  WIRE_L_TEST, 0),
			  FEW);
	ck_assert_uint_le(work_of(80, 1, WIRE_L_EXCLUSIVE, all / 2 + 2,
				  all / 2 + 3, WIRE_L_TEST, 0),
			  FEW);
	ck_assert_uint_le(work_of(80, 1, WIRE_L_SHARED, 3, 4, WIRE_L_TEST, 0),
			  FEW);
	ck_assert_int_eq(lock(80, 1, WIRE_L_SHARED, 0, all, 0, NULL), -EAGAIN);
	ck_assert_int_eq(lock(79, 1, WIRE_L_UNLOCK, 0, all, 0, NULL), 0);
	ck_assert_uint_le(work_of(80, 1, WIRE_L_SHARED, 0, all, WIRE_L_TEST, 0),
			  FEW);
}
END_TEST

/* Scans all rows for the first conflicting lock. */
static int scan(const struct lock_rec *want, struct lock_rec *found)
{
	struct lock_cursor it;
	struct lock_rec rec;
	int rc = -ENOENT;

	ck_assert_int_eq(lock_cursor_open(fx.db.st, ino.handle, 0, 0, &it), 0);
	while (!lock_cursor_next(&it, &rec)) {
		if (lock_same_holder(&rec, want) || rec.space != want->space ||
		    rec.start >= want->end || want->start >= rec.end ||
		    (rec.type != LOCK_EXCLUSIVE &&
		     want->type != LOCK_EXCLUSIVE))
			continue;
		if (rc || rec.start < found->start)
			*found = rec;
		rc = 0;
	}
	lock_cursor_close(&it);
	return rc;
}

static struct lock_rec random_lock(struct rnd *r, uint32_t types)
{
	uint64_t start = rnd_in(r, 0, 400);

	return (struct lock_rec){ .handle = ino.handle,
				  .session = 77 + rnd_in(r, 0, 3),
				  .owner = rnd_in(r, 0, 6),
				  .start = start,
				  .end = start + rnd_in(r, 1, 20),
				  .type = (uint32_t)rnd_in(r, 3 - types, 2),
				  .space = rnd_in(r, 0, 1) ? WIRE_L_WHOLE : 0 };
}

static void ck_find(struct rnd *r)
{
	struct lock_rec want = random_lock(r, 2), found, first;
	int rc = scan(&want, &first);

	ck_assert_int_eq(lock_find(fx.db.st, &want, &found), rc);
	if (!rc)
		ck_assert_uint_eq(found.start, first.start);
}

/* ... also after undone transactions, and after a restart. */
START_TEST(found_as_by_a_scan)
{
	struct rnd r = { SEED };

	for (int turn = 0; turn < 2000; turn++) {
		struct lock_rec l = random_lock(&r, 3), other;
		struct ns_lock_args args = { .handle = l.handle,
					     .owner = l.owner,
					     .start = l.start,
					     .end = l.end,
					     .type = l.type,
					     .flags = l.space };
		struct ns_op op;
		int rc;

		fx.session = l.session;
		op = fx_begin(&fx);
		rc = ns_lock(&op, &args, &other);
		fx_end(&fx, &op, rc || !rnd_in(&r, 0, 2) ? -EAGAIN : 0);
		ck_find(&r);
		if (turn % 500 == 499)
			fx_reopen(&fx);
	}
}
END_TEST

/* Older versions did not store a count. */
START_TEST(rows_of_older_versions)
{
	uint8_t key[16];

	key_u64(key_u64(key, 77), ino.handle);
	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 0, 10, 0, NULL), 0);
	ck_assert_int_eq(ns_begin(&fx.ns), 0);
	ck_assert_int_eq(
		store_put(fx.db.st, STORE_LOCKERS, key, sizeof(key), "", 0), 0);
	ck_assert_int_eq(ns_commit(&fx.ns), 0);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 3, 4, 0, NULL), 0);
	ck_count(77, 1);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 0, 4, 0, NULL), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 9, 10, 0, NULL),
			 -EAGAIN);
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 4, 10, 0, NULL), 0);
	ck_count(77, 0);
}
END_TEST

/* Every holder between is considered, also the last possible one. */
START_TEST(of_the_outermost_holders)
{
	ck_assert_int_eq(lock(1, 0, WIRE_L_SHARED, 0, 10, 0, NULL), 0);
	ck_assert_int_eq(
		lock(UINT64_MAX, UINT64_MAX, WIRE_L_SHARED, 5, 15, 0, NULL), 0);
	ck_assert_int_eq(lock(9, UINT64_MAX, WIRE_L_EXCLUSIVE, 0, 5, 0, NULL),
			 -EAGAIN);
	ck_assert_int_eq(lock(9, UINT64_MAX, WIRE_L_EXCLUSIVE, 10, 11, 0, NULL),
			 -EAGAIN);
	ck_assert_int_eq(lock(9, UINT64_MAX, WIRE_L_EXCLUSIVE, 15, 16, 0, NULL),
			 0);
	ck_assert_int_eq(lock(UINT64_MAX, UINT64_MAX, WIRE_L_SHARED, 0, 16, 0,
			      NULL),
			 -EAGAIN);
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
	tcase_add_test(tc, many_end_in_parts);
	tcase_add_test(tc, many_are_adopted_in_parts);
	tcase_add_test(tc, many_on_one_file);
	tcase_add_test(tc, found_by_range);
	tcase_add_test(tc, found_as_by_a_scan);
	tcase_add_test(tc, of_the_outermost_holders);
	tcase_add_test(tc, rows_of_older_versions);
	tcase_add_test(tc, nothing_stays_of_what_is_let_go);
	tcase_add_test(tc, need_a_right_to_the_file);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(lock_suite());
}
