/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_carry.c - adaptive rendezvous: a loaded server lets its client move the data, takes lent
 * memory back from a client that is late, and lends no memory of others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

/* of a call: two bulks, which are large enough to be lent */
#define LEN (192u << 10)
#define HALF (LEN / 2)
#define CALLS 5u /* RIG_OBJECT has room for so many */
#define PIECES 6u
#define IN_TIME_MS 20000u /* a client is not late on any machine */
#define LATE_MS 100u

static struct rig *rig;
static uint8_t *mem;
static unsigned int parts; /* carry_parts of the next client */
static struct rail_mem area;

static struct rpc_server_stats stats(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return st;
}

static void fill(uint8_t *at, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)((i + seed) * 2654435761u >> 13);
}

/* The memory is an area, so its keys are known when a part is requested. */
static void open_rig_for(bool client, bool server, uint64_t above,
			 unsigned int carry_ms)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig->carry = client;
	rig->carry_parts = parts;
	rig->lend = true;
	rig->sattr.carry = server;
	rig->sattr.carry_above = above;
	rig->sattr.carry_ms = carry_ms;
	rig->sattr.slots = CALLS + 1;
	rig_open(rig, "mock");
	mem = calloc(1, RIG_OBJECT);
	rail_mem_init(&area, mem, RIG_OBJECT, TP_REMOTE_READ | TP_REMOTE_WRITE);
	ck_assert_int_eq(rail_mem_reg_all(&area, rpc_ctx_rails(rig->cctx)), 0);
	rig->area = &area;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
}

static void open_rig(bool client, bool server, uint64_t above)
{
	open_rig_for(client, server, above, IN_TIME_MS);
}

static void close_rig(void)
{
	rig_until(rig, rig->bulks == 0);
	rail_mem_fini(&area);
	rig_close(rig);
	free(mem);
	ck_assert_int_eq(mock.mrs, 0);
}

static void start(struct rig_call *c, unsigned int op, uint64_t at,
		  uint64_t len)
{
	rig_io(rig, c, op, at, mem + at, len, area.mr[0], PIECES, 5000);
}

static void ends_well(struct rig_call *c)
{
	rig_until(rig, c->finished);
	ck_assert_int_eq(c->call.status, 0);
	ck_assert_uint_eq(c->times, 1);
}

/* Writes and reads back; the bytes are the same, whichever end moves them. */
static void write_and_read(void)
{
	static struct rig_call c;

	fill(mem, LEN, 7);
	start(&c, WIRE_WRITE, 0, LEN);
	ends_well(&c);
	ck_assert_mem_eq(rig->object, mem, LEN);
	fill(rig->object + LEN, LEN, 8);
	start(&c, WIRE_READ, LEN, LEN);
	ends_well(&c);
	ck_assert_mem_eq(rig->object + LEN, mem + LEN, LEN);
}

START_TEST(both_have_to_want_it)
{
	bool client = _i & 1, server = _i & 2;

	open_rig(client, server, 0);
	write_and_read();
	ck_assert_uint_eq(stats().carried, client && server ? 4 : 0);
	ck_assert_uint_eq(stats().carried_bytes,
			  client && server ? 2 * LEN : 0);
	ck_assert_uint_eq(stats().carry_declined + stats().carry_late, 0);
	close_rig();
}
END_TEST

/* Half of the data may be in flight. */
START_TEST(only_what_is_above)
{
	open_rig(true, true, HALF);
	write_and_read();
	ck_assert_uint_eq(stats().carried, 2);
	ck_assert_uint_eq(stats().rdma_most, HALF);
	close_rig();
}
END_TEST

START_TEST(rather_than_wait)
{
	open_rig(true, true, UINT64_MAX / 2);
	rig_server_close(rig);
	rig->sattr.rdma_max = HALF;
	rig_server_open(rig);
	write_and_read();
	ck_assert_uint_gt(stats().carried, 0);
	ck_assert_uint_eq(stats().rdma_waits, 0);
	close_rig();
}
END_TEST

START_TEST(a_little_is_not_worth_it)
{
	static struct rig_call c;

	open_rig(true, true, 0);
	start(&c, WIRE_READ, 0, 131070);
	ends_well(&c);
	ck_assert_uint_eq(stats().carried, 0);
	start(&c, WIRE_READ, 0, 131076);
	ends_well(&c);
	ck_assert_uint_eq(stats().carried, 2);
	close_rig();
}
END_TEST

/* The client moves one part of two, and the server the other. */
START_TEST(a_loaded_client_declines)
{
	parts = 1;
	open_rig(true, true, 0);
	parts = 0;
	for (unsigned int i = 1; i < 4; i++) {
		write_and_read();
		ck_assert_uint_eq(stats().carried, 2 * i);
		ck_assert_uint_eq(stats().carry_declined, 2 * i);
	}
	close_rig();
}
END_TEST

/* Wherever the connection breaks, data in flight no longer counts as load. */
START_TEST(no_load_is_left)
{
	bool last = false;
	uint64_t carried;

	for (int at = 1; !last; at++) {
		parts = 1;
		open_rig(true, true, 0);
		parts = 0;
		mock.break_at = mock.step + at;
		write_and_read();
		last = !mock.broke;
		carried = stats().carried;
		write_and_read();
		ck_assert_uint_eq(stats().carried, carried + 2);
		close_rig();
	}
}
END_TEST

/*
 * There is no memory for the first loan, or for a later one: the server moves everything from then
 * on.
 */
START_TEST(no_memory_to_lend)
{
	static struct rig_call c;

	open_rig(true, true, 0);
	start(&c, WIRE_READ, 0, 131070);
	ends_well(&c);
	if (_i)
		write_and_read();
	mock.no_mr = true;
	write_and_read();
	mock.no_mr = false;
	write_and_read();
	ck_assert_uint_eq(stats().carried, _i ? 4 : 0);
	ck_assert_uint_eq(rig_logged(rig, "no memory to let it move"), 1);
	close_rig();
}
END_TEST

/* The number of loans is that of the tickets; the server moves the rest. */
START_TEST(tickets_are_bounded)
{
	static struct rig_call c[CALLS];
	int before;

	open_rig(true, true, 0);
	fill(rig->object, RIG_OBJECT, 3);
	write_and_read();
	fill(rig->object, RIG_OBJECT, 3);
	before = mock.mrs;
	for (unsigned int i = 0; i < CALLS; i++)
		start(&c[i], WIRE_READ, i * LEN, LEN);
	rpc_ctx_progress(rig->cctx, 0);
	while (rpc_ctx_progress(rig->sctx, 0))
		;
	ck_assert_int_eq(mock.mrs - before, WIRE_CARRY_MAX);
	for (unsigned int i = 0; i < CALLS; i++)
		ends_well(&c[i]);
	ck_assert_mem_eq(mem, rig->object, CALLS * LEN);
	ck_assert_uint_ge(stats().carried, 4 + WIRE_CARRY_MAX);
	ck_assert_int_eq(mock.mrs, before);
	close_rig();
}
END_TEST

/* Delays the client's next round until after the deadline of both parts. */
static void come_late(void)
{
	uint64_t stop = clock_after_ms(RIG_PATIENCE_MS);

	rpc_ctx_progress(rig->cctx, 0);
	while (stats().carry_late < 2 || rig->bulks) {
		ck_assert_uint_lt(clock_now(), stop);
		rpc_ctx_progress(rig->sctx, clock_after_ms(LATE_MS));
	}
}

/*
 * Late accesses of the client are rejected: they break the connection, and change nothing.  The
 * server has moved the data by itself.  A reader does not trust the reply, because some data may
 * still arrive.  The server lends this client nothing more.
 */
START_TEST(who_comes_late)
{
	static struct rig_call c;
	unsigned int op = _i ? WIRE_READ : WIRE_WRITE;

	open_rig_for(true, true, 0, LATE_MS);
	fill(_i ? rig->object : mem, LEN, 5);
	start(&c, op, 0, LEN);
	come_late();
	ck_assert_uint_eq(stats().carry_late, 2);
	ck_assert_uint_eq(rig->bulks, 0);
	ck_assert_uint_eq(rig->executed, 2);
	ck_assert_mem_eq(rig->object, mem, LEN);
	fill(rig->object, LEN, 6);
	rig_until(rig, rig_logged(rig, "trying again"));
	ends_well(&c);
	rig_until(rig, rig_logged(rig, "connected again"));
	ck_assert_uint_eq(rig->executed, _i ? 3 : 2);
	/*
	 * each part has its own deadline, so the log reports them together or one after the other
	 */
	ck_assert_uint_ge(rig_logged(rig, "did not move"), 1);
	ck_assert_uint_le(rig_logged(rig, "did not move"), 2);
	write_and_read();
	ck_assert_uint_eq(stats().carried, 0);
	close_rig();
}
END_TEST

/* The call has ended for its owner, so the client moves none of its data. */
START_TEST(who_has_given_up)
{
	static struct rig_call c;

	open_rig(true, true, 0);
	start(&c, WIRE_READ, 0, LEN);
	rpc_ctx_progress(rig->cctx, 0);
	while (rpc_ctx_progress(rig->sctx, 0))
		;
	rpc_call_cancel(&c.call);
	ck_assert_int_eq(c.call.status, -ECANCELED);
	rig_until(rig, rig->bulks == 0);
	ck_assert_uint_eq(stats().carry_declined, 2);
	ck_assert_uint_eq(stats().carried, 0);
	write_and_read();
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 0);
	close_rig();
}
END_TEST

/* The call is cancelled while data moves, so the connection is closed. */
START_TEST(given_up_meanwhile)
{
	static struct rig_call c;

	open_rig(true, true, 0);
	start(&c, WIRE_READ, 0, LEN);
	rpc_ctx_progress(rig->cctx, 0);
	while (rpc_ctx_progress(rig->sctx, 0))
		;
	mock.freeze = true;
	rpc_ctx_progress(rig->cctx, 0);
	rpc_call_cancel(&c.call);
	mock.freeze = false;
	write_and_read();
	close_rig();
}
END_TEST

/* The connection breaks at each step in turn. */
START_TEST(breaks_everywhere)
{
	int last = 0, at;

	for (at = 1; !last; at++) {
		open_rig(true, true, _i ? HALF : 0);
		mock.break_at = mock.step + at;
		write_and_read();
		last = !mock.broke;
		close_rig();
	}
	ck_assert_int_gt(at, 20);
}
END_TEST

/* ---- clients that send any message ---- */

static struct raw raw;
static struct tp_mr *lent;

static void raw_begin_for(unsigned int carry_ms)
{
	open_rig_for(true, true, 0, carry_ms);
	raw_open(&raw, rig, 0x2222, 1);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	raw_hello(&raw, rig->cred.uid);
	raw_hdr(&raw)->flags = htole16(WIRE_F_CARRY);
	raw_send(&raw, le32toh(raw_hdr(&raw)->len));
	raw_until(&raw, raw.received == 1);
	ck_assert_int_eq(tp_mr_reg(rig->dev, mem, RIG_OBJECT,
				   TP_REMOTE_READ | TP_REMOTE_WRITE, &lent),
			 0);
}

static void raw_begin(void)
{
	raw_begin_for(IN_TIME_MS);
}

static void raw_end(void)
{
	if (!raw.ep)
		ck_assert_int_eq(tp_ep_open(raw.cq, &(struct tp_ep_attr){ 0 },
					    &raw.ep),
				 0);
	raw_close(&raw);
	rig_until(rig, rig->bulks == 0);
	tp_mr_dereg(lent);
	write_and_read();
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 0);
	close_rig();
}

static void raw_write(void)
{
	struct wire_region region = { 0, htole64(LEN) };
	struct wire_mem piece = { htole64((uintptr_t)mem), htole32(LEN),
				  htole32(lent->rkey) };
	struct wire_io io = { .handle = htole64(1),
			      .total = htole64(LEN),
			      .nreg = htole32(1),
			      .nmem = htole32(1) };
	struct wire_out out;
	struct wire_hdr hdr;

	raw_append(&raw, 0, 1);
	hdr = *raw_hdr(&raw);
	wire_begin(&out, raw.buf->out, sizeof(raw.buf->out));
	wire_put(&out, &io, sizeof(io));
	wire_put(&out, &region, sizeof(region));
	wire_put(&out, &piece, sizeof(piece));
	hdr.len = htole32((uint32_t)wire_end(&out, WIRE_WRITE, 0, 0));
	hdr.op = htole16(WIRE_WRITE);
	*raw_hdr(&raw) = hdr;
	raw_send(&raw, le32toh(hdr.len));
}

/* Returns the n-th message that the raw client has got. */
static const struct wire_carry_rep *part(unsigned int n)
{
	const struct wire_hdr *hdr = (const void *)raw.buf->in[n];

	raw_until(&raw, raw.received > n);
	ck_assert_uint_eq(le16toh(hdr->op), WIRE_CARRY);
	ck_assert_uint_eq(le64toh(hdr->seq), 1);
	return (const void *)(hdr + 1);
}

static void raw_put(const struct wire_carry_rep *rep, uint64_t off,
		    uint32_t len, uint32_t imm)
{
	struct tp_sge sge = { mem, len, lent->lkey };
	struct tp_send_wr wr = { .opcode = TP_WRITE_IMM,
				 .sgl = &sge,
				 .nsge = 1,
				 .imm = imm,
				 .remote_addr = le64toh(rep->addr) + off,
				 .rkey = le32toh(rep->rkey) };

	ck_assert_int_eq(tp_post_send(raw.ep, &wr), 0);
}

static uint32_t answer_to(const struct wire_carry_rep *rep)
{
	return WIRE_IMM_CARRIED | le32toh(rep->ticket);
}

START_TEST(raw_client_carries)
{
	raw_begin();
	fill(mem, LEN, 9);
	raw_write();
	raw_put(part(1), 0, HALF, answer_to(part(1)));
	part(2);
	memmove(mem, mem + HALF, HALF);
	raw_put(part(2), 0, HALF, answer_to(part(2)));
	raw_until(&raw, raw.received == 4);
	ck_assert_int_eq(raw_status(&raw, 3), 0);
	ck_assert_mem_eq(rig->object + HALF, mem, HALF);
	raw_end();
}
END_TEST

/* If the client reports its parts without having written them, the object gets zeros. */
START_TEST(nothing_written)
{
	static const uint8_t zero[LEN];
	const struct wire_carry_rep none = { 0 };

	raw_begin();
	fill(rig->object, LEN, 4);
	raw_write();
	raw_put(&none, 0, 0, answer_to(part(1)));
	raw_put(&none, 0, 0, answer_to(part(2)));
	raw_until(&raw, raw.received == 4);
	ck_assert_mem_eq(rig->object, zero, LEN);
	raw_end();
}
END_TEST

/* Accesses before and after the lent range, with its key. */
START_TEST(bad_offsets)
{
	static const uint64_t off[] = { UINT64_MAX, 1, HALF, 0 };
	static const uint32_t len[] = { 2, HALF, 1, HALF + 1 };
	static uint8_t before[RIG_OBJECT];

	raw_begin();
	fill(mem, LEN, 2);
	fill(rig->object + LEN, LEN, 3);
	raw_write();
	part(2);
	memcpy(before, rig->object, RIG_OBJECT);
	raw_put(part(1), off[_i], len[_i], answer_to(part(1)));
	raw_until(&raw, raw.disconnected);
	raw_until(&raw, rig->bulks == 0);
	ck_assert_mem_eq(rig->object, before, RIG_OBJECT);
	ck_assert_uint_eq(rig->aborted, 1);
	raw_end();
}
END_TEST

/* The memory was taken back, and may contain data of others. */
START_TEST(writes_after_the_deadline)
{
	static uint8_t before[LEN];

	raw_begin_for(LATE_MS);
	fill(mem, LEN, 2);
	raw_write();
	part(2);
	raw_until(&raw, raw.received == 4);
	ck_assert_uint_eq(stats().carry_late, 2);
	fill(rig->object, LEN, 6);
	memcpy(before, rig->object, LEN);
	raw_put(part(1), 0, HALF, answer_to(part(1)));
	raw_until(&raw, raw.disconnected);
	ck_assert_mem_eq(rig->object, before, LEN);
	raw_end();
}
END_TEST

/* The late report of a client only frees its ticket. */
START_TEST(answers_after_the_deadline)
{
	const struct wire_carry_rep none = { 0 };

	raw_begin_for(LATE_MS);
	raw_write();
	part(2);
	raw_until(&raw, raw.received == 4);
	raw_put(&none, 0, 0, answer_to(part(1)));
	raw_put(&none, 0, 0, answer_to(part(2)));
	rig_for_ms(rig, 5);
	ck_assert(!raw.disconnected);
	ck_assert_uint_eq(stats().carried, 0);
	raw_end();
}
END_TEST

static const uint32_t bad_answers[] = { WIRE_CARRY_MAX, 3, WIRE_IMM_TICKET,
					WIRE_IMM_DECLINED | 3 };

START_TEST(answers_what_was_not_asked)
{
	const struct wire_carry_rep none = { 0 };

	raw_begin();
	raw_write();
	part(2);
	raw_put(&none, 0, 0, WIRE_IMM_CARRIED | bad_answers[_i]);
	raw_until(&raw, raw.disconnected);
	ck_assert_uint_eq(stats().protocol_errors, 1);
	raw_end();
}
END_TEST

START_TEST(dies_with_it)
{
	int before;

	raw_begin();
	write_and_read();
	raw_write();
	part(2);
	ck_assert_uint_eq(rig->bulks, 2);
	before = mock.mrs;
	tp_ep_close(raw.ep);
	rig_until(rig, rig->bulks == 0);
	ck_assert_uint_eq(stats().rdma_cut, 2);
	ck_assert_uint_eq(rig->aborted, 1);
	/* two loans, the receives for their replies, and those of the connection */
	rig_until(rig, mock.mrs <= before - 4);
	raw.ep = NULL;
	raw_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_carry");
	TCase *tc = tcase_create("carry");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, both_have_to_want_it, 0, 4);
	tcase_add_test(tc, only_what_is_above);
	tcase_add_test(tc, rather_than_wait);
	tcase_add_test(tc, a_little_is_not_worth_it);
	tcase_add_test(tc, a_loaded_client_declines);
	tcase_add_test(tc, no_load_is_left);
	tcase_add_loop_test(tc, no_memory_to_lend, 0, 2);
	tcase_add_test(tc, tickets_are_bounded);
	tcase_add_loop_test(tc, who_comes_late, 0, 2);
	tcase_add_test(tc, who_has_given_up);
	tcase_add_test(tc, given_up_meanwhile);
	tcase_add_loop_test(tc, breaks_everywhere, 0, 2);
	tcase_add_test(tc, raw_client_carries);
	tcase_add_test(tc, nothing_written);
	tcase_add_loop_test(tc, bad_offsets, 0, 4);
	tcase_add_test(tc, writes_after_the_deadline);
	tcase_add_test(tc, answers_after_the_deadline);
	tcase_add_loop_test(tc, answers_what_was_not_asked, 0, 4);
	tcase_add_test(tc, dies_with_it);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
