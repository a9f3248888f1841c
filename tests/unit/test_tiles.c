/* SPDX-License-Identifier: BSD-2-Clause */
/* test_tiles.c - flattened types, compared with a model that lists every byte. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "romio-adio/tiles.h"

#define SEED 20031006u
#define BLOCKS 8
#define BYTES 400 /* bytes of the stream that the model lists */

struct sample {
	int64_t at[BLOCKS], len[BLOCKS];
	struct tile tile;
	int64_t base;
	int64_t place[BYTES]; /* the place of each byte of the stream */
};

static void list_bytes(struct sample *s)
{
	size_t n = 0, b;
	int64_t t, i;

	for (t = 0; n < BYTES; t++)
		for (b = 0; b < s->tile.n; b++)
			for (i = 0; i < s->len[b] && n < BYTES; i++)
				s->place[n++] = s->base + t * s->tile.extent +
						s->at[b] + i;
}

/* Ascending blocks; some are adjacent, some are empty, and the first may begin late. */
static void random_sample(struct rnd *r, struct sample *s)
{
	int64_t at = (int64_t)rnd_in(r, 0, 5);
	size_t b, last;

	s->tile = (struct tile){ s->at, s->len, rnd_in(r, 1, BLOCKS), 0, 0 };
	last = s->tile.n - 1;
	for (b = 0; b < s->tile.n; b++) {
		s->at[b] = at;
		s->len[b] = (int64_t)rnd_in(r, b == last, 6);
		at += s->len[b] + (int64_t)rnd_in(r, 0, 4);
		s->tile.size += s->len[b];
	}
	s->tile.extent = at + (int64_t)rnd_in(r, 0, 3);
	s->base = (int64_t)rnd_in(r, 0, 1000);
	list_bytes(s);
}

/* Checks that the cursor walks the model from byte n on. */
static void ck_walk(const struct sample *s, struct cursor c, size_t n)
{
	while (n < BYTES) {
		int64_t run = cursor_run(&c), i;

		ck_assert_int_gt(run, 0);
		for (i = 0; i < run && n < BYTES; i++, n++)
			ck_assert_int_eq(cursor_place(&c) + i, s->place[n]);
		cursor_advance(&c, run);
	}
}

START_TEST(a_position_is_its_byte)
{
	struct rnd r = { SEED };
	struct sample s;
	struct cursor c;
	int turn;

	for (turn = 0; turn < 2000; turn++) {
		size_t pos = rnd_in(&r, 0, BYTES - 1);

		random_sample(&r, &s);
		cursor_at(&c, &s.tile, s.base, (int64_t)pos);
		ck_walk(&s, c, pos);
	}
}
END_TEST

START_TEST(a_place_is_the_next_byte)
{
	struct rnd r = { SEED + 1 };
	struct sample s;
	struct cursor c;
	int turn;

	for (turn = 0; turn < 2000; turn++) {
		int64_t where;
		size_t n = 0;

		random_sample(&r, &s);
		where = (int64_t)rnd_in(&r, 0, (uint64_t)s.place[BYTES - 1]);
		while (s.place[n] < where)
			n++;
		cursor_seek(&c, &s.tile, s.base, where);
		ck_walk(&s, c, n);
	}
}
END_TEST

/* A far place is found by division; otherwise this would take for ever. */
START_TEST(a_far_place_is_near)
{
	int64_t at[] = { 0, 10 }, len[] = { 4, 4 };
	struct tile tile = { at, len, 2, 20, 8 };
	struct cursor c;

	cursor_seek(&c, &tile, 0, 20 * (INT64_C(1) << 50) + 12);
	ck_assert_int_eq(cursor_place(&c), 20 * (INT64_C(1) << 50) + 12);
	ck_assert_int_eq(cursor_run(&c), 2);
}
END_TEST

/* Checks that both lists, expanded, pair the streams byte by byte. */
static void ck_pairs(const struct sample *mem, const struct sample *file,
		     const struct pieces *m, const struct pieces *f,
		     int64_t from, int64_t n)
{
	size_t i, at = (size_t)from;
	int64_t k;

	for (i = 0; i < m->n; i++)
		for (k = 0; k < m->len[i]; k++)
			ck_assert_int_eq(m->at[i] + k, mem->place[at++]);
	ck_assert_int_eq((int64_t)at, from + n);
	for (i = 0, at = (size_t)from; i < f->n; i++)
		for (k = 0; k < f->len[i]; k++)
			ck_assert_int_eq(f->at[i] + k, file->place[at++]);
	ck_assert_int_eq((int64_t)at, from + n);
}

START_TEST(lists_pair_the_streams)
{
	struct rnd r = { SEED + 2 };
	struct sample mem, file;
	int turn;

	for (turn = 0; turn < 2000; turn++) {
		int64_t buf[4][16], done = 0, n;
		struct cursor a, b;

		random_sample(&r, &mem);
		random_sample(&r, &file);
		cursor_at(&a, &mem.tile, mem.base, 0);
		cursor_at(&b, &file.tile, file.base, 0);
		for (; done < BYTES; done += n) {
			struct pieces m = { buf[0], buf[1], 0, 16 };
			struct pieces f = { buf[2], buf[3], 0,
					    rnd_in(&r, 1, 16) };

			n = pieces_fill(&m, &a, &f, &b, BYTES - done);
			ck_assert_int_gt(n, 0);
			ck_pairs(&mem, &file, &m, &f, done, n);
		}
	}
}
END_TEST

START_TEST(neighbours_become_one)
{
	int64_t at[2], len[2];
	struct pieces p = { at, len, 0, 2 };

	ck_assert(pieces_add(&p, 10, 5));
	ck_assert(pieces_add(&p, 15, 5));
	ck_assert(pieces_add(&p, 30, 1));
	ck_assert(pieces_add(&p, 31, 1));
	ck_assert(!pieces_add(&p, 40, 1));
	ck_assert_uint_eq(p.n, 2);
	ck_assert_int_eq(len[0], 10);
	ck_assert_int_eq(len[1], 2);
}
END_TEST

static Suite *tiles_suite(void)
{
	Suite *suite = suite_create("tiles");
	TCase *tc = tcase_create("tiles");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_position_is_its_byte);
	tcase_add_test(tc, a_place_is_the_next_byte);
	tcase_add_test(tc, a_far_place_is_near);
	tcase_add_test(tc, lists_pair_the_streams);
	tcase_add_test(tc, neighbours_become_one);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return run_suite(tiles_suite());
}
