/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_waits.c - calls that wait for a third party get some of the slots, and users share
 * these.  Calls that the server rejects because they would wait are sent again.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/mock_tp.h"
#include "common/comm/call/peer_int.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define SLOTS 16u /* without the one for urgent calls */
#define CALLS 24u
#define LONG_MS 50000u

static struct rig *rig;
static struct rig_call calls[4][CALLS];

static void setup_server(unsigned int patience_ms, unsigned int slots,
			 bool manager)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig->sattr.slots = slots;
	rig->manager = manager;
	rig->patience_ms = patience_ms;
	rig_open(rig, "mock");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, LONG_MS), 0);
}

static void setup(unsigned int patience_ms)
{
	setup_server(patience_ms, SLOTS + 1, false);
}

static void teardown(void)
{
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

static void start(struct rig_call *c, unsigned int op, const void *body,
		  size_t len, uint32_t user)
{
	struct wire_out out;

	rig_call_init(rig, c, LONG_MS);
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, body, len);
	c->call.msg_len = (size_t)wire_end(&out, op, 0, 0);
	c->call.user = user;
	rpc_call_start(rig->peer, &c->call);
}

static void start_resizes(struct rig_call *c, unsigned int n, uint32_t user)
{
	const struct wire_resize body = { .handle = htole64(1) };

	for (unsigned int i = 0; i < n; i++)
		start(&c[i], WIRE_RESIZE, &body, sizeof(body), user);
}

static void start_locks(struct rig_call *c, unsigned int n)
{
	const struct wire_lock body = { .handle = htole64(1),
					.end = htole64(1),
					.type = htole32(WIRE_L_SHARED),
					.flags = htole32(WIRE_L_WAIT) };

	for (unsigned int i = 0; i < n; i++)
		start(&c[i], WIRE_LOCK, &body, sizeof(body), 0);
}

static void start_releases(struct rig_call *c, unsigned int n, uint32_t user)
{
	const struct wire_release body = { .handle = htole64(1),
					   .open = htole64(1) };

	for (unsigned int i = 0; i < n; i++)
		start(&c[i], WIRE_RELEASE, &body, sizeof(body), user);
}

static bool all_ended(const struct rig_call *c, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!c[i].finished)
			return false;
	return true;
}

/* Replies to held requests until these calls have ended with that status. */
static void end_all(const struct rig_call *c, unsigned int n, int status)
{
	while (!all_ended(c, n)) {
		rig_until(rig, rig->nheld || all_ended(c, n));
		while (rig->nheld)
			rig_answer(rig);
		rig_turn(rig);
	}
	for (unsigned int i = 0; i < n; i++)
		ck_assert_int_eq(c[i].call.status, status);
}

static int append_for(uint32_t user)
{
	struct rig_call c;

	rig_prepare_append(rig, &c, 1, LONG_MS);
	c.call.user = user;
	rpc_call_start(rig->peer, &c.call);
	rig_until(rig, c.finished);
	return c.call.status;
}

#define held_is(n)                                                             \
	do {                                                                   \
		rig_for_ms(rig, 0);                                            \
		ck_assert_uint_eq(rig->nheld, n);                              \
	} while (0)

START_TEST(those_that_wait_leave_slots)
{
	setup(0);
	start_resizes(calls[0], CALLS, 0);
	held_is(10);
	start_locks(calls[1], CALLS);
	held_is(12);
	ck_assert_int_eq(append_for(0), 0);
	end_all(calls[0], CALLS, 0);
	end_all(calls[1], CALLS, -EAGAIN);
	start_locks(calls[1], CALLS);
	held_is(6);
	end_all(calls[1], CALLS, -EAGAIN);
	teardown();
}
END_TEST

START_TEST(users_share_those_slots)
{
	setup(0);
	start_resizes(calls[0], CALLS, 1);
	held_is(8);
	start_resizes(calls[1], 2, 2);
	held_is(9);
	start_resizes(calls[2], 2, 3);
	held_is(10);
	ck_assert_int_eq(append_for(1), 0);
	for (unsigned int i = 0; i < 3; i++)
		end_all(calls[i], i ? 2 : CALLS, 0);
	teardown();
}
END_TEST

START_TEST(users_share_the_others)
{
	setup(0);
	start_releases(calls[0], CALLS, 1);
	held_is(SLOTS - 2);
	ck_assert_int_eq(append_for(2), 0);
	start_releases(calls[1], 2, 2);
	held_is(SLOTS - 1);
	ck_assert_int_eq(append_for(3), 0);
	end_all(calls[0], CALLS, 0);
	end_all(calls[1], 2, 0);
	teardown();
}
END_TEST

START_TEST(one_user_has_them_all)
{
	setup(0);
	start_releases(calls[0], CALLS, 0);
	held_is(SLOTS);
	end_all(calls[0], CALLS, 0);
	teardown();
}
END_TEST

static bool starts_again;

static void start_again(struct rpc_call *call)
{
	struct rig_call *c = call->arg;

	if (starts_again)
		rpc_call_start(rig->peer, call);
	else
		c->finished = true;
}

/*
 * Calls that wait for no third party always find a slot.  There are as many of them as slots, and
 * each starts again when it is done.  Or there are more, so that their queue is never empty.
 */
START_TEST(every_kind_gets_slots_in_turn)
{
	unsigned int n = _i ? CALLS : SLOTS, answered;

	setup(0);
	start_releases(calls[0], n, 0);
	for (unsigned int i = 0; i < n; i++)
		calls[0][i].call.done = start_again;
	starts_again = true;
	held_is(SLOTS);
	start_resizes(calls[1], 2, 0);
	start_locks(calls[2], 2);
	for (answered = 0; answered < 4 * SLOTS; answered++) {
		rig_until(rig, rig->nheld == SLOTS);
		rig_answer(rig);
	}
	ck_assert(all_ended(calls[1], 2));
	ck_assert(all_ended(calls[2], 2));
	ck_assert_int_eq(calls[1][1].call.status, 0);
	ck_assert_int_eq(calls[2][1].call.status, -EAGAIN);
	starts_again = false;
	end_all(calls[0], n, 0);
	teardown();
}
END_TEST

/* The server replies before the client looks again, however long both were stopped. */
static void server_first_for_ms(unsigned int ms)
{
	uint64_t end = clock_after_ms(ms);

	while (clock_now() < end) {
		rpc_ctx_progress(rig->sctx, 0);
		rig_turn(rig);
	}
}

/* If the PING has no slot, it is not sent, and this says nothing about the connection. */
START_TEST(full_slots_of_a_manager_keep_the_connection)
{
	unsigned int slots = _i ? 1 : SLOTS + 1;
	uint32_t epoch;

	setup_server(0, slots, true);
	epoch = rig->peer->epoch;
	start_releases(calls[0], CALLS, 0);
	server_first_for_ms(2 * SILENCE_ANSWER_MS);
	ck_assert_uint_eq(rig->peer->epoch, epoch);
	ck_assert_uint_eq(rig->nheld, _i ? 1 : SLOTS);
	ck_assert_uint_eq(rig_logged(rig, "connection lost"), 0);
	end_all(calls[0], CALLS, 0);
	teardown();
}
END_TEST

/* The PING has a slot. */
START_TEST(full_slots_are_no_silence)
{
	setup(20);
	rig_until(rig, !rig->peer->silence.pinging);
	start_releases(calls[0], CALLS, 0);
	held_is(SLOTS);
	rig_for_ms(rig, 20 + SILENCE_GRACE_MS + 100);
	ck_assert_uint_eq(rig_logged(rig, "calls fail at once"), 0);
	ck_assert_uint_eq(rig->nheld, SLOTS);
	end_all(calls[0], CALLS, 0);
	teardown();
}
END_TEST

START_TEST(what_would_wait_is_sent_again)
{
	struct rig_call c;

	setup(0);
	rig->busy = true;
	start_resizes(calls[0], CALLS, 0);
	held_is(10);
	rig_append(rig, &c, 1, LONG_MS);
	rig_until(rig, rig->sent_back == 1);
	rig_for_ms(rig, 0);
	ck_assert(!c.finished);
	ck_assert_uint_eq(rig->nheld, 10);
	end_all(calls[0], CALLS, 0);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(c.times, 1);
	ck_assert_uint_eq(c.offset, 1);
	ck_assert_uint_eq(rig->sent_back, 1);
	ck_assert_uint_eq(rig->counter, 2);
	teardown();
}
END_TEST

/* The call is not at the server, and ends at its deadline. */
START_TEST(one_in_the_queue_has_its_deadline)
{
	struct rig_call c;

	setup(0);
	start_resizes(calls[0], CALLS, 0);
	held_is(10);
	rig_call_init(rig, &c, 20);
	c.call.msg = calls[0][0].msg;
	c.call.msg_len = calls[0][0].call.msg_len;
	rpc_call_start(rig->peer, &c.call);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ETIMEDOUT);
	ck_assert(!c.call.unsure);
	ck_assert_uint_eq(rig->nheld, 10);
	end_all(calls[0], CALLS, 0);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_waits");
	TCase *tc = tcase_create("slots");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, those_that_wait_leave_slots);
	tcase_add_test(tc, users_share_those_slots);
	tcase_add_test(tc, users_share_the_others);
	tcase_add_test(tc, one_user_has_them_all);
	tcase_add_loop_test(tc, every_kind_gets_slots_in_turn, 0, 2);
	tcase_add_loop_test(tc, full_slots_of_a_manager_keep_the_connection, 0,
			    2);
	tcase_add_test(tc, full_slots_are_no_silence);
	tcase_add_test(tc, what_would_wait_is_sent_again);
	tcase_add_test(tc, one_in_the_queue_has_its_deadline);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
