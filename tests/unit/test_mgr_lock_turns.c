/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_lock_turns.c - locks and unlocks that need several turns. */
#include <errno.h>

#include "mgr/db/lock_rows.h"
#include "tests/unit/mgr_fixture.h"
#include "mgr/db/sessions.h"

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

static void ck_count(uint64_t session, uint32_t rows)
{
	uint32_t locks = 0;

	ck_assert_int_eq(locker_get(fx.db.st, session, ino.handle, &locks),
			 rows ? 0 : -ENOENT);
	ck_assert_uint_eq(locks, rows);
}

static bool nobody; /* later turns have no user */

/* One turn; its changes are kept. */
static int lock_turn(struct ns_pause *pause, uint64_t owner, uint32_t type,
		     uint64_t start, uint64_t end)
{
	struct ns_lock_args args = { .handle = ino.handle,
				     .owner = owner,
				     .start = start,
				     .end = end,
				     .type = type };
	uint64_t before = ns_work(&fx.ns);
	struct lock_rec other;
	struct ns_op op;
	int rc;

	fx.session = 77;
	op = fx_begin(&fx);
	op.pause = pause;
	if (nobody)
		op.cred = NULL;
	rc = ns_lock(&op, &args, &other);
	if (rc != NS_PART && rc != NS_PAUSED)
		ns_pause_end(&fx.ns, pause);
	fx_end(&fx, &op, rc == NS_PART ? 0 : rc);
	ck_assert_uint_le(ns_work(&fx.ns) - before, 3 * NS_TURN_STEPS);
	return rc;
}

static void take_many(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ck_assert_int_eq(lock(77, 1, 1 + i % 2, 3 * i + 1, 3 * i + 3, 0,
				      NULL),
				 0);
}

/* A lock replaces many locks of the owner, in turns: no other client gets a lock meanwhile. */
START_TEST(many_replaced_in_turns)
{
	const uint32_t n = 1000;
	const uint64_t all = 3 * n + 1;
	struct ns_pause pause = { 0 };
	unsigned int turns = 1;
	int rc;

	take_many(n);
	while ((rc = lock_turn(&pause, 1, WIRE_L_EXCLUSIVE, 0, all)) ==
	       NS_PART) {
		turns++;
		for (uint64_t at = 0; at < all; at += all / 5)
			ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, at, at + 1,
					      0, NULL),
					 -EAGAIN);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_ge(turns, n / (NS_TURN_STEPS / 2));
	ck_assert_uint_le(turns, n / (NS_TURN_STEPS / 2) + 2);
	ck_count(77, 1);
	/* its request ends between the turns: the rest of the range is free */
	ck_assert_int_eq(lock(77, 1, WIRE_L_UNLOCK, 0, all, 0, NULL), 0);
	take_many(n);
	ck_assert_int_eq(lock_turn(&pause, 1, WIRE_L_EXCLUSIVE, 0, all),
			 NS_PART);
	ns_pause_end(&fx.ns, &pause);
	ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, all - 1, all, 0, NULL), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, 0, 1, 0, NULL), -EAGAIN);
}
END_TEST

/* After the first turn the rest follows, although the user no longer has access to the file. */
START_TEST(begun_is_ended)
{
	const uint32_t n = 200;
	struct ns_pause pause = { 0 };
	int rc;

	take_many(n);
	ck_assert_int_eq(fx_chmod(&fx, "f", 0666), 0);
	fx_become(&fx, 7, 7);
	ck_assert_int_eq(lock_turn(&pause, 1, WIRE_L_EXCLUSIVE, 0, 3 * n),
			 NS_PART);
	ck_assert(pause.begun);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_chmod(&fx, "f", 0), 0);
	fx_become(&fx, 7, 7);
	while ((rc = lock_turn(&pause, 1, WIRE_L_EXCLUSIVE, 0, 3 * n)) ==
	       NS_PART)
		;
	ck_assert_int_eq(rc, 0);
	ck_assert(!pause.begun);
	ck_count(77, 1);
	ck_assert_int_eq(lock_turn(&pause, 1, WIRE_L_SHARED, 0, 1), -EACCES);
	fx_become(&fx, 0, 0);
}
END_TEST

START_TEST(many_let_go_in_turns)
{
	const uint32_t n = 1000;
	struct ns_pause pause = { 0 };
	unsigned int turns = 1;
	int rc;

	take_many(n);
	while ((rc = lock_turn(&pause, 1, WIRE_L_UNLOCK, 0, INT64_MAX)) ==
	       NS_PART)
		turns++;
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(turns, n / (NS_TURN_STEPS / 2) + 1);
	ck_count(77, 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_EXCLUSIVE, 0, 3 * n, 0, NULL), 0);
}
END_TEST

/* Otherwise the rest of the old request would undo the newer one. */
START_TEST(others_of_the_holder_wait)
{
	const uint32_t n = 200, type = _i ? WIRE_L_SHARED : WIRE_L_UNLOCK;
	struct ns_adopt_args args = { .session = 77,
				      .handle = ino.handle,
				      .owner = 1 };
	struct session_rec rec = { .id = 77 };
	struct ns_pause old = { 0 }, new = { 0 };
	uint32_t done;
	int rc;

	take_many(n);
	ck_assert_int_eq(ns_begin(&fx.ns), 0);
	ck_assert_int_eq(session_put(fx.db.st, &rec), 0);
	ck_assert_int_eq(ns_commit(&fx.ns), 0);
	ck_assert_int_eq(lock_turn(&old, 1, type, 0, 3 * n), NS_PART);
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_EXCLUSIVE, 1, 2), NS_PAUSED);
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_UNLOCK, 1, 2), NS_PAUSED);
	ck_assert(!new.begun);
	fx.session = 78;
	ck_assert_int_eq(FX_DO(&fx, ns_adopt(&op, &args, &done)), NS_PAUSED);
	/* a test, another owner, and locks of whole files do not wait */
	ck_assert_int_eq(lock(77, 1, WIRE_L_EXCLUSIVE, 1, 2, WIRE_L_TEST, NULL),
			 0);
	ck_assert_int_eq(lock(77, 2, WIRE_L_SHARED, 3 * n, 3 * n + 1, 0, NULL),
			 0);
	ck_assert_int_eq(lock(77, 1, WIRE_L_SHARED, 0, 1, WIRE_L_WHOLE, NULL),
			 0);
	while ((rc = lock_turn(&old, 1, type, 0, 3 * n)) == NS_PART)
		;
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_EXCLUSIVE, 1, 2), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, 1, 2, 0, NULL), -EAGAIN);
	fx.session = 78;
	ck_assert_int_eq(FX_DO(&fx, ns_adopt(&op, &args, &done)), 0);
}
END_TEST

/* A request that arrives while others wait runs after them. */
START_TEST(in_order_of_arrival)
{
	const uint32_t n = 200, all = 3 * n;
	struct ns_pause old = { 0 }, unlock = { 0 }, new = { 0 };

	take_many(n);
	ck_assert_int_eq(lock_turn(&old, 1, WIRE_L_UNLOCK, 0, all), NS_PART);
	ck_assert_int_eq(lock_turn(&unlock, 1, WIRE_L_UNLOCK, 0, all),
			 NS_PAUSED);
	while (lock_turn(&old, 1, WIRE_L_UNLOCK, 0, all) == NS_PART)
		;
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_EXCLUSIVE, 1, 2), NS_PAUSED);
	ck_assert_int_eq(lock_turn(&unlock, 1, WIRE_L_UNLOCK, 0, all), 0);
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_EXCLUSIVE, 1, 2), 0);
	ck_assert_int_eq(lock(78, 1, WIRE_L_SHARED, 1, 2, 0, NULL), -EAGAIN);
}
END_TEST

/* The request ends, for example with its session: the others continue. */
START_TEST(an_end_between_turns)
{
	const uint32_t n = 200;
	struct ns_pause old = { 0 }, new = { 0 };

	take_many(n);
	ck_assert_int_eq(lock_turn(&old, 1, WIRE_L_UNLOCK, 0, 3 * n), NS_PART);
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_SHARED, 1, 2), NS_PAUSED);
	ns_pause_end(&fx.ns, &old);
	ck_assert_int_eq(lock_turn(&new, 1, WIRE_L_SHARED, 1, 2), 0);
}
END_TEST

/* The session may have lost the right to act for this user. */
START_TEST(later_turns_need_no_user)
{
	const uint32_t n = 200;
	struct ns_pause pause = { 0 };
	int rc;

	take_many(n);
	ck_assert_int_eq(lock_turn(&pause, 1, WIRE_L_EXCLUSIVE, 2, 3 * n - 1),
			 NS_PART);
	nobody = true;
	while ((rc = lock_turn(&pause, 1, WIRE_L_EXCLUSIVE, 2, 3 * n - 1)) ==
	       NS_PART)
		;
	nobody = false;
	ck_assert_int_eq(rc, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lock_turns");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, many_replaced_in_turns);
	tcase_add_test(tc, begun_is_ended);
	tcase_add_test(tc, many_let_go_in_turns);
	tcase_add_loop_test(tc, others_of_the_holder_wait, 0, 2);
	tcase_add_test(tc, in_order_of_arrival);
	tcase_add_test(tc, an_end_between_turns);
	tcase_add_test(tc, later_turns_need_no_user);
	return fx_main("mgr_lock_turns", cases);
}
