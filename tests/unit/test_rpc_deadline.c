/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_deadline.c - a server knows how long its clients wait, and the time that a client names
 * never sets an unbounded timer.
 */
#include <stdlib.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

#define MAX (RPC_WAIT_MAX_MS * CLOCK_NS_PER_MS)

static struct rig *rig;

static void setup(void)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "mock");
}

static void teardown(void)
{
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

/* Both ends use one clock, so the deadline at the server is never later. */
static void check_held(unsigned int ms, uint64_t begun)
{
	const struct rpc_req *req = rig->held[0];

	ck_assert_uint_gt(req->expiry, begun);
	ck_assert_uint_le(req->expiry, clock_boot() + ms * CLOCK_NS_PER_MS);
	ck_assert_uint_le(req->deadline, clock_after_ms(ms));
	ck_assert(!rpc_req_late(req));
}

START_TEST(told_to_the_server)
{
	uint64_t begun = clock_boot(), now;
	struct rig_call c;

	rig_release(rig, &c, RIG_PATIENCE_MS);
	rig_until(rig, rig->nheld == 1);
	check_held(RIG_PATIENCE_MS, begun);
	now = clock_now();
	ck_assert_uint_le(rig->held[0]->expiry,
			  c.call.deadline + (clock_boot() - now));
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
}
END_TEST

/* The deadline is computed again at each send, also for another connection. */
START_TEST(told_again)
{
	uint64_t begun = clock_boot();
	struct rig_call c;

	rig_release(rig, &c, RIG_PATIENCE_MS);
	rig_until(rig, rig->nheld == 1);
	rig_server_close(rig);
	rig->sattr.boot++;
	rig_server_open(rig);
	rig_until(rig, rig->nheld == 1);
	check_held(RIG_PATIENCE_MS, begun);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
}
END_TEST

static struct rpc_req *held_with(struct raw *raw, uint64_t clock)
{
	raw_open(raw, rig, 0x2222, 1);
	raw_greet(raw);
	raw_release(raw, 0, 1);
	raw_hdr(raw)->clock = htole64(clock);
	raw_send(raw, le32toh(raw_hdr(raw)->len));
	raw_until(raw, rig->nheld == 1);
	return rig->held[0];
}

static void answer_and_close(struct raw *raw)
{
	rig_answer(rig);
	raw_until(raw, raw->received == 2);
	raw_close(raw);
}

/* A reply contains the time of its send. */
START_TEST(replies_are_stamped)
{
	uint64_t begun = clock_boot(), stamp;
	const struct wire_hdr *hdr;
	struct raw raw;
	unsigned int i;

	held_with(&raw, begun + MAX / 2);
	rig_answer(rig);
	raw_until(&raw, raw.received == 2);
	for (i = 0; i < 2; i++) {
		hdr = (const void *)raw.buf->in[i];
		stamp = le64toh(hdr->clock);
		ck_assert_uint_ge(stamp, begun);
		ck_assert_uint_le(stamp, clock_boot());
		begun = stamp;
	}
	raw_close(&raw);
}
END_TEST

static const uint64_t past[] = { 0, 1, 1000000 };

START_TEST(in_the_past)
{
	struct raw raw;
	const struct rpc_req *req = held_with(&raw, past[_i]);

	ck_assert(rpc_req_late(req));
	ck_assert_uint_le(req->deadline, clock_now());
	answer_and_close(&raw);
}
END_TEST

static const uint64_t absurd[] = { UINT64_MAX, UINT64_MAX - 1, 1ull << 63,
				   INT64_MAX, 1ull << 60 };

START_TEST(in_the_far_future)
{
	struct raw raw;
	const struct rpc_req *req = held_with(&raw, absurd[_i]);

	ck_assert(!rpc_req_late(req));
	ck_assert_uint_le(req->expiry, clock_boot() + MAX);
	ck_assert_uint_le(req->deadline, clock_now() + MAX);
	ck_assert_uint_gt(req->deadline, clock_now());
	answer_and_close(&raw);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_deadline");
	TCase *tc = tcase_create("deadline");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, told_to_the_server);
	tcase_add_test(tc, told_again);
	tcase_add_test(tc, replies_are_stamped);
	tcase_add_loop_test(tc, in_the_past, 0, 3);
	tcase_add_loop_test(tc, in_the_far_future, 0, 5);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
