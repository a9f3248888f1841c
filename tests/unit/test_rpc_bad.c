/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_bad.c - violations of the protocol get a clear reply and end only that connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer/fast.h"
#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

static struct rig *rig;
static struct raw raw;

static void setup(void)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "mock");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	raw_open(&raw, rig, 0x2222, 1);
}

/* Checks that the other client was not affected. */
static void teardown(void)
{
	raw_close(&raw);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 0);
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

/* The error is reply n and names its cause, and the connection closes. */
static void refused(unsigned int n, int status, const char *cause)
{
	struct rpc_server_stats stats;

	raw_until(&raw, raw.disconnected);
	ck_assert_uint_eq(raw.received, n + (status != 0));
	ck_assert_int_eq(raw_status(&raw, n), status);
	ck_assert_msg(rig_logged(rig, cause) == 1, "%s", rig->text);
	rpc_server_stats(rig->server, &stats);
	ck_assert_uint_eq(stats.protocol_errors, 1);
	ck_assert_uint_eq(stats.requests, rig->executed);
}

START_TEST(hello_comes_first)
{
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	raw_send(&raw, raw_append(&raw, 0, 1));
	refused(0, EPROTO, "HELLO must come first");
}
END_TEST

START_TEST(hello_has_to_come)
{
	rig_server_close(rig);
	rig->sattr.stall_ms = 50;
	rig_server_open(rig);
	raw_connect(&raw);
	raw_until(&raw, raw.disconnected);
	ck_assert_uint_eq(rig_logged(rig, "no HELLO within 50 ms"), 1);
	rig->text_len = 0;
	rig->text[0] = '\0';
}
END_TEST

/* A client takes no data of its READ: mock.freeze stops the wire. */
START_TEST(bulk_data_has_to_move)
{
	struct rig_call c;
	struct tp_mr *mr;
	uint8_t buf[1000];

	rig_server_close(rig);
	rig->sattr.stall_ms = 50;
	rig_server_open(rig);
	ck_assert_int_eq(
		tp_mr_reg(rig->dev, buf, sizeof(buf), TP_REMOTE_WRITE, &mr), 0);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rig_io(rig, &c, WIRE_READ, 0, buf, sizeof(buf), mr, 1, 5000);
	rig_until(rig, rig->bulks > 0);
	mock.freeze = true;
	rig_until(rig, rig_logged(rig, "no bulk data moved for 50 ms"));
	ck_assert_uint_eq(rig->bulks, 0);
	mock.freeze = false;
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	tp_mr_dereg(mr);
	rig->text_len = 0;
	rig->text[0] = '\0';
}
END_TEST

START_TEST(hello_comes_once)
{
	raw_greet(&raw);
	raw_send(&raw, raw_hello(&raw, 1000));
	refused(1, EPROTO, "a second HELLO");
}
END_TEST

START_TEST(magic)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->magic = 0;
	raw_send(&raw, len);
	refused(1, 0, "magic");
}
END_TEST

START_TEST(version)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->version = htole16(WIRE_VERSION_NEWEST + 1);
	raw_send(&raw, len);
	refused(1, EPROTONOSUPPORT, "version: another");
}
END_TEST

START_TEST(unknown_op)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->op = htole16(999);
	raw_send(&raw, len);
	refused(1, ENOSYS, "unknown operation");
}
END_TEST

START_TEST(truncated)
{
	raw_greet(&raw);
	raw_send(&raw, raw_append(&raw, 0, 1) - 8);
	refused(1, EPROTO, "wire_hdr.len");
}
END_TEST

START_TEST(very_short)
{
	raw_greet(&raw);
	raw_append(&raw, 0, 1);
	raw_send(&raw, 3);
	refused(1, 0, "length");
}
END_TEST

START_TEST(a_reply)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->flags = htole16(WIRE_F_REPLY);
	raw_hdr(&raw)->status = htole32(1);
	raw_hdr(&raw)->len = htole32(48);
	raw_send(&raw, 48);
	ck_assert_uint_ge(len, 48);
	refused(1, EPROTO, "a reply instead of a request");
}
END_TEST

START_TEST(other_session)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->session = htole64(rig->session);
	raw_send(&raw, len);
	refused(1, EPROTO, "session is not that of the connection");
}
END_TEST

/* An APPEND of one byte is as long as a SEEK. */
START_TEST(copyset_without_its_feature)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->op = htole16(WIRE_SEEK);
	raw_hdr(&raw)->credits = htole32(WIRE_COPYSET_MIN);
	raw_hdr(&raw)->status = htole32(1);
	raw_send(&raw, len);
	refused(1, EPROTO, "a copyset without WIRE_FT_COPIES");
}
END_TEST

START_TEST(slot_out_of_range)
{
	raw_greet(&raw);
	raw_send(&raw, raw_append(&raw, rig->sattr.slots, 1));
	refused(1, EPROTO, "slot beyond the credits");
}
END_TEST

START_TEST(seq_zero)
{
	raw_greet(&raw);
	raw_send(&raw, raw_append(&raw, 0, 0));
	refused(1, EPROTO, "seq is too old");
}
END_TEST

START_TEST(seq_repeated)
{
	raw_greet(&raw);
	raw_send(&raw, raw_append(&raw, 0, 1));
	raw_until(&raw, raw.received == 2);
	raw_send(&raw, raw_append(&raw, 0, 1));
	refused(2, EPROTO, "seq was answered before");
}
END_TEST

/* Also with the flag: a replay is allowed only on a new connection. */
START_TEST(replayed_on_one_connection)
{
	size_t len;

	raw_greet(&raw);
	raw_send(&raw, raw_append(&raw, 0, 1));
	raw_until(&raw, raw.received == 2);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->flags = htole16(WIRE_F_REPLAY);
	raw_send(&raw, len);
	refused(2, EPROTO, "seq was answered before");
}
END_TEST

START_TEST(seq_goes_back)
{
	raw_greet(&raw);
	raw_send(&raw, raw_append(&raw, 0, 5));
	raw_until(&raw, raw.received == 2);
	raw_send(&raw, raw_append(&raw, 0, 4));
	refused(2, EPROTO, "seq is too old");
}
END_TEST

START_TEST(slot_in_use)
{
	raw_greet(&raw);
	raw_send(&raw, raw_release(&raw, 0, 1));
	raw_until(&raw, rig->nheld == 1);
	raw_send(&raw, raw_append(&raw, 0, 2));
	refused(1, EPROTO, "slot is in use");
	rig_answer(rig);
}
END_TEST

START_TEST(data_of_no_write)
{
	size_t len;

	raw_greet(&raw);
	len = raw_append(&raw, 0, 1);
	raw_hdr(&raw)->flags = htole16(WIRE_F_DATA);
	raw_send(&raw, len);
	refused(1, EPROTO, "wire_hdr.flags: no such data");
}
END_TEST

/* Sends a WRITE of 100 bytes, followed by len bytes. */
static void write_with(size_t len)
{
	struct wire_io io = { .total = htole64(100),
			      .nreg = htole32(1),
			      .nmem = htole32(1) };
	struct wire_region region = { 0, htole64(100) };
	struct wire_mem mem = { .len = htole32(100) };
	struct wire_out out;
	size_t n = raw_append(&raw, 0, 1);
	struct wire_hdr hdr = *raw_hdr(&raw);

	wire_begin(&out, raw.buf->out, sizeof(raw.buf->out));
	wire_put(&out, &io, sizeof(io));
	wire_put(&out, &region, sizeof(region));
	wire_put(&out, &mem, sizeof(mem));
	n = (size_t)wire_end(&out, WIRE_WRITE, WIRE_F_DATA, 0);
	hdr.len = htole32((uint32_t)n);
	hdr.op = htole16(WIRE_WRITE);
	hdr.flags = htole16(WIRE_F_DATA);
	*raw_hdr(&raw) = hdr;
	raw_send(&raw, n + len);
}

/*
 * If the pieces are not contiguous, they get their data and a normal reply.  Nothing is written
 * outside the memory that the client has named.
 */
START_TEST(a_place_in_two_pieces)
{
	static uint8_t land[4096], zero[4096];
	struct wire_io io = { .total = htole64(100),
			      .nreg = htole32(1),
			      .nmem = htole32(2) };
	struct wire_region region = { 0, htole64(100) };
	struct wire_mem mem[2];
	struct wire_out out;
	struct wire_hdr hdr;
	struct tp_mr *mr;

	raw_greet(&raw);
	ck_assert_int_eq(tp_mr_reg(rig->dev, land, sizeof(land),
				   TP_REMOTE_WRITE, &mr),
			 0);
	memset(rig->object, 'x', 100);
	for (int i = 0; i < 2; i++)
		mem[i] = (struct wire_mem){
			.addr = htole64((uintptr_t)land + (i ? 0 : 1000)),
			.len = htole32(50),
			.rkey = htole32(mr->rkey),
		};
	raw_append(&raw, 0, 1);
	hdr = *raw_hdr(&raw);
	wire_begin(&out, raw.buf->out, sizeof(raw.buf->out));
	wire_put(&out, &io, sizeof(io));
	wire_put(&out, &region, sizeof(region));
	wire_put(&out, mem, sizeof(mem));
	hdr.len = htole32((uint32_t)wire_end(&out, WIRE_READ, 0, 0));
	hdr.op = htole16(WIRE_READ);
	hdr.flags = htole16(WIRE_F_PLACE);
	*raw_hdr(&raw) = hdr;
	raw_send(&raw, le32toh(hdr.len));
	raw_until(&raw, raw.received == 2);
	ck_assert_int_eq(raw_status(&raw, 1), 0);
	ck_assert_mem_eq(land, rig->object, 50);
	ck_assert_mem_eq(land + 1000, rig->object, 50);
	ck_assert_mem_eq(land + 50, zero, 950);
	ck_assert_mem_eq(land + 1050, zero, sizeof(land) - 1050);
	tp_mr_dereg(mr);
}
END_TEST

START_TEST(less_data_than_it_says)
{
	raw_greet(&raw);
	write_with(99);
	refused(1, EPROTO, "not the data that it says");
}
END_TEST

START_TEST(more_data_than_it_says)
{
	raw_greet(&raw);
	write_with(101);
	refused(1, EPROTO, "not the data that it says");
}
END_TEST

static const uint32_t no_buffers[] = { 0, FAST_COUNT, UINT32_MAX };

START_TEST(buffer_that_is_not_there)
{
	struct tp_send_wr wr = { .opcode = TP_WRITE_IMM,
				 .imm = no_buffers[_i] };

	raw_greet(&raw);
	ck_assert_int_eq(tp_post_send(raw.ep, &wr), 0);
	refused(1, 0,
		wr.imm & WIRE_IMM_CARRIED ? "answers what was not asked"
					  : "no request in a Fast RDMA buffer");
}
END_TEST

START_TEST(connect_request)
{
	raw.priv.role = htole16(9);
	raw_connect(&raw);
	raw_until(&raw, raw.rejected);
	ck_assert_uint_eq(le16toh(raw.answer.status), EPROTO);
	ck_assert_uint_eq(rig_logged(rig, "wire_connect.role"), 1);
}
END_TEST

START_TEST(connect_version)
{
	raw.priv.version = htole16(77);
	raw_connect(&raw);
	raw_until(&raw, raw.rejected);
	ck_assert_uint_eq(le16toh(raw.answer.status), EPROTONOSUPPORT);
	ck_assert_uint_eq(le16toh(raw.answer.version), WIRE_VERSION);
	ck_assert_uint_eq(
		rig_logged(rig, "protocol version 77, this server 2 to 3"), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_bad");
	TCase *tc = tcase_create("bad");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, hello_comes_first);
	tcase_add_test(tc, hello_has_to_come);
	tcase_add_test(tc, bulk_data_has_to_move);
	tcase_add_test(tc, hello_comes_once);
	tcase_add_test(tc, magic);
	tcase_add_test(tc, version);
	tcase_add_test(tc, unknown_op);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, very_short);
	tcase_add_test(tc, a_reply);
	tcase_add_test(tc, other_session);
	tcase_add_test(tc, copyset_without_its_feature);
	tcase_add_test(tc, slot_out_of_range);
	tcase_add_test(tc, seq_zero);
	tcase_add_test(tc, seq_repeated);
	tcase_add_test(tc, replayed_on_one_connection);
	tcase_add_test(tc, seq_goes_back);
	tcase_add_test(tc, slot_in_use);
	tcase_add_test(tc, data_of_no_write);
	tcase_add_test(tc, a_place_in_two_pieces);
	tcase_add_test(tc, less_data_than_it_says);
	tcase_add_test(tc, more_data_than_it_says);
	tcase_add_loop_test(tc, buffer_that_is_not_there, 0, 3);
	tcase_add_test(tc, connect_request);
	tcase_add_test(tc, connect_version);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
