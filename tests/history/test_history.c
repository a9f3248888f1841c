/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_history.c - the checker itself: it accepts every result that a correct file system may give,
 * and finds each violation after a long history.
 */
#include <check.h>
#include <errno.h>

#include "tests/run_suite.h"
#include "tests/history/sim.h"

#define LONG 1500u
#define A 1001
#define B 1002
#define C 1003

static struct sim *sim;

static void setup(void)
{
	sim = sim_new(7);
	sim_run(sim, LONG);
}

static void teardown(void)
{
	sim_free(sim);
}

#define call(...) sim_call(sim, __VA_ARGS__)
#define found() ck_assert_uint_ge(sim_judge(sim), 1)
#define right() ck_assert_uint_eq(sim_judge(sim), 0)

static uint64_t val(const struct op *op)
{
	return value_of(op->writer, op->no, 0);
}

static void reads(enum object_kind okind, uint32_t block, uint64_t value)
{
	call(C, OP_READ, okind, block, 1, 1)->val[0] = value;
}

START_TEST(correct)
{
	struct sim *s = sim_new((uint64_t)_i + 100);

	sim_run(s, 4000);
	s->h.out = stdout;
	ck_assert_uint_eq(sim_judge(s), 0);
	sim_free(s);
}
END_TEST

/* ---- blocks ---- */

static const enum object_kind files[] = { OBJ_PLAIN, OBJ_CUT };

START_TEST(lost_write)
{
	uint64_t old = sim->block[files[_i]][3];

	call(A, OP_WRITE, files[_i], 3, 1, 1);
	reads(files[_i], 3, old);
	found();
}
END_TEST

START_TEST(stale_read)
{
	struct op *w = call(A, OP_WRITE, files[_i], 3, 1, 1);
	struct op *x = call(B, OP_WRITE, files[_i], 3, 1, 1);

	reads(files[_i], 3, val(x));
	reads(files[_i], 3, val(w));
	found();
}
END_TEST

START_TEST(late_failed_write)
{
	struct op *w = call(A, OP_WRITE, files[_i], 3, 1, -ETIMEDOUT);

	call(B, OP_WRITE, files[_i], 3, 1, 1);
	reads(files[_i], 3, val(w));
	found();
}
END_TEST

START_TEST(failed_write_in_time)
{
	struct op *w = call(A, OP_WRITE, files[_i], 3, 1, -ETIMEDOUT);

	reads(files[_i], 3, val(w));
	right();
}
END_TEST

START_TEST(failed_write_never)
{
	uint64_t old = sim->block[files[_i]][3];

	call(A, OP_WRITE, files[_i], 3, 1, -ETIMEDOUT);
	reads(files[_i], 3, old);
	right();
}
END_TEST

/*
 * A client read the block after the failed write returned, and did not see it; then the write took
 * effect.
 */
START_TEST(failed_write_after_a_look)
{
	uint64_t old = sim->block[files[_i]][3];
	struct op *w = call(A, OP_WRITE, files[_i], 3, 1, -ETIMEDOUT);

	reads(files[_i], 3, old);
	reads(files[_i], 3, val(w));
	found();
}
END_TEST

START_TEST(killed_write_too_late)
{
	struct op *w = call(A, OP_WRITE, files[_i], 3, 1, 1);

	w->state = OP_BEGUN;
	sim->h.n--;
	history_add(&sim->h, w);
	sim->now += 2 * sim->h.bound;
	call(B, OP_WRITE, files[_i], 3, 1, 1);
	reads(files[_i], 3, val(w));
	found();
}
END_TEST

START_TEST(out_of_nowhere)
{
	reads(files[_i], 3, value_of(999, 1, 0));
	found();
}
END_TEST

START_TEST(torn)
{
	call(A, OP_WRITE, files[_i], 3, 1, 1);
	reads(files[_i], 3, VALUE_TORN);
	found();
}
END_TEST

/* A read finds a block torn, while a client writes this block or another one. */
static void torn_beside(unsigned int block)
{
	call(B, OP_WRITE, files[0], 3, 1, 1);
	call(A, OP_WRITE, files[0], block, 1, 1);
	reads(files[0], 3, VALUE_TORN);
	sim->h.call[sim->h.n - 1].begin = sim->h.call[sim->h.n - 2].end;
}

START_TEST(torn_beside_its_write)
{
	torn_beside(3);
	right();
}
END_TEST

/* Two concurrent writes, then a read; with done_after, a third write is between them. */
static void torn_after_two(bool done_after)
{
	call(A, OP_WRITE, files[0], 3, 1, 1);
	call(B, OP_WRITE, files[0], 2, 2, 2);
	sim->h.call[sim->h.n - 1].begin = sim->h.call[sim->h.n - 2].end;
	if (done_after)
		call(A, OP_WRITE, files[0], 3, 1, 1);
	reads(files[0], 3, VALUE_TORN);
}

START_TEST(torn_by_two_writes)
{
	torn_after_two(false);
	right();
}
END_TEST

START_TEST(torn_behind_a_third)
{
	torn_after_two(true);
	found();
}
END_TEST

START_TEST(torn_by_a_failed_write)
{
	call(A, OP_WRITE, files[0], 3, 1, -ETIMEDOUT);
	reads(files[0], 3, VALUE_TORN);
	right();
}
END_TEST

START_TEST(torn_behind_a_failed_write)
{
	call(A, OP_WRITE, files[0], 3, 1, -ETIMEDOUT);
	call(A, OP_WRITE, files[0], 3, 1, 1);
	reads(files[0], 3, VALUE_TORN);
	found();
}
END_TEST

START_TEST(torn_beside_another_write)
{
	torn_beside(4);
	found();
}
END_TEST

/* The block has the content of another block of the same call. */
START_TEST(wrong_place)
{
	struct op *w = call(A, OP_WRITE, files[_i], 2, 2, 2);

	reads(files[_i], 3, val(w));
	found();
}
END_TEST

/* ---- truncation ---- */

START_TEST(late_truncation)
{
	call(A, OP_TRUNCATE, OBJ_CUT, 0, 0, -ETIMEDOUT);
	call(A, OP_WRITE, OBJ_CUT, 3, 1, 1);
	reads(OBJ_CUT, 3, VALUE_ZERO);
	found();
}
END_TEST

START_TEST(truncation_in_time)
{
	call(A, OP_WRITE, OBJ_CUT, 3, 1, 1);
	call(A, OP_TRUNCATE, OBJ_CUT, 0, 0, -ETIMEDOUT);
	reads(OBJ_CUT, 3, VALUE_ZERO);
	right();
}
END_TEST

START_TEST(lost_truncation)
{
	struct op *w = call(A, OP_WRITE, OBJ_CUT, 3, 1, 1);

	call(A, OP_TRUNCATE, OBJ_CUT, 0, 0, 0);
	reads(OBJ_CUT, 3, val(w));
	found();
}
END_TEST

START_TEST(size_too_small)
{
	call(A, OP_WRITE, OBJ_CUT, 7, 1, 1);
	call(B, OP_SIZE, OBJ_CUT, 0, 0, 5);
	found();
}
END_TEST

START_TEST(size_of_nobody)
{
	call(A, OP_TRUNCATE, OBJ_CUT, 0, 0, 0);
	call(B, OP_WRITE, OBJ_CUT, 1, 1, 1);
	call(B, OP_SIZE, OBJ_CUT, 0, 0, 6);
	found();
}
END_TEST

/* ---- appends ---- */

static void read_tail(uint32_t block, const struct op *op, uint32_t k)
{
	reads(OBJ_TAIL, block, value_of(op->writer, op->no, k));
}

START_TEST(append_lost)
{
	sim->h.looked = true;
	while (sim->h.n) /* earlier appends need not have been read */
		free((void *)sim->h.call[--sim->h.n].op);
	call(A, OP_APPEND, OBJ_TAIL, 0, 2, 2);
	found();
}
END_TEST

START_TEST(append_twice)
{
	struct op *a = call(A, OP_APPEND, OBJ_TAIL, 0, 1, 1);

	read_tail(sim->tail_end, a, 0);
	read_tail(sim->tail_end + 1, a, 0);
	found();
}
END_TEST

START_TEST(append_not_in_one_piece)
{
	struct op *a = call(A, OP_APPEND, OBJ_TAIL, 0, 2, 2);

	read_tail(sim->tail_end, a, 0);
	read_tail(sim->tail_end + 2, a, 1);
	found();
}
END_TEST

START_TEST(append_over_another)
{
	struct op *a = call(A, OP_APPEND, OBJ_TAIL, 0, 2, 2);
	struct op *b = call(B, OP_APPEND, OBJ_TAIL, 0, 2, 2);

	read_tail(sim->tail_end, a, 0);
	read_tail(sim->tail_end + 1, b, 0);
	found();
}
END_TEST

/* A failed append may have left its first blocks; the next one begins after these. */
START_TEST(append_behind_a_part)
{
	struct op *a = call(A, OP_APPEND, OBJ_TAIL, 0, 3, -ENOSPC);
	struct op *b = call(B, OP_APPEND, OBJ_TAIL, 0, 2, 2);

	read_tail(sim->tail_end, a, 0);
	read_tail(sim->tail_end + 1, a, 1);
	read_tail(sim->tail_end + 2, b, 0);
	history_check(&sim->h);
	ck_assert_uint_eq(sim->h.violations, 0);
}
END_TEST

START_TEST(append_before_an_earlier_one)
{
	struct op *a = call(A, OP_APPEND, OBJ_TAIL, 0, 1, 1);
	struct op *b = call(B, OP_APPEND, OBJ_TAIL, 0, 1, 1);

	read_tail(sim->tail_end + 1, a, 0);
	read_tail(sim->tail_end, b, 0);
	found();
}
END_TEST

START_TEST(append_late)
{
	struct op *a = call(A, OP_APPEND, OBJ_TAIL, 0, 1, -ETIMEDOUT);

	reads(OBJ_TAIL, sim->tail_end, VALUE_ZERO);
	read_tail(sim->tail_end, a, 0);
	found();
}
END_TEST

/* ---- locks ---- */

static struct op *lock(uint16_t writer, enum lock_mode mode)
{
	struct op *op = call(writer, OP_LOCK, OBJ_GUARD, 0, 0, 0);

	op->arg = mode;
	return op;
}

static struct op *guarded(uint16_t writer, const struct op *hold, int result)
{
	struct op *op = call(writer, OP_WRITE, OBJ_GUARD, 3, 1, result);

	op->arg = hold->no;
	return op;
}

static void unlock(uint16_t writer, const struct op *hold, int result)
{
	call(writer, OP_UNLOCK, OBJ_GUARD, 0, 0, result)->arg = hold->no;
}

START_TEST(two_holders)
{
	struct op *a = lock(A, _i ? LOCK_SHARED : LOCK_EXCLUSIVE);
	struct op *b = lock(B, LOCK_EXCLUSIVE);

	unlock(A, a, 0);
	unlock(B, b, 0);
	found();
}
END_TEST

START_TEST(two_readers)
{
	struct op *a = lock(A, LOCK_SHARED);
	struct op *b = lock(B, LOCK_SHARED);

	unlock(A, a, 0);
	unlock(B, b, 0);
	right();
}
END_TEST

START_TEST(lost_holder_writes)
{
	struct op *a = lock(A, LOCK_EXCLUSIVE);

	lock(B, LOCK_SHARED);
	guarded(A, a, 1);
	found();
}
END_TEST

START_TEST(lost_holder_is_refused)
{
	struct op *a = lock(A, LOCK_EXCLUSIVE), *b, *w;

	guarded(A, a, 1);
	b = lock(B, LOCK_EXCLUSIVE);
	w = guarded(B, b, 1);
	guarded(A, a, -ESTALE);
	reads(OBJ_GUARD, 3, val(w));
	unlock(A, a, -ESTALE);
	right();
}
END_TEST

START_TEST(lost_holders_write_is_seen)
{
	struct op *a = lock(A, LOCK_EXCLUSIVE), *w;

	lock(B, LOCK_EXCLUSIVE);
	w = guarded(A, a, -ETIMEDOUT);
	reads(OBJ_GUARD, 3, val(w));
	found();
}
END_TEST

/*
 * The write was in flight when the lock was given to the next holder, and took effect after that.
 */
START_TEST(write_under_way_comes_late)
{
	struct op *a = lock(A, LOCK_EXCLUSIVE), *b, *w, *x;

	w = guarded(A, a, -ETIMEDOUT);
	b = lock(B, LOCK_EXCLUSIVE);
	x = guarded(B, b, 1);
	w->end = sim->now + 1000;
	sim->h.call[sim->h.n - 3].end = w->end;
	reads(OBJ_GUARD, 3, val(x));
	reads(OBJ_GUARD, 3, val(w));
	found();
}
END_TEST

/* ---- names ---- */

static void create(uint16_t writer, uint32_t name, int result)
{
	call(writer, OP_CREATE, OBJ_NAMES, name, 0, result)->arg = ++sim->ids;
}

static void lookup(uint32_t name, uint64_t id)
{
	call(C, OP_LOOKUP, OBJ_NAMES, name, 0, id ? 0 : -ENOENT)->arg = id;
}

static void empty(void)
{
	for (uint32_t i = 0; i < 4; i++)
		if (sim->name[i])
			call(A, OP_UNLINK, OBJ_NAMES, i, 0, 0);
}

START_TEST(names_right)
{
	empty();
	create(A, 0, 0);
	call(A, OP_LINK, OBJ_NAMES, 0, 1, 0);
	call(A, OP_RENAME, OBJ_NAMES, 1, 2, 0);
	lookup(2, sim->ids);
	lookup(1, 0);
	call(A, OP_UNLINK, OBJ_NAMES, 0, 0, -ETIMEDOUT);
	lookup(0, sim->ids);
	right();
}
END_TEST

START_TEST(name_resurrected)
{
	empty();
	create(A, 0, 0);
	call(A, OP_UNLINK, OBJ_NAMES, 0, 0, 0);
	lookup(0, sim->ids);
	found();
}
END_TEST

START_TEST(name_lost)
{
	empty();
	create(A, 0, 0);
	lookup(0, 0);
	found();
}
END_TEST

START_TEST(two_creators)
{
	empty();
	create(A, 0, 0);
	create(B, 0, 0);
	found();
}
END_TEST

START_TEST(name_late)
{
	empty();
	create(A, 0, -ETIMEDOUT);
	lookup(0, 0);
	lookup(0, sim->ids);
	found();
}
END_TEST

START_TEST(unlink_late)
{
	empty();
	create(A, 0, 0);
	call(A, OP_UNLINK, OBJ_NAMES, 0, 0, -ETIMEDOUT);
	lookup(0, sim->ids);
	lookup(0, 0);
	found();
}
END_TEST

START_TEST(rename_half_done)
{
	empty();
	create(A, 0, 0);
	call(A, OP_RENAME, OBJ_NAMES, 0, 1, 0);
	lookup(1, sim->ids);
	lookup(0, sim->ids);
	found();
}
END_TEST

START_TEST(exists_and_does_not)
{
	empty();
	create(A, 0, -EEXIST);
	found();
}
END_TEST

static TCase *right_case(void)
{
	TCase *tc = tcase_create("right");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, correct, 0, 40);
	return tc;
}

static void add_files(TCase *tc)
{
	tcase_add_loop_test(tc, lost_write, 0, 2);
	tcase_add_loop_test(tc, stale_read, 0, 2);
	tcase_add_loop_test(tc, late_failed_write, 0, 2);
	tcase_add_loop_test(tc, failed_write_in_time, 0, 2);
	tcase_add_loop_test(tc, failed_write_never, 0, 2);
	tcase_add_loop_test(tc, failed_write_after_a_look, 0, 2);
	tcase_add_loop_test(tc, killed_write_too_late, 0, 2);
	tcase_add_loop_test(tc, out_of_nowhere, 0, 2);
	tcase_add_loop_test(tc, torn, 0, 2);
	tcase_add_test(tc, torn_beside_its_write);
	tcase_add_test(tc, torn_beside_another_write);
	tcase_add_test(tc, torn_by_two_writes);
	tcase_add_test(tc, torn_behind_a_third);
	tcase_add_test(tc, torn_by_a_failed_write);
	tcase_add_test(tc, torn_behind_a_failed_write);
	tcase_add_loop_test(tc, wrong_place, 0, 2);
	tcase_add_test(tc, late_truncation);
	tcase_add_test(tc, truncation_in_time);
	tcase_add_test(tc, lost_truncation);
	tcase_add_test(tc, size_too_small);
	tcase_add_test(tc, size_of_nobody);
}

static void add_tails(TCase *tc)
{
	tcase_add_test(tc, append_lost);
	tcase_add_test(tc, append_twice);
	tcase_add_test(tc, append_not_in_one_piece);
	tcase_add_test(tc, append_over_another);
	tcase_add_test(tc, append_behind_a_part);
	tcase_add_test(tc, append_before_an_earlier_one);
	tcase_add_test(tc, append_late);
}

static void add_others(TCase *tc)
{
	tcase_add_loop_test(tc, two_holders, 0, 2);
	tcase_add_test(tc, two_readers);
	tcase_add_test(tc, lost_holder_writes);
	tcase_add_test(tc, lost_holder_is_refused);
	tcase_add_test(tc, lost_holders_write_is_seen);
	tcase_add_test(tc, write_under_way_comes_late);
	tcase_add_test(tc, names_right);
	tcase_add_test(tc, name_resurrected);
	tcase_add_test(tc, name_lost);
	tcase_add_test(tc, two_creators);
	tcase_add_test(tc, name_late);
	tcase_add_test(tc, unlink_late);
	tcase_add_test(tc, rename_half_done);
	tcase_add_test(tc, exists_and_does_not);
}

int main(void)
{
	Suite *s = suite_create("history");
	TCase *tc = tcase_create("planted");

	tcase_add_checked_fixture(tc, setup, teardown);
	add_files(tc);
	add_tails(tc);
	add_others(tc);
	suite_add_tcase(s, right_case());
	suite_add_tcase(s, tc);
	return run_suite(s);
}
