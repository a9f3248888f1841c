/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tcp_frame.c - frames are encoded and decoded without a change; wrong ones are rejected. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/run_suite.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/util/crc32c.h"
#include "common/transport/transport.h"

static const struct tcp_frame good[] = {
	{ TCP_OP_CONNECT, 0, TCP_HELLO_LEN, 0, 0 },
	{ TCP_OP_ACCEPT, 0, TCP_HELLO_LEN + TP_PRIVATE_MAX, 0, 0 },
	{ TCP_OP_REJECT, 0, TCP_HELLO_LEN + 1, 0, 0 },
	{ TCP_OP_SEND, 0, 0, 0, 1 },
	{ TCP_OP_SEND, 0, TP_SEND_MAX, 0, 0xfffffffe },
	{ TCP_OP_WRITE, TCP_SEG_MAX, TP_LEN_MAX, 0, 2 },
	{ TCP_OP_WRITE, 0, 0, 0, 2 },
	{ TCP_OP_WRITE_IMM, 1, 77, 0x89abcdef, 3 },
	{ TCP_OP_READ, 3, 0x01020304, 0, 4 },
	{ TCP_OP_READ_DATA, 0, TP_LEN_MAX, 0, 4 },
	{ TCP_OP_FETCH_ADD, 1, 16, 0, 5 },
	{ TCP_OP_CMP_SWAP, 1, 16, 0, 6 },
	{ TCP_OP_ATOMIC_OLD, 0, 8, 0, 6 },
	{ TCP_OP_NAK, 0, 0, TCP_NAK_ACCESS, 7 },
	{ TCP_OP_BYE, 0, 0, 0, 0 },
};

static const struct tcp_frame bad[] = {
	{ 0, 0, 0, 0, 0 },
	{ TCP_OP_END, 0, 0, 0, 0 },
	{ 255, 0, 0, 0, 0 },
	{ TCP_OP_CONNECT, 0, TCP_HELLO_LEN - 1, 0, 0 },
	{ TCP_OP_CONNECT, 0, TCP_HELLO_LEN + TP_PRIVATE_MAX + 1, 0, 0 },
	{ TCP_OP_CONNECT, 1, TCP_HELLO_LEN, 0, 0 },
	{ TCP_OP_ACCEPT, 0, 0, 0, 0 },
	{ TCP_OP_REJECT, 0, 0xffffffff, 0, 0 },
	{ TCP_OP_SEND, 1, 0, 0, 0 },
	{ TCP_OP_SEND, 0, TP_SEND_MAX + 1, 0, 0 },
	{ TCP_OP_WRITE, TCP_SEG_MAX + 1, 0, 0, 0 },
	{ TCP_OP_WRITE, 0xffff, 0, 0, 0 },
	{ TCP_OP_WRITE, 1, TP_LEN_MAX + 1, 0, 0 },
	{ TCP_OP_WRITE_IMM, 2, 8, 0, 0 },
	{ TCP_OP_READ, TCP_SEG_MAX + 1, 8, 0, 0 },
	{ TCP_OP_READ, 1, 0xffffffff, 0, 0 },
	{ TCP_OP_READ_DATA, 1, 8, 0, 0 },
	{ TCP_OP_READ_DATA, 0, TP_LEN_MAX + 1, 0, 0 },
	{ TCP_OP_FETCH_ADD, 0, 16, 0, 0 },
	{ TCP_OP_FETCH_ADD, 2, 16, 0, 0 },
	{ TCP_OP_FETCH_ADD, 1, 15, 0, 0 },
	{ TCP_OP_CMP_SWAP, 1, 17, 0, 0 },
	{ TCP_OP_ATOMIC_OLD, 0, 9, 0, 0 },
	{ TCP_OP_ATOMIC_OLD, 1, 8, 0, 0 },
	{ TCP_OP_NAK, 0, 1, 0, 0 },
	{ TCP_OP_BYE, 1, 0, 0, 0 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Every byte is set, so that no field keeps its old value. */
START_TEST(there_and_back)
{
	const struct tcp_frame *f = &good[_i];
	struct tcp_frame back;
	uint8_t buf[TCP_HEAD_LEN];
	const char *why = NULL;

	memset(buf, 0xee, sizeof(buf));
	tcp_frame_put(buf, f);
	ck_assert_int_eq(tcp_frame_get(buf, &back, &why), 0);
	ck_assert_ptr_null(why);
	ck_assert_int_eq(back.op, f->op);
	ck_assert_uint_eq(back.nseg, f->nseg);
	ck_assert_uint_eq(back.len, f->len);
	ck_assert_uint_eq(back.imm, f->imm);
	ck_assert_uint_eq(back.id, f->id);
}
END_TEST

START_TEST(out_of_bounds)
{
	struct tcp_frame back = { .id = 99 };
	uint8_t buf[TCP_HEAD_LEN];
	const char *why = NULL;

	tcp_frame_put(buf, &bad[_i]);
	ck_assert_int_eq(tcp_frame_get(buf, &back, &why), -EPROTO);
	ck_assert_ptr_nonnull(why);
	ck_assert_uint_eq(back.id, 99);
}
END_TEST

/* Each bit of the head and of the check counts. */
START_TEST(check_of_a_head)
{
	const struct tcp_check check = { .covered = 48, .rest = 0x12345678 };
	uint8_t buf[TCP_HEAD_LEN + TCP_CHECK_LEN];
	struct tcp_check back;

	tcp_frame_put(buf, &good[3]);
	tcp_check_put(buf, &check);
	ck_assert_int_eq(tcp_check_get(buf, &back), 0);
	ck_assert_uint_eq(back.covered, 48);
	ck_assert_uint_eq(back.rest, 0x12345678);
	for (unsigned int bit = 0; bit < 8 * sizeof(buf); bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_eq(tcp_check_get(buf, &back), -EBADMSG);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

START_TEST(check_too_long)
{
	const struct tcp_check check = { .covered = TCP_COVERED_MAX + 1 };
	uint8_t buf[TCP_HEAD_LEN + TCP_CHECK_LEN];
	struct tcp_check back;

	tcp_frame_put(buf, &good[3]);
	tcp_check_put(buf, &check);
	ck_assert_int_eq(tcp_check_get(buf, &back), -EPROTO);
}
END_TEST

/* The value of the standard. */
START_TEST(crc_of_digits)
{
	ck_assert_uint_eq(crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}
END_TEST

START_TEST(reserved_byte)
{
	struct tcp_frame back;
	uint8_t buf[TCP_HEAD_LEN];
	const char *why;

	tcp_frame_put(buf, &good[3]);
	buf[1] = 1;
	ck_assert_int_eq(tcp_frame_get(buf, &back, &why), -EPROTO);
}
END_TEST

/* The layout is that of the header on every machine. */
START_TEST(layout)
{
	const struct tcp_frame f = { TCP_OP_WRITE_IMM, 1, 0x01020304,
				     0x05060708, 0x090a0b0c };
	const struct tcp_seg seg = { 0x1112131415161718, 0x191a1b1c,
				     0x01020304 };
	static const uint8_t head[] = { 6, 0, 1, 0, 4,	3,  2,	1,
					8, 7, 6, 5, 12, 11, 10, 9 };
	static const uint8_t tail[] = { 0x18, 0x17, 0x16, 0x15, 0x14, 0x13,
					0x12, 0x11, 0x1c, 0x1b, 0x1a, 0x19,
					4,    3,    2,	  1 };
	uint8_t buf[TCP_HEAD_LEN];

	tcp_frame_put(buf, &f);
	ck_assert_mem_eq(buf, head, sizeof(head));
	tcp_seg_put(buf, &seg);
	ck_assert_mem_eq(buf, tail, sizeof(tail));
}
END_TEST

START_TEST(needs)
{
	const struct tcp_frame write = { TCP_OP_WRITE, 3, 1000, 0, 1 };
	const struct tcp_frame read = { TCP_OP_READ, 3, 1000, 0, 1 };
	const struct tcp_frame swap = { TCP_OP_CMP_SWAP, 1, 16, 0, 1 };

	ck_assert_uint_eq(tcp_frame_need(&write), 16 + 48);
	ck_assert_uint_eq(tcp_frame_need(&read), 16 + 48);
	ck_assert_uint_eq(tcp_frame_need(&swap), 16 + 16 + 16);
}
END_TEST

START_TEST(segments)
{
	struct tcp_seg seg = { UINT64_MAX - 7, 0xdeadbeef, 8 }, back;
	uint8_t buf[TCP_SEG_LEN];

	tcp_seg_put(buf, &seg);
	ck_assert_int_eq(tcp_seg_get(buf, &back), 0);
	ck_assert_uint_eq(back.addr, seg.addr);
	ck_assert_uint_eq(back.rkey, seg.rkey);
	ck_assert_uint_eq(back.len, seg.len);
	seg.len = 0;
	tcp_seg_put(buf, &seg);
	ck_assert_int_eq(tcp_seg_get(buf, &back), -EPROTO);
}
END_TEST

START_TEST(hello)
{
	uint8_t priv[TP_PRIVATE_MAX], buf[TCP_HELLO_LEN + TP_PRIVATE_MAX];
	struct tcp_hello h;
	const char *why;
	unsigned int len;

	memset(priv, 0xa5, sizeof(priv));
	for (len = 0; len <= TP_PRIVATE_MAX; len++) {
		ck_assert_uint_eq(tcp_hello_put(buf, priv, len),
				  TCP_HELLO_LEN + len);
		ck_assert_int_eq(
			tcp_hello_get(buf, TCP_HELLO_LEN + len, &h, &why), 0);
		ck_assert_uint_eq(h.len, len);
		ck_assert_mem_eq(h.priv, priv, len);
	}
}
END_TEST

/*
 * A flipped bit is detected, or makes the frame invalid; a flip of TCP_CHECKED changes nothing
 * else.
 */
START_TEST(changed_hello)
{
	uint8_t buf[TCP_HEAD_LEN + TCP_HELLO_LEN + TP_PRIVATE_MAX], priv[40];
	struct tcp_frame f = { .op = TCP_OP_CONNECT, .imm = TCP_CHECKS }, got;
	const char *why;
	size_t len;

	memset(priv, 0x5a, sizeof(priv));
	f.len = tcp_hello_put(buf + TCP_HEAD_LEN, priv, sizeof(priv));
	len = TCP_HEAD_LEN + f.len;
	tcp_hello_seal(&f, buf + TCP_HEAD_LEN);
	tcp_frame_put(buf, &f);
	ck_assert_int_eq(tcp_frame_get(buf, &got, &why), 0);
	ck_assert(tcp_hello_is_intact(&got, buf + TCP_HEAD_LEN));
	for (size_t bit = 0; bit < 8 * len; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!tcp_frame_get(buf, &got, &why) && got.len <= f.len &&
		    got.imm & TCP_CHECKED)
			ck_assert(
				!tcp_hello_is_intact(&got, buf + TCP_HEAD_LEN));
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	f.imm = f.id = 0; /* from an earlier release */
	ck_assert(tcp_hello_is_intact(&f, buf + TCP_HEAD_LEN));
}
END_TEST

/* Each byte of magic, version and padding is checked. */
START_TEST(strange_hello)
{
	uint8_t buf[TCP_HELLO_LEN];
	struct tcp_hello h;
	const char *why = NULL;

	tcp_hello_put(buf, NULL, 0);
	buf[_i] ^= 0x10;
	/* of the same transport in another version: bytes 4 and 5 */
	ck_assert_int_eq(tcp_hello_get(buf, sizeof(buf), &h, &why),
			 _i == 4 || _i == 5 ? -EPROTO : -EPROTOTYPE);
	ck_assert_ptr_nonnull(why);
}
END_TEST

START_TEST(nak)
{
	ck_assert_int_eq(tcp_nak_status(tcp_nak_code(-EACCES)), -EACCES);
	ck_assert_int_eq(tcp_nak_status(tcp_nak_code(-EPROTO)), -EPROTO);
	ck_assert_int_eq(tcp_nak_status(tcp_nak_code(-EMSGSIZE)), -EMSGSIZE);
	ck_assert_int_eq(tcp_nak_status(tcp_nak_code(-ENOMEM)), -ECONNRESET);
	ck_assert_int_eq(tcp_nak_status(0), -EPROTO);
	ck_assert_int_eq(tcp_nak_status(12345), -EPROTO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_frame");
	TCase *tc = tcase_create("frame");

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, there_and_back, 0, COUNT(good));
	tcase_add_loop_test(tc, out_of_bounds, 0, COUNT(bad));
	tcase_add_test(tc, reserved_byte);
	tcase_add_test(tc, check_of_a_head);
	tcase_add_test(tc, check_too_long);
	tcase_add_test(tc, crc_of_digits);
	tcase_add_test(tc, layout);
	tcase_add_test(tc, needs);
	tcase_add_test(tc, segments);
	tcase_add_test(tc, hello);
	tcase_add_test(tc, changed_hello);
	tcase_add_loop_test(tc, strange_hello, 0, TCP_HELLO_LEN);
	tcase_add_test(tc, nak);
	return run_suite(s);
}
