/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_silence.c - calls to a silent server end together. */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/mock_tp.h"
#include "common/comm/call/peer_int.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define FAILS "calls fail at once"
#define LONG_MS 50000u

static struct rig *rig;

static void setup_server(unsigned int patience_ms, bool manager,
			 unsigned int slots)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig->sattr.slots = slots;
	rig->patience_ms = patience_ms;
	rig->manager = manager;
	rig_open(rig, "mock");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, LONG_MS), 0);
}

static void setup(unsigned int patience_ms)
{
	setup_server(patience_ms, false, 0);
}

static void teardown(void)
{
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

/* Turns only the client, so the server is stopped. */
#define alone_until(cond)                                                      \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(RIG_PATIENCE_MS);               \
		while (!(cond)) {                                              \
			rpc_ctx_progress(rig->cctx, clock_now() + 1000000);    \
			ck_assert_msg(clock_now() < end_, "never: %s\n%s",     \
				      #cond, rig->text);                       \
		}                                                              \
	} while (0)

static int append_alone(struct rig_call *c, unsigned int ms)
{
	rig_append(rig, c, 1, ms);
	alone_until(c->finished);
	return c->call.status;
}

static void until_silent(void)
{
	struct rig_call c;

	do
		ck_assert_int_eq(append_alone(&c, 20), -ETIMEDOUT);
	while (!rig_logged(rig, FAILS));
}

static void until_answered(void)
{
	while (rig_append_now(rig, 1, NULL, LONG_MS))
		rig_turn(rig);
	ck_assert_uint_eq(rig_logged(rig, "answers again"), 1);
}

START_TEST(a_silent_server_keeps_nobody)
{
	struct rig_call c;

	setup(20);
	until_silent();
	ck_assert_int_eq(append_alone(&c, LONG_MS), -ETIMEDOUT);
	ck_assert(!c.call.unsure);
	ck_assert_uint_eq(rig_logged(rig, FAILS), 1);
	until_answered();
	teardown();
}
END_TEST

START_TEST(one_that_is_not_there_keeps_nobody)
{
	struct rig_call c;

	setup(20);
	rig_server_close(rig);
	until_silent();
	ck_assert_int_eq(append_alone(&c, LONG_MS), -ETIMEDOUT);
	rig_server_open(rig);
	until_answered();
	teardown();
}
END_TEST

START_TEST(who_comes_late_waits_no_longer)
{
	struct rig_call first, late;

	setup(LONG_MS);
	rig_append(rig, &first, 1, LONG_MS);
	alone_until(rig->peer->silence.pinging);
	rig_append(rig, &late, 1, 4 * LONG_MS);
	ck_assert_uint_eq(late.call.deadline,
			  rig->peer->silence.since +
				  (LONG_MS + SILENCE_GRACE_MS) *
					  CLOCK_NS_PER_MS);
	rig_until(rig, first.finished && late.finished);
	ck_assert_int_eq(first.call.status, 0);
	ck_assert_int_eq(late.call.status, 0);
	teardown();
}
END_TEST

/* Nothing is asked until the server would count as silent. */
START_TEST(a_slow_answer_is_no_silence)
{
	struct rig_call slow;

	setup(20);
	rig_release(rig, &slow, LONG_MS);
	rig_for_ms(rig, 20 + SILENCE_GRACE_MS + 100);
	while (rig_append_now(rig, 1, NULL, LONG_MS))
		rig_turn(rig);
	ck_assert(!slow.finished);
	rig_answer(rig);
	rig_until(rig, slow.finished);
	ck_assert_int_eq(slow.call.status, 0);
	teardown();
}
END_TEST

START_TEST(nor_is_it_silent_whom_nobody_asks)
{
	setup(20);
	rig_for_ms(rig, 20 + SILENCE_GRACE_MS + 100);
	ck_assert_uint_eq(rig->peer->silence.since, 0);
	ck_assert_uint_eq(rig->peer->silence.answers_due, 0);
	ck_assert(!rig->peer->silence.pinging);
	teardown();
}
END_TEST

START_TEST(who_is_patient_waits)
{
	struct rig_call c;

	setup(20);
	until_silent();
	rig_prepare_append(rig, &c, 1, LONG_MS);
	c.call.patient = true;
	rpc_call_start(rig->peer, &c.call);
	rpc_ctx_progress(rig->cctx, 0);
	ck_assert(!c.finished);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	teardown();
}
END_TEST

/* Without patience each call has its own deadline, however many precede it. */
START_TEST(elsewhere_each_waits_for_itself)
{
	struct rig_call c;

	setup(0);
	ck_assert_int_eq(append_alone(&c, 20), -ETIMEDOUT);
	rig_append(rig, &c, 1, LONG_MS);
	rpc_ctx_progress(rig->cctx, 0);
	ck_assert(!c.finished);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	teardown();
}
END_TEST

static void held_until(uint32_t epoch, unsigned int answer_ms)
{
	rig_until(rig,
		  rig->peer->epoch == epoch && rig->peer->state == PEER_READY);
	ck_assert_uint_eq(rig->peer->silence.answer_ms, answer_ms);
}

static void until_pinged(void)
{
	rig_until(rig, rig->peer->silence.pinging);
	rig_until(rig, !rig->peer->silence.pinging);
}

/* Data may precede the reply to the PING. */
START_TEST(a_mute_iod_keeps_its_connection_while_data_moves)
{
	struct rig_call c;
	uint32_t epoch;

	setup(0);
	epoch = rig->peer->epoch;
	rig->mute = true;
	rig_release(rig, &c, LONG_MS);
	rig_until(rig, rig->peer->silence.pinging);
	rig_for_ms(rig, SILENCE_ANSWER_MS + 500);
	ck_assert_uint_eq(rig->peer->epoch, epoch);
	mock.quiet_ms = LONG_MS;
	rig_until(rig, rig->peer->epoch == epoch + 1);
	rig->mute = false;
	while (rig->nheld)
		rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	mock.quiet_ms = 0;
	teardown();
}
END_TEST

#define SLOTS 10u /* the slots of an iod */

/* One session of a program has so many calls in flight that they could fill all slots. */
START_TEST(a_busy_client_ends_the_connection_to_a_mute_iod)
{
	struct rig_call c[SLOTS];
	uint32_t epoch;

	setup_server(0, false, SLOTS);
	epoch = rig->peer->epoch;
	rig->mute = true;
	mock.quiet_ms = LONG_MS;
	for (unsigned int i = 0; i < SLOTS; i++)
		rig_release(rig, &c[i], LONG_MS);
	rig_until(rig, rig->peer->epoch > epoch);
	mock.quiet_ms = 0;
	rig->mute = false;
	for (unsigned int i = 0; i < SLOTS; i++) {
		while (!c[i].finished) {
			if (rig->nheld)
				rig_answer(rig);
			rig_turn(rig);
		}
		ck_assert_int_eq(c[i].call.status, 0);
	}
	teardown();
}
END_TEST

/* The manager replies to HELLO, and to nothing else. */
START_TEST(connections_to_a_mute_manager_last_longer_each_time)
{
	struct rig_call c;
	uint32_t epoch;

	setup_server(0, true, 0);
	epoch = rig->peer->epoch;
	held_until(epoch, SILENCE_ANSWER_MS);
	rig->mute = true;
	rig_release(rig, &c, LONG_MS);
	held_until(epoch + 1, 2 * SILENCE_ANSWER_MS);
	held_until(epoch + 2, 4 * SILENCE_ANSWER_MS);
	rig->mute = false;
	while (rig->nheld)
		rig_answer(rig);
	rig_until(rig, c.finished && !rig->peer->silence.pinging);
	ck_assert_int_eq(c.call.status, 0);
	held_until(epoch + 2, 4 * SILENCE_ANSWER_MS);
	rig_release(rig, &c, LONG_MS);
	until_pinged();
	held_until(epoch + 2, SILENCE_ANSWER_MS);
	rig_answer(rig);
	rig_until(rig, c.finished);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_silence");
	TCase *tc = tcase_create("calls");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_silent_server_keeps_nobody);
	tcase_add_test(tc, one_that_is_not_there_keeps_nobody);
	tcase_add_test(tc, who_comes_late_waits_no_longer);
	tcase_add_test(tc, a_slow_answer_is_no_silence);
	tcase_add_test(tc, nor_is_it_silent_whom_nobody_asks);
	tcase_add_test(tc, who_is_patient_waits);
	tcase_add_test(tc, elsewhere_each_waits_for_itself);
	tcase_add_test(tc, a_mute_iod_keeps_its_connection_while_data_moves);
	tcase_add_test(tc, a_busy_client_ends_the_connection_to_a_mute_iod);
	tcase_add_test(tc, connections_to_a_mute_manager_last_longer_each_time);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
