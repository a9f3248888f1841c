/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_turns.c - the amount of bulk data that a server moves at a time is bounded.  Above that
 * clients take turns, and none waits for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define CALLS 8u
#define PART 32768u /* of a call, which the rig moves in two bulks */
#define HALF (PART / 2)
#define MANY 3u /* clients in addition to the first one */

static struct rig *rig;
static uint8_t *mem;
static struct tp_mr *mr;
static struct rig_call calls[CALLS];

static void open_rig(uint64_t rdma_max)
{
	unsigned int i;

	mock = (struct mock){ 0 };
	memset(calls, 0, sizeof(calls));
	rig = calloc(1, sizeof(*rig));
	rig->sattr.rdma_max = rdma_max;
	rig->sattr.slots = CALLS + 1; /* one slot is for urgent calls */
	rig_open(rig, "mock");
	mem = calloc(1, RIG_OBJECT);
	for (i = 0; i < RIG_OBJECT; i++)
		rig->object[i] = (uint8_t)(i * 2654435761u >> 11);
	ck_assert_int_eq(
		tp_mr_reg(rig->dev, mem, RIG_OBJECT, TP_REMOTE_WRITE, &mr), 0);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
}

static void close_rig(void)
{
	rig_until(rig, rig->bulks == 0);
	tp_mr_dereg(mr);
	rig_close(rig);
	free(mem);
	ck_assert_int_eq(mock.mrs, 0);
}

static struct rpc_server_stats stats(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return st;
}

static struct rpc_peer *another(uint64_t session)
{
	struct rpc_peer *first = rig->peer, *peer;

	rig->session = session;
	peer = rig_peer_open(rig);
	rig->peer = peer;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rig->peer = first;
	return peer;
}

static void start_read(struct rpc_peer *peer, struct rig_call *c, size_t at,
		       size_t len)
{
	struct rpc_peer *first = rig->peer;

	rig->peer = peer;
	rig_io(rig, c, WIRE_READ, at, mem + at, len, mr, 1, 5000);
	rig->peer = first;
}

static unsigned int finished(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < CALLS; i++)
		n += calls[i].finished;
	return n;
}

static void all_right(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		rig_until(rig, calls[i].finished);
		ck_assert_int_eq(calls[i].call.status, 0);
		ck_assert_mem_eq(mem + i * PART, rig->object + i * PART, PART);
	}
}

static void start_all(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		start_read(rig->peer, &calls[i], i * PART, PART);
}

START_TEST(no_bound)
{
	open_rig(0);
	start_all();
	all_right();
	ck_assert_uint_eq(stats().rdma_waits, 0);
	ck_assert_uint_eq(stats().rdma_most, CALLS * PART);
	close_rig();
}
END_TEST

/* One client gets half of the room. */
START_TEST(a_client_is_bounded)
{
	open_rig(4 * PART);
	start_all();
	all_right();
	ck_assert_uint_gt(stats().rdma_waits, 0);
	ck_assert_uint_eq(stats().rdma_most, 2 * PART);
	close_rig();
}
END_TEST

/* Two clients that take turns leave some room for the next one. */
START_TEST(there_is_some_for_the_next)
{
	struct rpc_peer *peer;
	unsigned int i;

	open_rig(6 * PART);
	peer = another(0x2222);
	for (i = 0; i < CALLS; i++)
		start_read(i % 2 ? peer : rig->peer, &calls[i], i * PART, PART);
	all_right();
	ck_assert_uint_gt(stats().rdma_waits, 0);
	ck_assert_uint_ge(stats().rdma_most, 3 * PART);
	ck_assert_uint_lt(stats().rdma_most, 5 * PART);
	rpc_peer_close(peer, true);
	close_rig();
}
END_TEST

START_TEST(the_server_is_bounded)
{
	struct rpc_peer *peer[MANY];
	unsigned int i;

	open_rig(2 * PART);
	for (i = 0; i < MANY; i++)
		peer[i] = another(0x2222 + i);
	for (i = 0; i < CALLS; i++)
		start_read(i % 4 ? peer[i % 4 - 1] : rig->peer, &calls[i],
			   i * PART, PART);
	all_right();
	ck_assert_uint_eq(stats().rdma_most, 2 * PART);
	for (i = 0; i < MANY; i++)
		rpc_peer_close(peer[i], true);
	close_rig();
}
END_TEST

/* A call that is longer than the room runs alone. */
START_TEST(a_long_one_comes_to_its_turn)
{
	struct rig_call small;

	open_rig(HALF);
	start_read(rig->peer, &calls[0], 0, 8 * PART);
	start_read(rig->peer, &small, 9 * PART, 64);
	rig_until(rig, calls[0].finished && small.finished);
	ck_assert_mem_eq(mem, rig->object, 8 * PART);
	ck_assert_uint_eq(stats().rdma_most, 4 * PART);
	close_rig();
}
END_TEST

/* A client with one request does not wait for all requests of another client. */
START_TEST(clients_take_turns)
{
	struct rpc_peer *peer;
	struct rig_call one;

	open_rig(HALF);
	peer = another(0x2222);
	start_all();
	rig_until(rig, stats().rdma_waits >= CALLS);
	start_read(peer, &one, CALLS * PART, PART);
	rig_until(rig, one.finished);
	ck_assert_uint_le(finished(), 4);
	ck_assert_mem_eq(mem + CALLS * PART, rig->object + CALLS * PART, PART);
	all_right();
	rpc_peer_close(peer, true);
	close_rig();
}
END_TEST

/* The requests in flight of a client are released when it disconnects. */
START_TEST(a_client_that_leaves_holds_nothing)
{
	struct rpc_peer *peer;
	struct rig_call gone[2];

	open_rig(HALF);
	peer = another(0x2222);
	start_read(peer, &gone[0], 0, PART);
	start_read(peer, &gone[1], PART, PART);
	rig_until(rig, stats().rdma_waits > 0);
	start_all();
	rpc_peer_close(peer, false);
	ck_assert_int_eq(gone[0].call.status, -ECANCELED);
	all_right();
	close_rig();
}
END_TEST

/* A client neither takes its data nor disconnects: its connection ends, others continue. */
START_TEST(a_client_that_stands_still_holds_nothing)
{
	open_rig(HALF);
	rig->sattr.stall_ms = 50;
	rig_server_close(rig);
	rig_server_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	start_all();
	rig_until(rig, stats().rdma_waits > 0);
	mock.freeze = true;
	rig_until(rig, rig_logged(rig, "no bulk data moved for 50 ms"));
	mock.freeze = false;
	all_right();
	close_rig();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rpc_turns");
	TCase *tc = tcase_create("rpc_turns");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, no_bound);
	tcase_add_test(tc, a_client_is_bounded);
	tcase_add_test(tc, there_is_some_for_the_next);
	tcase_add_test(tc, the_server_is_bounded);
	tcase_add_test(tc, a_long_one_comes_to_its_turn);
	tcase_add_test(tc, clients_take_turns);
	tcase_add_test(tc, a_client_that_leaves_holds_nothing);
	tcase_add_test(tc, a_client_that_stands_still_holds_nothing);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
