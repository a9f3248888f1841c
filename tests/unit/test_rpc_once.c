/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_once.c - exactly once: the connection breaks before and after every single work request
 * in turn, and each call is executed once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define PART 60000u /* bytes of each transfer */

static struct rig *rig;
static uint8_t *buf;
static struct tp_mr *mr;

static void setup(void)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "mock");
	buf = malloc(RIG_OBJECT);
	ck_assert_int_eq(tp_mr_reg(rig->dev, buf, RIG_OBJECT,
				   TP_REMOTE_READ | TP_REMOTE_WRITE, &mr),
			 0);
}

static void teardown(void)
{
	tp_mr_dereg(mr);
	free(buf);
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

static void fill(uint8_t *at, uint32_t seed)
{
	for (size_t i = 0; i < PART; i++)
		at[i] = (uint8_t)((i + seed) * 2654435761u >> 13);
}

/* Makes six calls at once over four slots, twice. */
static void scenario(void)
{
	static struct rig_call c[6];
	int i, turn;

	for (turn = 0; turn < 2; turn++) {
		fill(buf, 1);
		fill(buf + PART, 2);
		fill(rig->object + 2 * PART, 3);
		rig_append(rig, &c[0], 1, 9000);
		rig_io(rig, &c[1], WIRE_WRITE, 0, buf, PART, mr, 5, 9000);
		rig_io(rig, &c[2], WIRE_READ, 2 * PART, buf + 2 * PART, PART,
		       mr, 3, 9000);
		rig_append(rig, &c[3], 10, 9000);
		rig_io(rig, &c[4], WIRE_WRITE, PART, buf + PART, PART, NULL, 2,
		       9000);
		rig_append(rig, &c[5], 100, 9000);
		for (i = 0; i < 6; i++) {
			rig_until(rig, c[i].finished);
			ck_assert_msg(c[i].call.status == 0, "step %d call %d",
				      mock.break_at, i);
			ck_assert_uint_eq(c[i].times, 1);
		}
		ck_assert_int_eq(memcmp(buf, rig->object, 3 * PART), 0);
		memset(buf, 0, 3 * PART);
		memset(rig->object, 0, 3 * PART);
	}
}

START_TEST(breaks_everywhere)
{
	int last = 0, at;

	for (at = 1; !last; at++) {
		setup();
		mock.break_at = at;
		scenario();
		ck_assert_msg(rig->counter == 222, "step %d", at);
		ck_assert_uint_eq(rig->fresh, 1);
		last = !mock.broke;
		rig_until(rig, rig_logged(rig, " ms") == !last);
		ck_assert_uint_eq(rig_logged(rig, "trying again"), !last);
		rig_until(rig, rig->bulks == 0);
		teardown();
	}
	ck_assert_int_gt(at, 60);
}
END_TEST

/* Several breaks in one run, also of the connections made after the first break. */
START_TEST(breaks_again_and_again)
{
	int gap;

	for (gap = 1; gap < 40; gap++) {
		setup();
		for (int i = 0; i < 3; i++) {
			mock.break_at = mock.step + gap;
			mock.broke = false;
			scenario();
		}
		ck_assert_msg(rig->counter == 666, "gap %d", gap);
		teardown();
	}
}
END_TEST

static void break_now(void)
{
	struct rig_call c;

	mock.broke = false;
	mock.break_at = mock.step + 1;
	rig_append(rig, &c, 1, 9000);
	rig_until(rig, c.finished && mock.broke);
	ck_assert_int_eq(c.call.status, 0);
}

START_TEST(replay_joins_execution)
{
	struct rig_call c;

	rig_release(rig, &c, 9000);
	rig_until(rig, rig->nheld == 1);
	break_now();
	break_now();
	rig_for_ms(rig, 5);
	ck_assert_uint_eq(rig->nheld, 1);
	ck_assert(!c.finished);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(rig->executed, 3);
}
END_TEST

START_TEST(replay_runs_after_abort)
{
	struct rig_call c;

	rig_release(rig, &c, 9000);
	rig_until(rig, rig->nheld == 1);
	break_now();
	rig_for_ms(rig, 5);
	rpc_req_abort(rig->held[0]);
	rig->nheld = 0;
	rig_until(rig, rig->nheld == 1);
	ck_assert(!c.finished);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
}
END_TEST

/* A slot is reused while the server still works on its last call. */
START_TEST(next_call_waits_for_the_last)
{
	struct rig_call c, next[4];
	int i;

	rig_release(rig, &c, 9000);
	rig_until(rig, rig->nheld == 1);
	mock.break_at = mock.step + 1;
	rig_append(rig, &next[0], 1, 9000);
	rig_until(rig, mock.broke);
	rpc_call_cancel(&c.call);
	for (i = 1; i < 4; i++)
		rig_append(rig, &next[i], 1, 9000);
	rig_until(rig, next[0].finished);
	rig_for_ms(rig, 10);
	ck_assert_uint_eq(
		next[1].finished + next[2].finished + next[3].finished, 2);
	rig_answer(rig);
	for (i = 1; i < 4; i++) {
		rig_until(rig, next[i].finished);
		ck_assert_int_eq(next[i].call.status, 0);
	}
	ck_assert_uint_eq(rig->counter, 4);
}
END_TEST

START_TEST(connection_breaks_with_a_parked_replay)
{
	struct rig_call c;

	rig_release(rig, &c, 9000);
	rig_until(rig, rig->nheld == 1);
	for (int i = 0; i < 8; i++)
		break_now();
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(rig->executed, 9);
}
END_TEST

/*
 * The server is killed at every step.  Its counts are lost, because the rig stores nothing, but no
 * call is lost.
 */
START_TEST(server_restarts_everywhere)
{
	static struct rig_call c[3];
	int at, i, last = 0;

	for (at = 1; !last; at++) {
		setup();
		mock.break_at = at;
		fill(buf, 1);
		rig_append(rig, &c[0], 1, 9000);
		rig_io(rig, &c[1], WIRE_WRITE, 0, buf, PART, mr, 5, 9000);
		rig_io(rig, &c[2], WIRE_READ, PART, buf + PART, PART, mr, 3,
		       9000);
		rig_until(rig, mock.broke || (c[0].finished && c[1].finished &&
					      c[2].finished));
		last = !mock.broke;
		if (!last) {
			rig_server_close(rig);
			rig_for_ms(rig, 2);
			rig_server_open(rig);
		}
		for (i = 0; i < 3; i++) {
			rig_until(rig, c[i].finished);
			ck_assert_int_eq(c[i].call.status, 0);
		}
		ck_assert_int_eq(memcmp(buf, rig->object, 2 * PART), 0);
		rig_until(rig, rig->bulks == 0);
		teardown();
	}
	ck_assert_int_gt(at, 30);
}
END_TEST

/* A durable reply cache: the request was executed before the crash. */
START_TEST(seeded_slots_answer_replays)
{
	struct rig_call c;

	/* HELLO and its reply were sent, and the request arrived */
	mock.break_at = 6;
	rig_append(rig, &c, 5, 9000);
	rig_until(rig, mock.broke);
	rig_server_close(rig);
	rig->seed_seq = 1;
	rig_server_open(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(c.offset, 77);
	ck_assert_uint_eq(rig->executed, 1);
	ck_assert_uint_eq(rig->fresh, 1);
}
END_TEST

/* One of three slots in use no longer exists: its request may have been executed. */
START_TEST(server_returns_with_fewer_slots)
{
	struct rig_call c[3];
	unsigned int i, lost = 0;

	for (i = 0; i < 3; i++)
		rig_release(rig, &c[i], 9000);
	rig_until(rig, rig->nheld == 3);
	rig_server_close(rig);
	rig->sattr.slots = 2;
	rig_server_open(rig);
	rig_until(rig, rig->nheld == 2);
	rig_answer(rig);
	rig_answer(rig);
	for (i = 0; i < 3; i++) {
		rig_until(rig, c[i].finished);
		lost += c[i].call.status == -ESTALE;
		ck_assert(!c[i].call.status || c[i].call.status == -ESTALE);
	}
	ck_assert_uint_eq(lost, 1);
	ck_assert_uint_eq(rig_logged(rig, "as many as before"), 1);
	for (i = 0; i < 3; i++)
		rig_append(rig, &c[i], 1, 9000);
	rig_until(rig, c[2].finished);
	ck_assert_int_eq(c[2].call.status, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_once");
	TCase *tc = tcase_create("sweeps"), *held = tcase_create("held");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, breaks_everywhere);
	tcase_add_test(tc, breaks_again_and_again);
	tcase_add_test(tc, server_restarts_everywhere);
	tcase_add_checked_fixture(held, setup, teardown);
	tcase_add_test(held, replay_joins_execution);
	tcase_add_test(held, replay_runs_after_abort);
	tcase_add_test(held, next_call_waits_for_the_last);
	tcase_add_test(held, connection_breaks_with_a_parked_replay);
	tcase_add_test(held, seeded_slots_answer_replays);
	tcase_add_test(held, server_returns_with_fewer_slots);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, held);
	return run_suite(s);
}
