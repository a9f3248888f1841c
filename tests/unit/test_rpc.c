/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc.c - calls that succeed, wait, time out or are cancelled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "common/comm/call/peer_int.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"
#include "common/comm/serve/conn_int.h"

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

START_TEST(a_call_is_answered)
{
	uint64_t offset = 99;

	ck_assert_int_eq(rig_append_now(rig, 5, NULL, 5000), 0);
	ck_assert_int_eq(rig_append_now(rig, 7, &offset, 5000), 0);
	ck_assert_uint_eq(offset, 5);
	ck_assert_uint_eq(rig->counter, 12);
	ck_assert_uint_eq(rig->fresh, 1);
	ck_assert_uint_eq(rig->peer->request_max, 16384 + 65536 + 48);
	ck_assert_str_eq(rpc_peer_name(rig->peer),
			 "iod 2 (mock://127.0.0.1:1)");
	ck_assert_uint_eq(rig_logged(rig, "connection lost"), 0);
}
END_TEST

/*
 * 4 slots, one of them for urgent calls, and 40 calls: they run in the order of their start, each
 * once.
 */
START_TEST(calls_wait_for_slots)
{
	static struct rig_call c[40];
	int i;

	for (i = 0; i < 40; i++)
		rig_append(rig, &c[i], 1, 5000);
	for (i = 0; i < 40; i++) {
		rig_until(rig, c[i].finished);
		ck_assert_int_eq(c[i].call.status, 0);
		ck_assert_uint_eq(c[i].offset, (uint64_t)i);
	}
	ck_assert_uint_eq(rig->executed, 40);
}
END_TEST

START_TEST(a_call_names_a_copyset)
{
	struct wire_resize body = { .handle = htole64(1) };
	struct rig_call c;
	struct wire_out out;
	struct copyset_ref copyset;

	rig_close(rig);
	rig = calloc(1, sizeof(*rig));
	rig->hails = rig->sattr.features = WIRE_FT_COPIES;
	rig_open(rig, "mock");
	rig_call_init(rig, &c, 5000);
	wire_begin(&out, c.msg, sizeof(c.msg));
	wire_put(&out, &body, sizeof(body));
	c.call.msg_len = (size_t)wire_end(&out, WIRE_RESIZE, 0, 0);
	c.call.copyset = (struct copyset_ref){ WIRE_COPYSET_MIN + 7, 3 };
	rpc_call_start(rig->peer, &c.call);
	rig_until(rig, rig->nheld == 1);
	copyset = wire_copyset(rig->held[0]->msg.hdr);
	ck_assert_uint_eq(copyset.id, WIRE_COPYSET_MIN + 7);
	ck_assert_uint_eq(copyset.version, 3);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
}
END_TEST

START_TEST(errors_come_back)
{
	struct wire_path path = { .dir = htole64(1) };
	struct rig_call c;
	struct wire_out out;

	rig_call_init(rig, &c, 5000);
	wire_begin(&out, c.msg, sizeof(c.msg));
	wire_put(&out, &path, sizeof(path));
	c.call.msg_len = (size_t)wire_end(&out, WIRE_UNLINK, 0, 0);
	rpc_call_start(rig->peer, &c.call);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ENOENT);
}
END_TEST

START_TEST(a_wrong_length_is_refused)
{
	struct rig_call c;

	rig_append(rig, &c, 1, 5000);
	rig_until(rig, c.finished);
	c.finished = false;
	c.call.msg_len -= 8;
	rpc_call_start(rig->peer, &c.call);
	ck_assert(!c.finished);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -EINVAL);
}
END_TEST

START_TEST(data_goes_both_ways)
{
	uint8_t *buf = malloc(RIG_OBJECT);
	struct rig_call c;
	struct tp_mr *mr;
	size_t i;

	for (i = 0; i < RIG_OBJECT; i++)
		buf[i] = (uint8_t)(i * 2654435761u >> 13);
	ck_assert_int_eq(tp_mr_reg(rig->dev, buf, RIG_OBJECT,
				   TP_REMOTE_READ | TP_REMOTE_WRITE, &mr),
			 0);
	rig_io(rig, &c, WIRE_WRITE, 0, buf, RIG_OBJECT, mr, 64, 5000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(c.done, RIG_OBJECT);
	ck_assert_int_eq(memcmp(buf, rig->object, RIG_OBJECT), 0);
	memset(buf, 0, RIG_OBJECT);
	rig_io(rig, &c, WIRE_READ, 0, buf, RIG_OBJECT, mr, 32, 5000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_int_eq(memcmp(buf, rig->object, RIG_OBJECT), 0);
	rig_io(rig, &c, WIRE_WRITE, 100, buf + 1, 60 * 63, NULL, 63, 5000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_int_eq(memcmp(buf + 1, rig->object + 100, 60 * 63), 0);
	rig_until(rig, rig->bulks == 0);
	tp_mr_dereg(mr);
	free(buf);
}
END_TEST

static uint8_t *landing;

/* The reply does not overtake the data. */
static void data_is_there(struct rpc_call *call)
{
	struct rig_call *c = call->arg;
	const struct wire_io *io = (const void *)(c->msg + 6);
	const struct wire_region *region = (const void *)(io + 1);
	uint64_t off = le64toh(region->off);

	c->finished = true;
	ck_assert_int_eq(memcmp(landing + off, rig->object + off,
				le64toh(region->len)),
			 0);
}

/* The chains have more work requests than a connection may have outstanding. */
START_TEST(bulk_data_waits_in_order)
{
	uint8_t *buf = malloc(RIG_OBJECT);
	static struct rig_call c[8];
	struct tp_mr *mr;
	size_t part = RIG_OBJECT / 8;
	int i;

	for (i = 0; i < (int)RIG_OBJECT; i++)
		rig->object[i] = (uint8_t)(i * 2654435761u >> 11);
	ck_assert_int_eq(
		tp_mr_reg(rig->dev, buf, RIG_OBJECT, TP_REMOTE_WRITE, &mr), 0);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	landing = buf;
	for (i = 0; i < 8; i++) {
		rig_io(rig, &c[i], WIRE_READ, i * part, buf + i * part, part,
		       mr, 128, 5000);
		c[i].call.done = data_is_there;
	}
	for (i = 0; i < 8; i++) {
		rig_until(rig, c[i].finished);
		ck_assert_int_eq(c[i].call.status, 0);
	}
	rig_until(rig, rig->bulks == 0);
	tp_mr_dereg(mr);
	free(buf);
}
END_TEST

START_TEST(a_deadline_names_the_server_once)
{
	struct rig_call c;

	rig_release(rig, &c, 30);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ETIMEDOUT);
	ck_assert_uint_eq(rig_logged(rig, "iod 2 (mock://127.0.0.1"), 1);
	ck_assert_uint_eq(rig_logged(rig, "no answer to RELEASE"), 1);
	ck_assert_uint_eq(c.times, 1);
}
END_TEST

START_TEST(a_quiet_deadline)
{
	struct rig_call c;

	rig_release(rig, &c, 30);
	c.call.quiet = true;
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ETIMEDOUT);
	ck_assert_uint_eq(rig_logged(rig, "no answer to RELEASE"), 0);
}
END_TEST

/* The pauses between attempts get longer: at least 5 ms, then 10, then 20. */
START_TEST(nobody_there)
{
	uint64_t from = clock_now();
	struct rig_call waits, c;

	rig->addr.port = 9999;
	rpc_peer_close(rig->peer, false);
	rig->peer = rig_peer_open(rig);
	rig_append(rig, &waits, 1, 60000);
	rig_until(rig, mock.connects >= 4);
	ck_assert_uint_ge(clock_now(), from + 35 * CLOCK_NS_PER_MS);
	rig_append(rig, &c, 1, 60);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ETIMEDOUT);
	ck_assert(!waits.finished);
	rpc_call_cancel(&waits.call);
	ck_assert_uint_eq(rig_logged(rig, "cannot connect"), 1);
	ck_assert_uint_eq(rig_logged(rig, "no answer to APPEND"), 1);
	ck_assert_uint_eq(rig_logged(rig, "Connection refused"), 2);
}
END_TEST

/* The slot of a cancelled call is not reused before its reply has arrived. */
START_TEST(zombie_slots)
{
	struct rig_call hold[3], c;
	int i;

	for (i = 0; i < 3; i++)
		rig_release(rig, &hold[i], 5000);
	rig_until(rig, rig->nheld == 3);
	for (i = 0; i < 3; i++) {
		rpc_call_cancel(&hold[i].call);
		ck_assert(hold[i].finished);
		ck_assert_int_eq(hold[i].call.status, -ECANCELED);
		rpc_call_cancel(&hold[i].call);
		ck_assert_uint_eq(hold[i].times, 1);
	}
	rig_append(rig, &c, 1, 5000);
	rig_for_ms(rig, 20);
	ck_assert(!c.finished);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	while (rig->nheld)
		rig_answer(rig);
	rig_for_ms(rig, 5);
	ck_assert_int_eq(mock.connects, 1);
}
END_TEST

/* Inline data that is still being sent is returned at once. */
START_TEST(cancel_while_sending)
{
	uint8_t *data = malloc(4000);
	struct rig_call c, other;
	uint64_t offset;

	ck_assert_int_eq(rig_append_now(rig, 3, NULL, 5000), 0);
	memset(data, 'x', 4000);
	mock.freeze = true;
	rig_io(rig, &c, WIRE_WRITE, 0, data, 4000, NULL, 4, 5000);
	rig_append(rig, &other, 4, 5000);
	rig_turn(rig);
	rpc_call_cancel(&c.call);
	ck_assert_int_eq(c.call.status, -ECANCELED);
	free(data);
	mock.freeze = false;
	rig_until(rig, other.finished);
	ck_assert_int_eq(other.call.status, 0);
	ck_assert_int_eq(rig_append_now(rig, 1, &offset, 5000), 0);
	ck_assert_uint_eq(offset, 7);
}
END_TEST

/*
 * After another server has replied with an error, unneeded calls are cancelled.  A call that was
 * sent to a server which is disconnected now may still be executed there.
 */
START_TEST(forgone_unless_it_was_sent)
{
	uint8_t data[16] = { 0 };
	struct rig_call sent, other, waits;

	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	mock.freeze = true;
	rig_io(rig, &sent, WIRE_WRITE, 0, data, sizeof(data), NULL, 1, 5000);
	rig_release(rig, &other, 5000);
	mock.freeze = false;
	mock.break_at = mock.step + 1;
	while (rpc_peer_ready(rig->peer))
		rig_turn(rig);
	rig_io(rig, &waits, WIRE_WRITE, 0, data, sizeof(data), NULL, 1, 5000);
	rpc_call_cancel_unneeded(&sent.call, -EIO);
	rpc_call_cancel_unneeded(&other.call, -EIO);
	rpc_call_cancel_unneeded(&waits.call, -EIO);
	ck_assert(!sent.finished);
	ck_assert_int_eq(other.call.status, -ECANCELED);
	ck_assert_int_eq(waits.call.status, -ECANCELED);
	rig_until(rig, sent.finished);
	ck_assert_int_eq(sent.call.status, 0);
	while (rig->nheld)
		rig_answer(rig);
}
END_TEST

START_TEST(close_ends_calls)
{
	struct rig_call c[6];
	int i;

	for (i = 0; i < 6; i++)
		rig_release(rig, &c[i], 5000);
	rig_until(rig, rig->nheld == 3);
	rpc_peer_close(rig->peer, true);
	rig->peer = NULL;
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(c[i].call.status, -ECANCELED);
	rig_for_ms(rig, 5);
	ck_assert_uint_eq(rig->closed, 0);
	while (rig->nheld)
		rig_answer(rig);
	rig_until(rig, rig->closed == 1);
	ck_assert_uint_eq(rig->clean, 1);
	ck_assert_uint_eq(rig->freed, 1);
}
END_TEST

static void close_peer(struct rpc_call *call)
{
	struct rig_call *c = call->arg;

	c->finished = true;
	rpc_peer_close(rig->peer, true);
	rig->peer = NULL;
}

START_TEST(close_from_done)
{
	struct rig_call a, b;

	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rig_append(rig, &a, 1, 5000);
	a.call.done = close_peer;
	rig_append(rig, &b, 1, 5000);
	rig_until(rig, a.finished && b.finished);
	ck_assert_int_eq(b.call.status, -ECANCELED);
	rig_until(rig, rig->closed == 1);
}
END_TEST

START_TEST(credits_follow_the_server)
{
	struct rig_call hold[4];
	int i;

	rig_release(rig, &hold[0], 5000);
	rig_until(rig, rig->nheld == 1);
	rig->held[0]->session->credits = 2;
	rig_answer(rig);
	rig_until(rig, hold[0].finished);
	for (i = 0; i < 4; i++)
		rig_release(rig, &hold[i], 5000);
	rig_for_ms(rig, 10);
	ck_assert_uint_eq(rig->nheld, 2);
	rig->held[0]->session->credits = 4;
	rig_answer(rig);
	rig_until(rig, rig->nheld == 3);
	while (rig->nheld)
		rig_answer(rig);
	for (i = 0; i < 4; i++)
		rig_until(rig, hold[i].finished);
}
END_TEST

static void fire(struct rpc_timer *timer)
{
	rig->executed++;
}

START_TEST(timers)
{
	struct rpc_timer t[3] = { { fire }, { fire }, { fire } };
	uint64_t now = clock_now();

	rpc_timer_set(rig->cctx, &t[0], now + 3000000);
	rpc_timer_set(rig->cctx, &t[1], now + 1000000);
	rpc_timer_set(rig->cctx, &t[2], now + 2000000);
	rpc_timer_clear(rig->cctx, &t[2]);
	rpc_timer_clear(rig->cctx, &t[2]);
	rig_until(rig, rig->executed >= 1);
	ck_assert(!t[1].armed);
	rig_until(rig, rig->executed == 2);
	ck_assert_uint_ge(clock_now(), now + 3000000);
}
END_TEST

START_TEST(wake)
{
	rpc_ctx_wake(rig->cctx);
	ck_assert_int_eq(rpc_ctx_progress(rig->cctx, CLOCK_NEVER), 0);
	ck_assert_int_eq(rpc_ctx_progress(rig->cctx, clock_after_ms(2)), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc");
	TCase *tc = tcase_create("calls");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_call_is_answered);
	tcase_add_test(tc, calls_wait_for_slots);
	tcase_add_test(tc, a_call_names_a_copyset);
	tcase_add_test(tc, errors_come_back);
	tcase_add_test(tc, a_wrong_length_is_refused);
	tcase_add_test(tc, data_goes_both_ways);
	tcase_add_test(tc, bulk_data_waits_in_order);
	tcase_add_test(tc, a_deadline_names_the_server_once);
	tcase_add_test(tc, a_quiet_deadline);
	tcase_add_test(tc, nobody_there);
	tcase_add_test(tc, zombie_slots);
	tcase_add_test(tc, cancel_while_sending);
	tcase_add_test(tc, forgone_unless_it_was_sent);
	tcase_add_test(tc, close_ends_calls);
	tcase_add_test(tc, close_from_done);
	tcase_add_test(tc, credits_follow_the_server);
	tcase_add_test(tc, timers);
	tcase_add_test(tc, wake);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
