/* SPDX-License-Identifier: BSD-2-Clause */
/* test_copyset_design.c - what copyset_design.h promises, for many numbers of iods and domains. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "mgr/copyset/copyset_design.h"
#include "tests/run_suite.h"
#include "tests/unit/rnd.h"

#define IODS 64u
#define SEED 20130626u

/* A map of domains, and what is counted in its design. */
struct map {
	uint32_t niods, domain[IODS];
	unsigned int copies;
	uint32_t largest; /* iods in the largest domain */
	uint32_t size[IODS]; /* of the domain of each iod */
	uint32_t primary[IODS], copysets[IODS], shared[IODS][IODS];
};

static void measure_domains(struct map *m)
{
	m->largest = 0;
	for (uint32_t i = 0; i < m->niods; i++) {
		m->size[i] = 0;
		for (uint32_t k = 0; k < m->niods; k++)
			m->size[i] += m->domain[k] == m->domain[i];
		m->largest = m->size[i] > m->largest ? m->size[i] : m->largest;
	}
}

static void count_copyset(struct map *m, uint32_t index, const uint16_t *member)
{
	ck_assert_uint_eq(member[0], index % m->niods);
	m->primary[member[0]]++;
	for (unsigned int i = 0; i < m->copies; i++) {
		ck_assert_uint_lt(member[i], m->niods);
		m->copysets[member[i]]++;
		for (unsigned int k = 0; k < i; k++) {
			ck_assert_uint_ne(m->domain[member[i]],
					  m->domain[member[k]]);
			m->shared[member[i]][member[k]]++;
			m->shared[member[k]][member[i]]++;
		}
	}
}

static void count_design(struct map *m, const struct copyset_design *design)
{
	uint32_t rounds = design->n / m->niods;

	ck_assert_uint_eq(design->n, rounds * m->niods);
	ck_assert_uint_ge(rounds, 1);
	ck_assert_uint_le(rounds, COPYSET_ROUNDS_MAX);
	memset(m->primary, 0, sizeof(m->primary));
	memset(m->copysets, 0, sizeof(m->copysets));
	memset(m->shared, 0, sizeof(m->shared));
	for (uint32_t i = 0; i < design->n; i++)
		count_copyset(m, i, design->member[i]);
	for (uint32_t i = 0; i < m->niods; i++)
		ck_assert_uint_eq(m->primary[i], rounds);
}

static void check_pairs(const struct map *m, uint32_t a)
{
	uint32_t others = m->niods - m->size[a];
	uint32_t sum = m->copysets[a] * (m->copies - 1); /* with others */

	for (uint32_t b = 0; b < m->niods; b++)
		if (m->shared[a][b] > 2)
			ck_assert_uint_lt(m->shared[a][b] * others,
					  2 * sum + others);
}

static void check_even(const struct map *m)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < m->niods; i++) {
		least = m->copysets[i] < least ? m->copysets[i] : least;
		most = m->copysets[i] > most ? m->copysets[i] : most;
		check_pairs(m, i);
	}
	ck_assert_uint_le(4 * most, 5 * least);
}

/* Returns false if the map was refused. */
static bool check_map(struct map *m)
{
	struct copyset_design design;
	uint32_t crowded = UINT32_MAX, size = 0;
	int rc = copyset_design_make(m->niods, m->copies, m->domain, &design,
				     &crowded);

	measure_domains(m);
	if (rc) {
		ck_assert_int_eq(rc, -ENOTSUP);
		for (uint32_t i = 0; i < m->niods; i++)
			size += m->domain[i] == crowded;
		ck_assert_uint_eq(size, m->largest);
		ck_assert_uint_gt(m->largest * m->copies, m->niods);
		return false;
	}
	count_design(m, &design);
	check_even(m);
	copyset_design_free(&design);
	return true;
}

static void equal_domains(struct map *m, uint32_t niods, uint32_t domains)
{
	m->niods = niods;
	for (uint32_t i = 0; i < niods; i++)
		m->domain[i] = i % domains;
}

START_TEST(each_number_of_iods)
{
	struct map m = { .copies = (unsigned int)_i };

	for (uint32_t n = m.copies; n <= IODS; n++) {
		equal_domains(&m, n, n);
		ck_assert(check_map(&m));
	}
}
END_TEST

/* All iods have equally many copysets. */
START_TEST(domains_of_equal_size)
{
	struct map m = { .copies = (unsigned int)_i };

	for (uint32_t n = m.copies; n <= IODS; n++)
		for (uint32_t domains = m.copies; domains <= 9; domains++) {
			if (n % domains)
				continue;
			equal_domains(&m, n, domains);
			ck_assert(check_map(&m));
			for (uint32_t i = 1; i < n; i++)
				ck_assert_uint_eq(m.copysets[i], m.copysets[0]);
		}
}
END_TEST

/* A few large domains, many small ones, and what is between. */
START_TEST(random_maps)
{
	struct map m = { .copies = (unsigned int)_i };
	unsigned int good = 0;
	struct rnd rnd;

	rnd_init(&rnd, SEED + m.copies);
	for (unsigned int i = 0; i < 250; i++) {
		uint32_t domains;

		m.niods = (uint32_t)rnd_in(&rnd, 1, i % 10 ? 24 : IODS);
		domains = (uint32_t)rnd_in(&rnd, 1, m.niods);
		for (uint32_t k = 0; k < m.niods; k++) {
			uint64_t a = rnd_in(&rnd, 0, domains - 1);
			uint64_t b = rnd_in(&rnd, 0, domains - 1);

			m.domain[k] = (uint32_t)(i & 1 && b < a ? b : a);
		}
		good += check_map(&m);
	}
	ck_assert_uint_gt(good, 100);
}
END_TEST

static const struct {
	uint32_t niods, domain[11], crowded;
	unsigned int copies;
	bool possible;
} limits[] = {
	{ 1, { 0 }, 0, 2, false },
	{ 2, { 0, 1 }, 0, 3, false }, /* fewer iods than copies */
	{ 4, { 0, 1, 1, 1 }, 1, 2, false },
	{ 5, { 3, 0, 3, 0, 3 }, 3, 2, false }, /* 50 % more copysets */
	{ 6, { 0, 0, 0, 3, 3, 3 }, 0, 2, true },
	{ 6, { 0, 0, 0, 3, 3, 3 }, 0, 3, false }, /* fewer domains */
	{ 6, { 0, 0, 0, 3, 3, 5 }, 0, 2, true }, /* exactly one half */
	{ 11, { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 }, 0, 2, true }, /* 22 % */
};

START_TEST(refuses_crowded_domains)
{
	struct copyset_design design;
	uint32_t crowded = UINT32_MAX;
	int rc = copyset_design_make(limits[_i].niods, limits[_i].copies,
				     limits[_i].domain, &design, &crowded);

	if (limits[_i].possible) {
		ck_assert_int_eq(rc, 0);
		copyset_design_free(&design);
		return;
	}
	ck_assert_int_eq(rc, -ENOTSUP);
	ck_assert_uint_eq(crowded, limits[_i].crowded);
}
END_TEST

/* The example in copyset_design.h. */
START_TEST(example)
{
	static const uint32_t domain[] = { 0, 0, 2, 2, 4, 4 };
	static const uint16_t second[] = { 2, 3, 4, 5, 1, 0, 4, 5, 1, 0, 3, 2 };
	struct copyset_design design;
	uint32_t crowded;

	ck_assert_int_eq(copyset_design_make(6, 2, domain, &design, &crowded),
			 0);
	ck_assert_uint_eq(design.n, 30);
	for (unsigned int i = 0; i < 12; i++)
		ck_assert_uint_eq(design.member[i][1], second[i]);
	copyset_design_free(&design);
	ck_assert_ptr_null(design.member);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("copyset_design");
	TCase *tc = tcase_create("copyset_design");

	tcase_add_loop_test(tc, each_number_of_iods, 2, 4);
	tcase_add_loop_test(tc, domains_of_equal_size, 2, 4);
	tcase_add_loop_test(tc, random_maps, 2, 4);
	tcase_add_loop_test(tc, refuses_crowded_domains, 0,
			    (int)(sizeof(limits) / sizeof(limits[0])));
	tcase_add_test(tc, example);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
