/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_apart.c - bulk data over a separate endpoint: which data uses which endpoint, which
 * client may join a connection, and that both endpoints end together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

#define LEN (300u << 10)
#define MS 20000u

static const char *const devices[] = { "fault+tcp", "fault+local" };
#define DEVICES 2

static struct rig *rig;
static uint8_t *mem;
static struct rail_mem area;
static struct rig_call calls[2];

static void open_rig(int i, bool apart)
{
	rig = calloc(1, sizeof(*rig));
	rig->apart = apart;
	rig->reply_optional = true;
	rig_open(rig, devices[i]);
	mem = calloc(2, RIG_OBJECT);
	rail_mem_init(&area, mem, 2 * RIG_OBJECT,
		      TP_REMOTE_READ | TP_REMOTE_WRITE);
	rig->area = &area;
}

static void close_rig(void)
{
	rig_until(rig, rig->bulks == 0);
	rail_mem_fini(&area);
	rig_close(rig);
	free(mem);
}

static void rules(const char *text)
{
	char err[128];

	ck_assert_int_eq(fault_set(rig->dev, text, err, sizeof(err)), 0);
}

static struct rpc_server_stats stats(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return st;
}

static void start(unsigned int i, unsigned int op, uint8_t *at, uint64_t len)
{
	static const struct tp_mr none;

	rig_io(rig, &calls[i], op, 0, at, len, &none, 1, MS);
}

static void ends_well(unsigned int i)
{
	rig_until(rig, calls[i].finished);
	ck_assert_int_eq(calls[i].call.status, 0);
	ck_assert_uint_eq(calls[i].times, 1);
}

/* Writes data, and reads it to another place. */
static void both_ways(uint64_t len, unsigned int seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		mem[i] = (uint8_t)((i + seed) * 2654435761u >> 13);
	memset(mem + RIG_OBJECT, 0, len);
	start(0, WIRE_WRITE, mem, len);
	ends_well(0);
	start(1, WIRE_READ, mem + RIG_OBJECT, len);
	ends_well(1);
	ck_assert_mem_eq(mem, mem + RIG_OBJECT, len);
}

START_TEST(each_goes_its_way)
{
	static const uint64_t sizes[] = { 70000, 65537, LEN, RIG_OBJECT };
	uint64_t sum = 0, requests;

	open_rig(_i, true);
	for (unsigned int i = 0; i < 4; i++) {
		both_ways(sizes[i], i);
		sum += 2 * sizes[i];
	}
	rig_until(rig, rig->bulks == 0);
	ck_assert_uint_eq(stats().aparts, 1);
	ck_assert_uint_eq(stats().conns, 1);
	ck_assert_uint_ge(stats().apart_bytes, sum);
	ck_assert_uint_lt(stats().apart_bytes, sum + 4096);
	requests = stats().message_bytes;
	ck_assert_uint_lt(requests, 8192);
	/* a call without data does not use the bulk endpoint */
	sum = stats().apart_bytes;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, MS), 0);
	ck_assert_uint_eq(stats().apart_bytes, sum);
	ck_assert_uint_gt(stats().message_bytes, requests);
	close_rig();
}
END_TEST

START_TEST(not_unless_asked_for)
{
	open_rig(_i, false);
	both_ways(LEN, 1);
	ck_assert_uint_eq(stats().aparts, 0);
	ck_assert_uint_eq(stats().apart_bytes, 0);
	close_rig();
}
END_TEST

/* A reset at each operation of either endpoint, until none is hit. */
START_TEST(broken_anywhere)
{
	static const char *const what[] = { "post", "recv", "connect",
					    "accept" };
	static const char *const how[] = { "reset", "reset", "fail", "refuse" };
	unsigned int op = (unsigned int)_i / DEVICES, after, hits = 1;
	char text[64];

	for (after = 0; hits; after++) {
		open_rig(_i % DEVICES, true);
		snprintf(text, sizeof(text), "%s:%s:after=%u", what[op],
			 how[op], after);
		rules(text);
		both_ways(LEN, after);
		both_ways(70000, after);
		hits = (unsigned int)fault_hits(rig->dev, 1);
		rules("");
		both_ways(LEN, after);
		rig_until(rig, stats().conns == 1);
		close_rig();
	}
	ck_assert_uint_gt(after, op < 2 ? 10 : 2);
}
END_TEST

/* One of the two endpoints hangs for ever, the other does not. */
START_TEST(ends_as_one)
{
	open_rig(_i, true);
	both_ways(LEN, 1);
	rules("write,write_imm:vanish:ms=50");
	both_ways(LEN, 2);
	ck_assert_uint_eq(fault_hits(rig->dev, 1), 1);
	ck_assert_uint_ge(rig_logged(rig, "trying again"), 1);
	rig_until(rig, stats().conns == 1 && stats().aparts == 1);
	close_rig();
}
END_TEST

START_TEST(without_one_after_all)
{
	open_rig(_i, true);
	rules("connect:refuse:after=1");
	both_ways(LEN, 1);
	ck_assert_uint_eq(rig_logged(rig, "no second connection"), 1);
	ck_assert_uint_eq(stats().aparts, 0);
	ck_assert_uint_eq(stats().apart_bytes, 0);
	/* the server offers it again */
	rig_server_close(rig);
	rig_server_open(rig);
	both_ways(LEN, 2);
	ck_assert_uint_eq(stats().aparts, 1);
	/* after two rejections the client does not ask a third time */
	for (unsigned int i = 1; i <= 3; i++) {
		rules("connect:refuse:after=1");
		rig_server_close(rig);
		rig_server_open(rig);
		rules("connect:refuse:after=1");
		both_ways(LEN, i);
		ck_assert_uint_eq(stats().aparts, 0);
	}
	ck_assert_uint_eq(rig_logged(rig, "no second connection"), 3);
	close_rig();
}
END_TEST

START_TEST(restarted)
{
	open_rig(_i, true);
	for (unsigned int i = 0; i < 5; i++) {
		both_ways(LEN, i);
		start(0, WIRE_READ, mem, RIG_OBJECT);
		start(1, WIRE_READ, mem + RIG_OBJECT, RIG_OBJECT);
		for (unsigned int k = 0; k < i; k++)
			rig_turn(rig);
		rig_server_close(rig);
		rig_server_open(rig);
		ends_well(0);
		ends_well(1);
	}
	both_ways(LEN, 9);
	ck_assert_uint_eq(stats().aparts, 1);
	close_rig();
}
END_TEST

/* The server gets the BYE, whichever endpoint ends first. */
START_TEST(bye)
{
	for (unsigned int i = 0; i < 20; i++) {
		open_rig(_i, true);
		both_ways(70000, i);
		rpc_peer_close(rig->peer, true);
		rig->peer = NULL;
		rig_until(rig, rig->closed == 1);
		ck_assert_uint_eq(rig->clean, 1);
		ck_assert_uint_eq(stats().aparts, 0);
		close_rig();
	}
}
END_TEST

START_TEST(two_sessions)
{
	struct rpc_peer *first, *second;

	open_rig(_i, true);
	both_ways(LEN, 1);
	first = rig->peer;
	rig->session++;
	rig->peer = second = rig_peer_open(rig);
	both_ways(LEN, 2);
	ck_assert_uint_eq(stats().aparts, 2);
	start(0, WIRE_READ, mem, RIG_OBJECT);
	rig->peer = first;
	start(1, WIRE_READ, mem + RIG_OBJECT, RIG_OBJECT);
	ends_well(0);
	rpc_peer_close(second, true);
	ends_well(1);
	both_ways(LEN, 3);
	rig_until(rig, stats().aparts == 1);
	close_rig();
}
END_TEST

/* ---- clients that may join ---- */

/* Sends HELLO and requests a token. */
static void greet(struct raw *raw, uint64_t session)
{
	size_t len;

	raw_open(raw, rig, session, 1);
	raw_connect(raw);
	raw_until(raw, raw->established);
	len = raw_hello(raw, rig->cred.uid);
	raw_hdr(raw)->flags = htole16(WIRE_F_APART);
	raw_send(raw, len);
	raw_until(raw, raw->received);
	ck_assert_int_eq(raw_status(raw, 0), 0);
}

static const struct wire_apart *given(struct raw *raw)
{
	static struct wire_msg msg;

	ck_assert_int_eq(wire_parse(raw->buf->in[0], raw->len, &msg, NULL), 0);
	ck_assert_ptr_nonnull(msg.apart);
	return msg.apart;
}

/* Returns whether the join was accepted. */
static bool joins(struct raw *raw, uint64_t session, uint32_t epoch,
		  const uint8_t *token)
{
	raw_open(raw, rig, session, epoch);
	raw->hail.features = htole32(WIRE_FT_APART);
	memcpy(raw->hail.nonce, token, WIRE_NONCE_LEN);
	raw_connect(raw);
	raw_until(raw, raw->established || raw->rejected);
	ck_assert(raw->established || raw->answer.status == ESTALE);
	return raw->established;
}

static void refused(uint64_t session, uint32_t epoch, const uint8_t *token)
{
	struct raw raw;

	ck_assert(!joins(&raw, session, epoch, token));
	raw_close(&raw);
}

START_TEST(only_who_shows_the_token)
{
	struct raw one, other, second, again;
	uint8_t token[WIRE_NONCE_LEN];

	open_rig(_i, false);
	greet(&one, 0x51);
	greet(&other, 0x52);
	memcpy(token, given(&one)->token, sizeof(token));
	ck_assert_mem_ne(token, given(&other)->token, sizeof(token));
	refused(0x51, 1, given(&other)->token);
	refused(0x52, 1, token);
	refused(0x53, 1, token);
	refused(0x51, 2, token);
	for (unsigned int i = 0; i < 8 * WIRE_NONCE_LEN; i += 13) {
		token[i / 8] ^= (uint8_t)(1u << i % 8);
		refused(0x51, 1, token);
		token[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	ck_assert(joins(&second, 0x51, 1, token));
	ck_assert(!joins(&again, 0x51, 1, token)); /* a token is valid once */
	ck_assert_uint_eq(stats().aparts, 1);
	ck_assert_uint_eq(stats().conns, 2);
	raw_close(&again);
	raw_close(&second);
	rig_until(rig, stats().conns == 1); /* as one connection */
	raw_close(&one);
	raw_close(&other);
	close_rig();
}
END_TEST

/* A join is rejected when the connection is already in use. */
START_TEST(not_behind_a_request)
{
	uint8_t token[WIRE_NONCE_LEN];
	struct raw one;
	size_t len;

	open_rig(_i, false);
	greet(&one, 0x51);
	memcpy(token, given(&one)->token, sizeof(token));
	len = raw_append(&one, 0, 1);
	raw_send(&one, len);
	raw_until(&one, one.received == 2);
	refused(0x51, 1, token);
	ck_assert_uint_eq(stats().conns, 1);
	raw_close(&one);
	close_rig();
}
END_TEST

/* A client that joins and leaves at once, or never sends HELLO, harms only its own session. */
START_TEST(others_do_not_notice)
{
	struct raw one, second;

	open_rig(_i, true);
	both_ways(LEN, 1);
	greet(&one, 0x51);
	raw_open(&second, rig, 0x51, 1);
	second.hail.features = htole32(WIRE_FT_APART);
	memcpy(second.hail.nonce, given(&one)->token, WIRE_NONCE_LEN);
	raw_connect(&second);
	raw_close(&second);
	both_ways(LEN, 2);
	raw_close(&one);
	rig_until(rig, stats().conns == 1);
	both_ways(LEN, 3);
	close_rig();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_apart");
	TCase *tc = tcase_create("rpc_apart");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, each_goes_its_way, 0, DEVICES);
	tcase_add_loop_test(tc, not_unless_asked_for, 0, DEVICES);
	tcase_add_loop_test(tc, broken_anywhere, 0, 4 * DEVICES);
	tcase_add_loop_test(tc, ends_as_one, 0, DEVICES);
	tcase_add_loop_test(tc, without_one_after_all, 0, DEVICES);
	tcase_add_loop_test(tc, restarted, 0, DEVICES);
	tcase_add_loop_test(tc, bye, 0, DEVICES);
	tcase_add_loop_test(tc, two_sessions, 0, DEVICES);
	tcase_add_loop_test(tc, only_who_shows_the_token, 0, DEVICES);
	tcase_add_loop_test(tc, not_behind_a_request, 0, DEVICES);
	tcase_add_loop_test(tc, others_do_not_notice, 0, DEVICES);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
