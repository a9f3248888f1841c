/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_whole.c - a read that gets all of its data completes with its last RDMA Write.  A short
 * read, or a cancelled one, gets a reply.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

/* of a call: two bulks, which are large enough to be lent */
#define LEN (192u << 10)
#define CALLS 4u

static struct rig *rig;
static uint8_t *mem;
static struct rail_mem area;
static struct rig_call calls[CALLS];

static void open_rig(bool carry)
{
	mock = (struct mock){ .pins = true };
	rig = calloc(1, sizeof(*rig));
	rig->reply_optional = true;
	rig->carry = rig->lend = rig->sattr.carry = carry;
	rig->sattr.carry_ms = RIG_PATIENCE_MS;
	rig_open(rig, "mock");
	mem = calloc(1, RIG_OBJECT);
	for (size_t i = 0; i < RIG_OBJECT; i++)
		rig->object[i] = (uint8_t)(i * 2654435761u >> 13);
	rail_mem_init(&area, mem, RIG_OBJECT, TP_REMOTE_WRITE);
	rig->area = &area;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 20000), 0);
}

static void setup(void)
{
	open_rig(false);
}

static void teardown(void)
{
	rig_until(rig, rig->bulks == 0);
	rail_mem_fini(&area);
	rig_close(rig);
	free(mem);
	ck_assert_int_eq(mock.mrs, 0);
}

static uint64_t whole(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return st.whole;
}

static void start(unsigned int i, uint64_t at, uint64_t len)
{
	static const struct tp_mr none;

	rig_io(rig, &calls[i], WIRE_READ, at, mem + at, len, &none, 3, 20000);
}

static void ends_well(unsigned int i, uint64_t at, uint64_t len)
{
	rig_until(rig, calls[i].finished);
	ck_assert_int_eq(calls[i].call.status, 0);
	ck_assert_uint_eq(calls[i].times, 1);
	ck_assert(!calls[i].call.unsure);
	ck_assert_mem_eq(mem + at, rig->object + at, len);
}

START_TEST(ends_with_the_data)
{
	struct rpc_payload_counts ways;

	for (unsigned int i = 0; i < CALLS; i++)
		start(i, i * LEN, LEN);
	for (unsigned int i = 0; i < CALLS; i++) {
		ends_well(i, i * LEN, LEN);
		ck_assert(calls[i].call.whole);
		ck_assert_ptr_null(calls[i].call.reply.hdr);
	}
	ck_assert_uint_eq(whole(), CALLS);
	rpc_ctx_payload_counts(rig->cctx, &ways);
	ck_assert_uint_eq(ways.direct, CALLS);
	ck_assert_uint_eq(ways.whole, CALLS);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 20000), 0);
}
END_TEST

START_TEST(the_end_of_the_object_is_told)
{
	start(0, RIG_OBJECT - LEN, LEN);
	ends_well(0, RIG_OBJECT - LEN, LEN);
	ck_assert(!calls[0].call.whole);
	ck_assert_uint_eq(calls[0].done, LEN);
	ck_assert_uint_eq(whole(), 0);
}
END_TEST

/* Cases in which the client needs a reply, or the server's CPU copies the data. */
START_TEST(who_wants_a_reply_gets_it)
{
	rig->reply_optional = _i;
	mock.pins = !_i;
	start(0, 0, LEN);
	ends_well(0, 0, LEN);
	ck_assert(!calls[0].call.whole);
	ck_assert_uint_eq(whole(), 0);
}
END_TEST

/* The end of a cancelled read arrives: it completes no other read. */
START_TEST(given_up)
{
	start(0, 0, LEN);
	rpc_ctx_progress(rig->cctx, 0);
	while (rpc_ctx_progress(rig->sctx, 0))
		;
	rpc_call_cancel(&calls[0].call);
	ck_assert_uint_eq(calls[0].times, 1);
	for (unsigned int i = 1; i < CALLS; i++)
		start(i, i * LEN, LEN);
	for (unsigned int i = 1; i < CALLS; i++)
		ends_well(i, i * LEN, LEN);
	ck_assert_uint_eq(calls[0].times, 1);
	ck_assert_uint_eq(whole(), CALLS);
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 0);
}
END_TEST

/* The immediate is that of another read, of another slot, or invalid: the connection ends. */
START_TEST(an_immediate_that_cannot_be)
{
	static const uint32_t spoil[] = { 1u << 8, 1u, 0x80u, 1u << 30 };

	mock.spoil_imm = spoil[_i];
	start(0, 0, LEN);
	start(1, LEN, LEN);
	rig_until(rig, rig_logged(rig, "an immediate, to no such read"));
	ends_well(0, 0, LEN);
	ends_well(1, LEN, LEN);
	ck_assert_uint_eq(rig_logged(rig, "protocol error in a reply"), 1);
}
END_TEST

/*
 * Data that the client moves may arrive after all data that the server moves, so there is a reply.
 */
START_TEST(what_is_lent_is_answered)
{
	teardown();
	open_rig(true);
	start(0, 0, LEN);
	ends_well(0, 0, LEN);
	ck_assert(!calls[0].call.whole);
	ck_assert_uint_eq(whole(), 0);
}
END_TEST

/* The bulks wait for their turn. */
START_TEST(what_waits_is_answered)
{
	rig_server_close(rig);
	rig->sattr.rdma_max = LEN / 2;
	rig_server_open(rig);
	for (unsigned int i = 0; i < CALLS; i++)
		start(i, i * LEN, LEN);
	for (unsigned int i = 0; i < CALLS; i++)
		ends_well(i, i * LEN, LEN);
	ck_assert_uint_lt(whole(), CALLS);
}
END_TEST

static bool play(int at)
{
	mock.break_at = mock.step + at;
	start(0, 0, LEN);
	start(1, LEN, LEN);
	ends_well(0, 0, LEN);
	ends_well(1, LEN, LEN);
	return mock.broke;
}

START_TEST(broken_at_any_step)
{
	int at = 1;

	while (play(at)) {
		teardown();
		open_rig(false);
		at++;
	}
	ck_assert_int_gt(at, 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_whole");
	TCase *tc = tcase_create("rpc_whole");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, ends_with_the_data);
	tcase_add_test(tc, the_end_of_the_object_is_told);
	tcase_add_loop_test(tc, who_wants_a_reply_gets_it, 0, 2);
	tcase_add_test(tc, given_up);
	tcase_add_loop_test(tc, an_immediate_that_cannot_be, 0, 4);
	tcase_add_test(tc, what_is_lent_is_answered);
	tcase_add_test(tc, what_waits_is_answered);
	tcase_add_test(tc, broken_at_any_step);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
