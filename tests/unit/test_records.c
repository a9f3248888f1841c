/* SPDX-License-Identifier: BSD-2-Clause */
/* test_records.c - records in a stream of bytes that arrives in any pieces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/trust/gcm.h"
#include "common/transport/tcp/seal/records.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define TOTAL (1u << 20)

static const uint8_t key[2][MAC_KEY_LEN] = { { 1 }, { 2 } };
static struct sealer *from, *to;
static struct records_out out;
static struct records_in in;
static struct records_window w;
static struct rnd seed;

static void setup(void)
{
	rnd_init(&seed, 17);
	ck_assert_int_eq(gcm_sealer(SEAL_ENCRYPT, key[0], key[1], NULL, &from),
			 0);
	ck_assert_int_eq(gcm_sealer(SEAL_ENCRYPT, key[1], key[0], NULL, &to),
			 0);
	ck_assert_int_eq(records_out_open(&out), 0);
	ck_assert_int_eq(records_in_open(&in, &w), 0);
}

static void teardown(void)
{
	records_in_free(&in);
	records_out_free(&out);
	sealer_free(from);
	sealer_free(to);
}

static uint8_t byte_at(uint32_t at)
{
	return (uint8_t)(at * 2654435761u >> 13);
}

/* Puts bytes [at, at + len) of the pattern as a record. */
static void put(uint32_t at, uint32_t len)
{
	static uint8_t data[RECORD_DATA_MAX];
	const struct iovec half[2] = { { data, len / 3 },
				       { data + len / 3, len - len / 3 } };

	ck_assert_ptr_nonnull(records_out_data(&out));
	for (uint32_t i = 0; i < len; i++)
		data[i] = byte_at(at + i);
	ck_assert_int_eq(records_out_close(&out, from, half, 2, len), 0);
	memset(data, 0xee, len); /* the memory belongs to the sender again */
}

/* Moves at most n bytes from the output to the input. */
static void move(uint32_t n)
{
	uint32_t room;
	uint8_t *p = records_in_room(&in, &w, &room);

	ck_assert_uint_gt(room, 0);
	if (n > room)
		n = room;
	if (n > records_out_left(&out))
		n = records_out_left(&out);
	memcpy(p, out.buf + out.sent, n);
	records_out_took(&out, n);
	records_in_add(&in, n);
}

/* Uses opened bytes, except for at most `keep` of them. */
static void eat(uint32_t *at, uint32_t keep)
{
	while (w.end - w.at > keep)
		ck_assert_uint_eq(in.buf[w.at++], byte_at((*at)++));
}

START_TEST(test_stream)
{
	uint32_t made = 0, used = 0;
	enum tp_flaw flaw;

	while (used < TOTAL) {
		if (made < TOTAL && records_out_data(&out)) {
			uint32_t len = 1 + (uint32_t)(rnd_next(&seed) %
						      (made % 5 ? 300 : 32768));

			put(made, len);
			made += len;
		}
		move(1 + (uint32_t)(rnd_next(&seed) % 50000));
		while (records_in_next(&in, to, &w, &flaw) == 1)
			eat(&used, (uint32_t)(rnd_next(&seed) % RECORDS_KEPT));
		if (made >= TOTAL)
			eat(&used, 0);
	}
}
END_TEST

/* Byte by byte: nothing is available before the last byte of the tag. */
START_TEST(test_bytes)
{
	enum tp_flaw flaw;
	uint32_t used = 0, left;

	put(0, 100);
	for (left = records_out_left(&out); left > 1; left--) {
		move(1);
		ck_assert_int_eq(records_in_next(&in, to, &w, &flaw), 0);
		ck_assert(records_in_begun(&in));
		ck_assert(!records_in_ready(&in));
		ck_assert_uint_eq(w.at, w.end);
	}
	move(1);
	ck_assert(records_in_ready(&in));
	ck_assert_int_eq(records_in_next(&in, to, &w, &flaw), 1);
	ck_assert(!records_in_begun(&in));
	eat(&used, 0);
	ck_assert_uint_eq(used, 100);
}
END_TEST

static const struct {
	uint32_t at; /* offset in the record */
	enum tp_flaw flaw;
	bool early; /* detected in the head */
} flips[] = {
	{ 0, TP_FLAW_FALSE, false }, /* 100 becomes 102, with a wrong tag */
	{ 2, TP_FLAW_LENGTH, true },   { 3, TP_FLAW_LENGTH, true },
	{ 4, TP_FLAW_ORDER, true },    { 7, TP_FLAW_ORDER, true },
	{ 8, TP_FLAW_FALSE, false },   { 107, TP_FLAW_FALSE, false },
	{ 108, TP_FLAW_FALSE, false }, { 123, TP_FLAW_FALSE, false },
};

START_TEST(test_flip)
{
	enum tp_flaw flaw = TP_FLAWS;

	put(0, 100);
	put(100, 100);
	out.buf[flips[_i].at] ^= 2;
	move(flips[_i].early ? RECORD_HEAD_LEN : RECORD_MAX);
	ck_assert_int_eq(records_in_next(&in, to, &w, &flaw), -EBADMSG);
	ck_assert_int_eq(flaw, flips[_i].flaw);
	ck_assert_uint_eq(w.at, w.end);
}
END_TEST

START_TEST(test_empty)
{
	enum tp_flaw flaw = TP_FLAWS;
	uint32_t room;

	memset(records_in_room(&in, &w, &room), 0, 64);
	records_in_add(&in, 64);
	ck_assert_int_eq(records_in_next(&in, to, &w, &flaw), -EBADMSG);
	ck_assert_int_eq(flaw, TP_FLAW_LENGTH);
}
END_TEST

/* The same record twice, the second time with the right number. */
START_TEST(test_renumbered)
{
	uint8_t copy[124];
	enum tp_flaw flaw = TP_FLAWS;
	uint32_t room, used = 0;

	put(0, 100);
	memcpy(copy, out.buf, sizeof(copy));
	move(sizeof(copy));
	ck_assert_int_eq(records_in_next(&in, to, &w, &flaw), 1);
	eat(&used, 0);
	copy[4] = 1;
	memcpy(records_in_room(&in, &w, &room), copy, sizeof(copy));
	records_in_add(&in, sizeof(copy));
	ck_assert_int_eq(records_in_next(&in, to, &w, &flaw), -EBADMSG);
	ck_assert_int_eq(flaw, TP_FLAW_FALSE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_stream);
	tcase_add_test(tc, test_bytes);
	tcase_add_loop_test(tc, test_flip, 0, sizeof(flips) / sizeof(flips[0]));
	tcase_add_test(tc, test_empty);
	tcase_add_test(tc, test_renumbered);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
