/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_fast.c - the payload of small requests is sent in the message or through Fast RDMA
 * buffers, or the server reads it.  The bytes are right each time, also if the connection breaks at
 * any step.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer/fast.h"
#include "tests/unit/mock_tp.h"
#include "common/comm/call/payload_int.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define BYTES ((size_t)FAST_COUNT * FAST_SIZE)
#define LEN 6000u /* not sent inline if Fast RDMA is possible */
#define CALLS 8u
#define ROOM (CALLS * 65536u)

static struct rig *rig;
static uint8_t *mem, *back;
static struct rail_mem area;
static struct rig_call calls[CALLS];
static uint32_t rpc_room; /* of the next server, for data in a request */

static enum pins_mode pins; /* of the next client */

/* Returns whether the kernel reports unmapped memory; otherwise no registration is kept. */
static bool watched(void)
{
	return pins_keep(rpc_ctx_rails(rig->cctx)->pins[0]);
}

static void open_rig_inline(uint32_t fast_max, size_t budget,
			    const struct sizes *inline_max)
{
	unsigned int i;

	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig->fast_max = sizes_all(fast_max);
	rig->pins = pins;
	if (inline_max)
		rig->inline_max = *inline_max;
	rig->sattr.fast_bytes = budget;
	if (rpc_room)
		rig->sattr.inline_max = sizes_all(rpc_room);
	rig->sattr.slots = CALLS;
	rig_open(rig, "mock");
	mem = malloc(ROOM);
	back = calloc(1, ROOM);
	for (i = 0; i < ROOM; i++)
		mem[i] = (uint8_t)(i * 7 + i / 251);
	rail_mem_init(&area, mem, ROOM, TP_REMOTE_READ);
	rig->area = &area;
}

static void open_rig(uint32_t fast_max, size_t budget)
{
	open_rig_inline(fast_max, budget, NULL);
}

static void setup(void)
{
	open_rig(FAST_DATA, 2 * BYTES);
}

static void teardown(void)
{
	rail_mem_fini(&area);
	rig_close(rig);
	free(mem);
	free(back);
	ck_assert_int_eq(mock.mrs, 0);
}

static struct rpc_server_stats stats(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return st;
}

/* Checks the numbers of transfers in each way since the rig was opened. */
static void ck_ways(uint64_t inlined, uint64_t fast, uint64_t direct)
{
	struct rpc_payload_counts ways;

	rpc_ctx_payload_counts(rig->cctx, &ways);
	ck_assert_uint_eq(ways.inlined, inlined);
	ck_assert_uint_eq(ways.fast, fast);
	ck_assert_uint_eq(ways.direct, direct);
}

static void start_write(unsigned int i, size_t len, unsigned int pieces)
{
	const struct tp_mr none = { 0 };

	rig_io(rig, &calls[i], WIRE_WRITE, i * len, mem + i * len, len, &none,
	       pieces, 20000);
}

static void finish(unsigned int i)
{
	rig_until(rig, calls[i].finished);
	ck_assert_int_eq(calls[i].call.status, 0);
	ck_assert_uint_eq(calls[i].times, 1);
}

static void written(size_t len, unsigned int pieces)
{
	memset(rig->object, 0, len + 1);
	start_write(0, len, pieces);
	finish(0);
	ck_assert_mem_eq(rig->object, mem, len);
	ck_assert_uint_eq(rig->object[len], 0);
}

/* The server reads the data of the first call, which asks for buffers. */
static void get_buffers(void)
{
	written(LEN, 1);
	rig_until(rig, stats().fast_bytes == BYTES);
	rig_for_ms(rig, 2);
	rail_mem_fini(&area);
}

/* ---- writes ---- */

START_TEST(few_bytes_go_with_the_message)
{
	written(4096, 2);
	ck_assert_uint_eq(rig->carried, 1);
	ck_assert_ptr_null(area.mr[0]);
	ck_assert_uint_eq(stats().fast, 0);
	ck_ways(1, 0, 0);
}
END_TEST

START_TEST(without_fast_more_go_with_the_message)
{
	teardown();
	open_rig(0, BYTES);
	written(65536, 64);
	ck_assert_uint_eq(rig->carried, 1);
	ck_assert_ptr_null(area.mr[0]);
	written(65536 + 8, 1);
	written(65 * 100, 65); /* too many pieces */
	ck_assert_uint_eq(rig->carried, 1);
	ck_assert_uint_eq(stats().fast_bytes, 0);
}
END_TEST

START_TEST(the_limit_can_be_set)
{
	struct sizes len = sizes_all(LEN), none = sizes_all(0);

	teardown();
	open_rig_inline(FAST_DATA, 2 * BYTES, &len);
	written(LEN, 1);
	ck_assert_uint_eq(rig->carried, 1);
	written(LEN + 8, 1);
	ck_assert_uint_eq(rig->carried, 1);
	teardown();
	open_rig_inline(0, BYTES, &none);
	written(16, 1);
	ck_assert_uint_eq(rig->carried, 0);
}
END_TEST

START_TEST(the_limit_of_fast_rdma_can_be_set)
{
	teardown();
	open_rig(2 * LEN, 2 * BYTES);
	get_buffers();
	written(2 * LEN, 1);
	ck_assert_uint_eq(stats().fast, 1);
	written(2 * LEN + 8, 1);
	ck_assert_uint_eq(stats().fast, 1);
}
END_TEST

/* A server may have less room than the client would send. */
START_TEST(the_server_bounds_what_goes_with_the_message)
{
	const size_t room = 8000;

	teardown();
	rpc_room = (uint32_t)room;
	open_rig(0, 0);
	rpc_room = 0;
	written(room, 1);
	ck_assert_uint_eq(rig->carried, 1);
	written(WIRE_BODY_MAX + room, 1);
	ck_assert_uint_eq(rig->carried, 1);
}
END_TEST

START_TEST(a_copy_by_fast_rdma)
{
	get_buffers();
	ck_assert_uint_eq(rig->carried, 0);
	written(LEN, 3);
	ck_assert_uint_eq(stats().fast, 1);
	ck_assert_uint_eq(rig->carried, 1);
	ck_assert_ptr_null(area.mr[0]);
	written(65536, 1);
	written(65536, 128);
	ck_assert_uint_eq(stats().fast, 3);
	written(65536 + 8, 1);
	ck_assert_uint_eq(stats().fast, 3);
}
END_TEST

START_TEST(registered_memory_is_not_copied)
{
	int mrs;

	written(LEN, 1);
	rig_until(rig, stats().fast_bytes == BYTES);
	rig_for_ms(rig, 2);
	ck_assert_ptr_nonnull(area.mr[0]);
	mrs = mock.mrs;
	written(LEN, WIRE_REGION_MAX / 8);
	ck_assert_uint_eq(stats().fast, 1);
	ck_assert_int_eq(mock.mrs, mrs); /* the client has no buffers */
}
END_TEST

/* Writes once more.  Returns whether the source was registered, now or earlier. */
static bool comes_in_place(void)
{
	bool in_place;

	written(LEN, 1);
	in_place = area.mr[0];
	rail_mem_fini(&area);
	return in_place;
}

/*
 * A source buffer is copied COPY_COUNTS_LIMIT - 1 times. Then it is registered, and later writes
 * reuse the registration, if the cache may keep it. While the kernel still reports other unmapped
 * memory, the cache keeps no registration. The test then repeats the write.
 */
START_TEST(a_source_that_comes_back)
{
	bool kept;
	unsigned int i;

	teardown();
	pins = PINS_ON;
	open_rig(FAST_DATA, 2 * BYTES);
	pins = PINS_OFF;
	kept = _i && watched();
	get_buffers();
	area.keep = _i;
	for (i = 1; i < COPY_COUNTS_LIMIT; i++)
		ck_assert(!comes_in_place());
	ck_assert_int_eq(comes_in_place(), kept);
	for (i = 0; i < COPY_COUNTS_LIMIT; i++)
		ck_assert(kept || !comes_in_place());
	while (kept && !(comes_in_place() && comes_in_place()))
		;
}
END_TEST

START_TEST(more_calls_than_buffers)
{
	unsigned int i, round;

	get_buffers();
	for (round = 0; round < 3; round++) {
		uint64_t before = stats().fast;

		memset(rig->object, 0, ROOM);
		for (i = 0; i < CALLS; i++)
			start_write(i, LEN, 1);
		for (i = 0; i < CALLS; i++)
			finish(i);
		ck_assert_mem_eq(rig->object, mem, CALLS * LEN);
		rail_mem_fini(&area);
		ck_assert_uint_ge(stats().fast - before, FAST_COUNT);
	}
}
END_TEST

START_TEST(memory_that_is_not_there)
{
	const struct tp_mr none = { 0 };
	void *hole = (void *)4096;

	get_buffers();
	rail_mem_init(&area, hole, LEN, TP_REMOTE_READ);
	rig_io(rig, &calls[0], WIRE_WRITE, 0, hole, LEN, &none, 1, 5000);
	rig_until(rig, calls[0].finished);
	ck_assert_int_eq(calls[0].call.status, -EFAULT);
	rail_mem_init(&area, mem, ROOM, TP_REMOTE_READ);
	written(LEN, 1);
	ck_assert_uint_eq(stats().fast, 1);
}
END_TEST

START_TEST(a_server_without_buffers)
{
	uint64_t requests;

	teardown();
	open_rig(FAST_DATA, _i ? BYTES - 1 : 0);
	written(LEN, 1);
	rig_until(rig, stats().requests == 2);
	rig_for_ms(rig, 2);
	requests = stats().requests;
	written(LEN, 1);
	written(LEN, 1);
	ck_assert_uint_eq(stats().requests, requests + 2);
	ck_assert_uint_eq(stats().fast, 0);
	ck_assert_uint_eq(stats().fast_refused, (unsigned int)_i);
	ck_assert_uint_eq(rig_logged(rig, "protocol error"), 0);
}
END_TEST

/* A cancelled call keeps its buffer until the reply. */
START_TEST(given_up)
{
	unsigned int i;

	get_buffers();
	mock.freeze = true;
	for (i = 0; i < FAST_COUNT; i++)
		start_write(i, LEN, 1);
	for (i = 0; i < FAST_COUNT; i++)
		rpc_call_cancel(&calls[i].call);
	rail_mem_fini(&area);
	start_write(5, LEN, 1); /* finds no free buffer */
	ck_assert_ptr_nonnull(area.mr[0]);
	mock.freeze = false;
	finish(5);
	ck_assert_mem_eq(rig->object, mem, FAST_COUNT * LEN);
	rail_mem_fini(&area);
	written(LEN, 1);
	ck_assert_uint_eq(stats().fast, FAST_COUNT + 1);
}
END_TEST

/* ---- reads ---- */

static void start_read(unsigned int i, size_t len, unsigned int pieces)
{
	const struct tp_mr none = { 0 };
	struct rig_call *c = &calls[i];

	rig_io(rig, c, WIRE_READ, i * len, back + i * len, len, &none, pieces,
	       20000);
	c->bounce = back + i * len;
}

static void readable(void)
{
	rail_mem_fini(&area);
	rail_mem_init(&area, back, ROOM, TP_REMOTE_WRITE);
	rig->bounce = true;
	memcpy(rig->object, mem, ROOM);
}

START_TEST(a_read_lands_in_a_buffer)
{
	readable();
	start_read(0, LEN, 3);
	finish(0);
	ck_assert_mem_eq(back, mem, LEN);
	ck_assert_ptr_nonnull(calls[0].call.landed);
	ck_assert_ptr_null(area.mr[0]);
	ck_assert_uint_eq(stats().placed, 1);
	start_read(0, 65536, 1);
	finish(0);
	ck_assert_mem_eq(back, mem, 65536);
	ck_assert_uint_eq(stats().placed, 2);
	ck_ways(0, 2, 0);
	start_read(0, 65536 + 8, 1);
	finish(0);
	ck_ways(0, 2, 1);
	ck_assert_mem_eq(back, mem, 65536 + 8);
	ck_assert_ptr_null(calls[0].call.landed);
	ck_assert_ptr_nonnull(area.mr[0]);
	memset(back, 0, LEN);
	start_read(0, LEN, 3);
	finish(0);
	ck_assert_mem_eq(back, mem, LEN);
	ck_assert_ptr_null(calls[0].call.landed); /* registered now */
	ck_assert_uint_eq(stats().placed, 2);
}
END_TEST

START_TEST(many_reads)
{
	unsigned int i;

	readable();
	for (i = 0; i < CALLS; i++)
		start_read(i, LEN, 1u << i % 5);
	for (i = 0; i < CALLS; i++)
		finish(i);
	ck_assert_mem_eq(back, mem, CALLS * LEN);
}
END_TEST

/* ---- broken connections ---- */

/* Writes and reads.  Returns whether the connection was broken. */
static bool play(int break_at)
{
	unsigned int i;

	open_rig(FAST_DATA, 2 * BYTES);
	get_buffers();
	mock.step = 0;
	mock.break_at = break_at;
	for (i = 0; i < CALLS; i++)
		start_write(i, 6400, 2);
	for (i = 0; i < CALLS; i++)
		finish(i);
	ck_assert_mem_eq(rig->object, mem, CALLS * 6400);
	ck_assert_uint_eq(rig->executed, 1 + CALLS);
	readable();
	for (i = 0; i < CALLS; i++)
		start_read(i, 6400, 4);
	for (i = 0; i < CALLS; i++)
		finish(i);
	ck_assert_mem_eq(back, mem, CALLS * 6400);
	rail_mem_fini(&area);
	rail_mem_init(&area, mem, ROOM, TP_REMOTE_READ);
	written(LEN, 1);
	if (mock.broke) {
		get_buffers();
		written(LEN, 1);
	}
	ck_assert_uint_ge(stats().fast, 1);
	return mock.broke;
}

START_TEST(broken_at_any_step)
{
	int at = 1;
	bool broke;

	teardown();
	for (;;) {
		broke = play(at);
		if (!broke)
			break;
		teardown();
		at += 1;
	}
	ck_assert_int_gt(at, 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_fast");
	TCase *tc = tcase_create("rpc_fast");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, few_bytes_go_with_the_message);
	tcase_add_test(tc, without_fast_more_go_with_the_message);
	tcase_add_test(tc, the_limit_can_be_set);
	tcase_add_test(tc, the_limit_of_fast_rdma_can_be_set);
	tcase_add_test(tc, the_server_bounds_what_goes_with_the_message);
	tcase_add_test(tc, a_copy_by_fast_rdma);
	tcase_add_test(tc, registered_memory_is_not_copied);
	tcase_add_loop_test(tc, a_source_that_comes_back, 0, 2);
	tcase_add_test(tc, more_calls_than_buffers);
	tcase_add_test(tc, memory_that_is_not_there);
	tcase_add_loop_test(tc, a_server_without_buffers, 0, 2);
	tcase_add_test(tc, given_up);
	tcase_add_test(tc, a_read_lands_in_a_buffer);
	tcase_add_test(tc, many_reads);
	tcase_add_test(tc, broken_at_any_step);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
