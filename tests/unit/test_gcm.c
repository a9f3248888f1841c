/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_gcm.c - AES-256-GCM: a known vector, both modes, changes of keys, and forged records; with
 * libcrypto, with libsodium, and with both in turns.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/trust/gcm.h"
#include "common/trust/gcm_engine.h"
#include "tests/run_suite.h"

#define LEN 1000u
#define BIG 131072u

enum { CRYPTO, SODIUM, TURNS, ENGINES, MOCK };

static const enum seal_mode modes[] = { SEAL_AUTH, SEAL_ENCRYPT };
#define LOOPS (2 * ENGINES)
static unsigned int engine, turn;
static const uint8_t ab[MAC_KEY_LEN] = { 1 }, ba[MAC_KEY_LEN] = { 2 };
static struct sealer *a, *b;

struct record {
	uint8_t head[8];
	uint8_t data[LEN];
	uint8_t tag[SEALER_TAG_LEN];
};

/* An engine that only counts how often it gets a key. */
static unsigned int keyed;
static int mock_fails;

static int mock_open(void *room, const uint8_t key[MAC_KEY_LEN], bool out,
		     void **way)
{
	*way = room;
	keyed++;
	return 0;
}

static void mock_close(void *way)
{
}

static int mock_seal(void *way, const struct gcm_record *r)
{
	return mock_fails;
}

static const struct gcm_engine mock = { mock_open, mock_close, mock_seal,
					mock_seal };

/* Replaces gcm_here.c. */
const struct gcm_engine *gcm_engine(uint64_t bytes)
{
	const struct gcm_engine *sodium = gcm_sodium();
	bool other = engine == SODIUM || (engine == TURNS && turn++ % 3);

	(void)bytes;
	if (engine == MOCK)
		return &mock;
	return other && sodium ? sodium : &gcm_crypto;
}

/* i is the index of the loop test. */
static void open_both(int i, const struct gcm_limits *limits)
{
	enum seal_mode mode = modes[i % 2];

	engine = (unsigned int)i / 2;
	ck_assert_int_eq(gcm_sealer(mode, ab, ba, limits, &a), 0);
	ck_assert_int_eq(gcm_sealer(mode, ba, ab, limits, &b), 0);
}

static void close_both(void)
{
	sealer_free(a);
	sealer_free(b);
}

static void fill(struct record *r, unsigned int seed)
{
	memset(r, 0, sizeof(*r));
	memset(r->head, (int)seed + 7, sizeof(r->head));
	memset(r->data, (int)seed, LEN);
}

static void seal(struct sealer *s, struct record *r, unsigned int seed)
{
	const struct iovec in_place = { r->data, LEN };

	fill(r, seed);
	ck_assert_int_eq(s->seal(s, r->head, sizeof(r->head), &in_place, 1,
				 r->data, r->tag),
			 0);
}

static int open_it(struct sealer *s, struct record *r)
{
	return s->open(s, r->head, sizeof(r->head), r->data, LEN, r->tag);
}

static void goes(struct sealer *from, struct sealer *to, unsigned int seed)
{
	struct record r, want;

	seal(from, &r, seed);
	fill(&want, seed);
	ck_assert_int_eq(open_it(to, &r), 0);
	ck_assert_mem_eq(r.data, want.data, LEN);
}

START_TEST(test_goes)
{
	open_both(_i, NULL);
	for (unsigned int i = 0; i < 100; i++) {
		goes(a, b, i);
		goes(b, a, i + 1);
	}
	close_both();
}
END_TEST

/* Data in pieces, one of them empty, gives the same record as data in one piece. */
START_TEST(test_pieces)
{
	static const size_t cuts[][2] = { { 0, 0 },   { 1, 1 },	    { 16, 17 },
					  { 1, 992 }, { 512, 768 }, { 999, 1 },
					  { 0, LEN }, { LEN, 0 } };

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		struct record whole, r, plain;
		size_t one = cuts[i][0], two = cuts[i][1];
		struct iovec from[3];

		two = two > LEN - one ? LEN - one : two;
		open_both(_i, NULL);
		seal(a, &whole, 5);
		close_both();
		open_both(_i, NULL);
		fill(&plain, 5);
		fill(&r, 5);
		from[0] = (struct iovec){ plain.data, one };
		from[1] = (struct iovec){ r.data + one, two };
		from[2] = (struct iovec){ plain.data + one + two,
					  LEN - one - two };
		ck_assert_int_eq(a->seal(a, r.head, sizeof(r.head), from, 3,
					 r.data, r.tag),
				 0);
		ck_assert_mem_eq(&r, &whole, sizeof(r));
		ck_assert_int_eq(open_it(b, &r), 0);
		ck_assert_mem_eq(r.data, plain.data, LEN);
		close_both();
	}
}
END_TEST

static atomic_bool enough;

static void *scribble(void *arg)
{
	for (int k = 0; !atomic_load(&enough); k++)
		memset(arg, k, BIG);
	return NULL;
}

/* The program changes its memory during the send: the record is still valid. */
START_TEST(test_changes)
{
	static uint8_t from[BIG], to[BIG];
	const struct iovec piece = { from, BIG };
	uint8_t tag[SEALER_TAG_LEN];
	pthread_t thread;

	open_both(_i, NULL);
	atomic_store(&enough, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, scribble, from), 0);
	for (int k = 0; k < 200; k++) {
		ck_assert_int_eq(a->seal(a, NULL, 0, &piece, 1, to, tag), 0);
		ck_assert_int_eq(b->open(b, NULL, 0, to, BIG, tag), 0);
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	close_both();
}
END_TEST

/* The same data under another number, or in the other direction, gives another record. */
START_TEST(test_hides)
{
	struct record plain, one, two, back;

	open_both(_i, NULL);
	fill(&plain, 3);
	seal(a, &one, 3);
	seal(a, &two, 3);
	seal(b, &back, 3);
	ck_assert_int_eq(!memcmp(one.data, plain.data, LEN),
			 modes[_i % 2] == SEAL_AUTH);
	ck_assert_mem_ne(one.tag, two.tag, SEALER_TAG_LEN);
	ck_assert_mem_ne(one.tag, back.tag, SEALER_TAG_LEN);
	close_both();
}
END_TEST

/* Every byte of a record is authenticated; no record is opened after a forged one. */
START_TEST(test_lies)
{
	size_t step = 37;

	for (size_t at = 0; at < sizeof(struct record); at += step) {
		struct record r, next;

		open_both(_i, NULL);
		seal(a, &r, 5);
		seal(a, &next, 6);
		((uint8_t *)&r)[at] ^= 1;
		ck_assert_int_eq(open_it(b, &r), -EBADMSG);
		ck_assert_int_eq(open_it(b, &next), -ECANCELED);
		close_both();
	}
}
END_TEST

START_TEST(test_order)
{
	struct record r[3];
	int i;

	for (i = 0; i < 3; i++) { /* repeated, skipped, reordered */
		open_both(_i, NULL);
		seal(a, &r[0], 5);
		seal(a, &r[1], 6);
		seal(b, &r[2], 7);
		if (i == 0) {
			struct record again = r[0];

			ck_assert_int_eq(open_it(b, &r[0]), 0);
			ck_assert_int_eq(open_it(b, &again), -EBADMSG);
		} else {
			ck_assert_int_eq(open_it(b, &r[i]), -EBADMSG);
		}
		close_both();
	}
}
END_TEST

/* Both ends change keys at the same record, by bytes and by records. */
START_TEST(test_new_keys)
{
	static const struct gcm_limits limits[] = { { .bytes = 3 * LEN },
						    { .records = 2 },
						    { 1, 1 } };

	for (unsigned int k = 0; k < 3; k++) {
		open_both(_i, &limits[k]);
		for (unsigned int i = 0; i < 50; i++) {
			goes(a, b, i);
			if (i % 3)
				goes(b, a, i);
		}
		close_both();
	}
}
END_TEST

/* An end that did not change its key cannot open a record that was sealed after the change. */
START_TEST(test_key_is_new)
{
	static const struct gcm_limits often[] = { { .records = 1 },
						   { .bytes = LEN } };
	struct sealer *slow;
	struct record r;

	open_both(_i % LOOPS, &often[_i / LOOPS]);
	ck_assert_int_eq(gcm_sealer(modes[_i % 2], ba, ab, NULL, &slow), 0);
	goes(a, slow, 1);
	seal(a, &r, 2);
	ck_assert_int_eq(open_it(slow, &r), -EBADMSG);
	sealer_free(slow);
	close_both();
}
END_TEST

/* Test case 14 of McGrew and Viega, "The Galois/Counter Mode of Operation": zeros. */
START_TEST(test_known)
{
	static const uint8_t zeros[MAC_KEY_LEN];
	static const uint8_t data[16] = { 0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60,
					  0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3,
					  0xba, 0xf3, 0x9d, 0x18 };
	static const uint8_t tag[16] = { 0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99,
					 0x6b, 0xf0, 0x26, 0x5b, 0x98, 0xb5,
					 0xd4, 0x8a, 0xb9, 0x19 };
	uint8_t got[16] = { 0 }, code[SEALER_TAG_LEN];
	const struct iovec from = { (void *)(uintptr_t)zeros, sizeof(got) };

	engine = (unsigned int)_i;
	ck_assert_int_eq(gcm_sealer(SEAL_ENCRYPT, zeros, zeros, NULL, &a), 0);
	ck_assert_int_eq(a->seal(a, NULL, 0, &from, 1, got, code), 0);
	ck_assert_mem_eq(got, data, sizeof(data));
	ck_assert_mem_eq(code, tag, sizeof(tag));
	sealer_free(a);
}
END_TEST

static int seal_so_much(uint64_t len)
{
	struct iovec piece = { NULL, len };
	uint8_t tag[SEALER_TAG_LEN];

	return a->seal(a, NULL, 0, &piece, 1, NULL, tag);
}

/* Without given limits there are default ones. */
START_TEST(test_limit)
{
	engine = MOCK;
	ck_assert_int_eq(gcm_sealer(SEAL_AUTH, ab, ba, NULL, &a), 0);
	keyed = 0;
	ck_assert_int_eq(seal_so_much(GCM_BYTES - 1), 0);
	ck_assert_uint_eq(keyed, 0);
	ck_assert_int_eq(seal_so_much(1), 0);
	ck_assert_uint_eq(keyed, 1);
	sealer_free(a);
}
END_TEST

/* A number is used for one record only: no record is sealed after a failed one. */
START_TEST(test_seal_fails)
{
	engine = MOCK;
	ck_assert_int_eq(gcm_sealer(SEAL_AUTH, ab, ba, NULL, &a), 0);
	mock_fails = -ENOMEM;
	ck_assert_int_eq(seal_so_much(1), -ENOMEM);
	mock_fails = 0;
	ck_assert_int_eq(seal_so_much(1), -ECANCELED);
	sealer_free(a);
}
END_TEST

START_TEST(test_modes)
{
	ck_assert_int_eq(gcm_sealer(SEAL_NONE, ab, ba, NULL, &a), -EINVAL);
	open_both(0, NULL);
	sealer_free(b);
	ck_assert_int_eq(gcm_sealer(SEAL_ENCRYPT, ba, ab, NULL, &b), 0);
	{
		struct record r;

		seal(a, &r, 1);
		ck_assert_int_eq(open_it(b, &r), -EBADMSG);
	}
	close_both();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gcm");
	TCase *tc = tcase_create("gcm");

	tcase_add_loop_test(tc, test_goes, 0, LOOPS);
	tcase_add_loop_test(tc, test_pieces, 0, LOOPS);
	tcase_add_loop_test(tc, test_changes, 0, LOOPS);
	tcase_add_loop_test(tc, test_hides, 0, LOOPS);
	tcase_add_loop_test(tc, test_lies, 0, LOOPS);
	tcase_add_loop_test(tc, test_order, 0, LOOPS);
	tcase_add_loop_test(tc, test_new_keys, 0, LOOPS);
	tcase_add_loop_test(tc, test_key_is_new, 0, 2 * LOOPS);
	tcase_add_loop_test(tc, test_known, 0, ENGINES);
	tcase_add_test(tc, test_limit);
	tcase_add_test(tc, test_seal_fails);
	tcase_add_test(tc, test_modes);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
