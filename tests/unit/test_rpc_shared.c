/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_shared.c - the clients of a server share its receives.  More are added when few are
 * left, further messages wait, no client can use all of them, and a dead client releases its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define FIRST 64u /* number of receives at the start */
#define CLIENTS 60u
#define SLOTS 16u
#define HELD (SLOTS - 1) /* calls of one client that the server holds */
#define SHARE (FIRST / 5) /* share of one of five clients */

static struct rig *rig;
static struct rpc_peer *peers[CLIENTS];
static struct rig_call calls[CLIENTS * 2], held[HELD];

static void open_rig(unsigned int clients)
{
	unsigned int i;

	mock = (struct mock){ .srq = true };
	memset(calls, 0, sizeof(calls));
	rig = calloc(1, sizeof(*rig));
	rig->sattr.slots = SLOTS;
	rig->sattr.max_sessions = CLIENTS;
	rig_open(rig, "mock");
	peers[0] = rig->peer;
	for (i = 0; i < clients; i++) {
		rig->session = 0x1111 + i;
		rig->peer = peers[i] = i ? rig_peer_open(rig) : rig->peer;
		ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	}
	ck_assert_uint_eq(mock.waited, 0);
}

static void close_rig(unsigned int clients)
{
	rig->peer = NULL;
	while (clients--) {
		if (peers[clients])
			rpc_peer_close(peers[clients], false);
	}
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

static struct rpc_server_stats stats(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return st;
}

/* Each client sends n calls before the server reads any. */
static void all_at_once(unsigned int first, unsigned int clients,
			unsigned int n)
{
	uint64_t before = rig->counter;
	unsigned int i;

	for (i = 0; i < clients * n; i++) {
		rig->peer = peers[first + i / n];
		rig_append(rig, &calls[i], 1, 5000);
	}
	for (i = 0; i < clients * n; i++) {
		rig_until(rig, calls[i].finished);
		ck_assert_int_eq(calls[i].call.status, 0);
	}
	ck_assert_uint_eq(rig->counter, before + clients * n);
}

/* Makes the server hold n requests of a client. */
static void hold(struct rpc_peer *peer, unsigned int n)
{
	unsigned int i;

	rig->peer = peer;
	for (i = 0; i < n; i++)
		rig_release(rig, &held[i], 60000);
	rig_until(rig, rig->nheld == n);
}

static void answer_all(void)
{
	while (rig->nheld)
		rig_answer(rig);
}

START_TEST(few_serve_many)
{
	open_rig(CLIENTS);
	ck_assert_uint_eq(stats().shared, FIRST);
	ck_assert_uint_eq(stats().conns, CLIENTS);
	all_at_once(0, SLOTS, 2);
	ck_assert_uint_eq(stats().shared, FIRST);
	close_rig(CLIENTS);
}
END_TEST

START_TEST(more_are_made_when_few_are_left)
{
	open_rig(CLIENTS);
	all_at_once(0, CLIENTS, 1);
	ck_assert_uint_eq(stats().shared, 2 * FIRST);
	ck_assert_uint_eq(mock.waited, 0);
	close_rig(CLIENTS);
}
END_TEST

START_TEST(beyond_them_messages_wait)
{
	open_rig(CLIENTS);
	all_at_once(0, CLIENTS, 2);
	ck_assert_uint_gt(mock.waited, 0);
	close_rig(CLIENTS);
}
END_TEST

/* Messages above a client's share are copied, with the same result. */
START_TEST(nobody_keeps_more_than_a_share)
{
	open_rig(5);
	hold(peers[0], HELD);
	ck_assert_uint_eq(stats().shared_copies, HELD - SHARE);
	all_at_once(1, 3, SLOTS);
	ck_assert_uint_eq(mock.waited, 0);
	answer_all();
	close_rig(5);
}
END_TEST

/* No receives are added, and clients that wait have all: one more message is received. */
START_TEST(all_wait_and_one_is_heard)
{
	unsigned int i;

	open_rig(FIRST / 2);
	mock.no_mr = true;
	for (i = 0; i < FIRST; i++) {
		rig->peer = peers[i / 2];
		rig_release(rig, &calls[i], 60000);
		rig_until(rig, rig->nheld == i + 1);
	}
	ck_assert_uint_eq(stats().shared, FIRST);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	answer_all();
	for (i = 0; i < FIRST; i++)
		rig_until(rig, calls[i].finished);
	close_rig(FIRST / 2);
}
END_TEST

START_TEST(held_ones_are_answered)
{
	unsigned int i;

	open_rig(5);
	hold(peers[0], HELD);
	answer_all();
	for (i = 0; i < HELD; i++) {
		rig_until(rig, held[i].finished);
		ck_assert_int_eq(held[i].call.status, 0);
	}
	all_at_once(1, 4, SLOTS);
	ck_assert_uint_eq(mock.waited, 0);
	close_rig(5);
}
END_TEST

/* The receives of a dead client are free at the latest when its requests have ended. */
START_TEST(who_dies_gives_back)
{
	open_rig(5);
	hold(peers[0], HELD);
	rpc_peer_close(peers[0], false);
	peers[0] = NULL;
	rig_for_ms(rig, 1);
	answer_all();
	rig_for_ms(rig, 1);
	all_at_once(1, 4, SLOTS);
	ck_assert_uint_eq(mock.waited, 0);
	close_rig(5);
}
END_TEST

/* So are those of messages that were not read yet. */
START_TEST(unseen_ones_come_back)
{
	unsigned int i;

	open_rig(5);
	rig->peer = peers[0];
	for (i = 0; i < SLOTS; i++)
		rig_append(rig, &calls[i], 1, 5000);
	rpc_ctx_progress(rig->cctx, 0);
	rpc_peer_close(peers[0], false);
	peers[0] = NULL;
	rig_for_ms(rig, 1);
	all_at_once(1, 4, SLOTS);
	ck_assert_uint_eq(mock.waited, 0);
	close_rig(5);
}
END_TEST

START_TEST(where_there_are_none_each_has_its_own)
{
	open_rig(1);
	rig_server_close(rig);
	mock.srq = false;
	rig_server_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	ck_assert_uint_eq(stats().shared, 0);
	close_rig(1);
}
END_TEST

/* The memory that a client needs grows by its own receives. */
START_TEST(a_client_takes_less)
{
	uint64_t shared;

	open_rig(1);
	shared = stats().client_bytes;
	rig_server_close(rig);
	mock.srq = false;
	rig_server_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	ck_assert_uint_ge(stats().client_bytes,
			  shared + (SLOTS + 1) * (16384 + 65536));
	close_rig(1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rpc_shared");
	TCase *tc = tcase_create("rpc_shared");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, few_serve_many);
	tcase_add_test(tc, more_are_made_when_few_are_left);
	tcase_add_test(tc, beyond_them_messages_wait);
	tcase_add_test(tc, nobody_keeps_more_than_a_share);
	tcase_add_test(tc, all_wait_and_one_is_heard);
	tcase_add_test(tc, held_ones_are_answered);
	tcase_add_test(tc, who_dies_gives_back);
	tcase_add_test(tc, unseen_ones_come_back);
	tcase_add_test(tc, where_there_are_none_each_has_its_own);
	tcase_add_test(tc, a_client_takes_less);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
