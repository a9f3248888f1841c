/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_design.c - rounds of shifted iods, improved by exchanges.
 *
 * The iods are put in an order in which domains alternate. In each round, a member is `shift`
 * places after the primary, with the shift of the lowest cost. Then members are exchanged and
 * replaced while this lowers the cost. If each iod is a domain, there is next to nothing to improve.
 *
 * The cost is the sum of the squares of all counts, so it is lowest if equal things are counted
 * equally often.
 */
#include "mgr/copyset/copyset_design.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define COST_DOMAIN (INT64_C(1) << 40) /* of two members in one domain */
#define COST_COPYSET                                                           \
	256 /* an even number of copysets matters more than even pairs */
#define PASSES_MAX 16 /* the designs of up to 64 iods need at most 8 */

typedef uint16_t members[COPYSET_COPIES_MAX];

struct plan {
	uint32_t niods;
	unsigned int copies, rounds;
	const uint32_t *domain;
	members *copyset; /* niods in each round */
	uint16_t *order; /* the iods, so that domains alternate */
	uint16_t *place; /* of each iod in order */
	uint32_t *size; /* iods in the domain of each iod */
	/* what is counted */
	uint32_t *count; /* copysets of each iod */
	uint32_t least; /* of count, before a pass */
	uint16_t *shared; /* copysets that two iods share: niods x niods */
	uint16_t *second; /* copysets with primary x and second member y: niods x niods */
	/* the averages of shared and second over iods of different domains, rounded up */
	uint32_t even_shared, even_second;
};

/* ---- the order of iods ---- */

struct ranked {
	uint32_t index, size; /* of the iod in its domain; of the domain */
	uint16_t iod;
};

/* The iods of a domain are at 1/2, 3/2, 5/2 ... of 1/size of the order. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	uint64_t at_x = (uint64_t)(2 * x->index + 1) * y->size;
	uint64_t at_y = (uint64_t)(2 * y->index + 1) * x->size;

	if (at_x != at_y)
		return at_x < at_y ? -1 : 1;
	return x->iod < y->iod ? -1 : x->iod > y->iod;
}

static int make_order(struct plan *p)
{
	struct ranked *r = calloc(p->niods, sizeof(*r));

	if (!r)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->niods; i++) {
		r[i].iod = (uint16_t)i;
		for (uint32_t k = 0; k < p->niods; k++) {
			r[i].size += p->domain[k] == p->domain[i];
			r[i].index += k < i && p->domain[k] == p->domain[i];
		}
		p->size[i] = r[i].size;
	}
	qsort(r, p->niods, sizeof(*r), compare_ranked);
	for (uint32_t i = 0; i < p->niods; i++) {
		p->order[i] = r[i].iod;
		p->place[r[i].iod] = (uint16_t)i;
	}
	free(r);
	return 0;
}

/* The iod that is `shift` places after this one. */
static uint16_t iod_after(const struct plan *p, uint32_t iod, uint32_t shift)
{
	return p->order[(p->place[iod] + shift) % p->niods];
}

/* ---- counts and costs ---- */

static size_t pair_index(const struct plan *p, uint32_t a, uint32_t b)
{
	return (size_t)a * p->niods + b;
}

/* The cost of iod as member k of a copyset of n members, in which it is not counted. */
static int64_t cost_of(const struct plan *p, const uint16_t *m, unsigned int n,
		       unsigned int k, uint16_t iod)
{
	int64_t cost = COST_COPYSET * (2 * (int64_t)p->count[iod] + 1);

	for (unsigned int i = 0; i < n; i++) {
		if (i == k)
			continue;
		if (p->domain[m[i]] == p->domain[iod])
			cost += COST_DOMAIN;
		cost += 2 * p->shared[pair_index(p, m[i], iod)] + 1;
	}
	if (k == 1)
		cost += 2 * p->second[pair_index(p, m[0], iod)] + 1;
	return cost;
}

/* Counts member k of a copyset of n members; by is 1, or -1 to undo this. */
static void count_member(struct plan *p, const uint16_t *m, unsigned int n,
			 unsigned int k, int by)
{
	p->count[m[k]] += (uint32_t)by;
	for (unsigned int i = 0; i < n; i++) {
		if (i == k)
			continue;
		p->shared[pair_index(p, m[i], m[k])] += (uint16_t)by;
		p->shared[pair_index(p, m[k], m[i])] += (uint16_t)by;
	}
	if (k == 1)
		p->second[pair_index(p, m[0], m[1])] += (uint16_t)by;
}

static void set_averages(struct plan *p)
{
	uint32_t pairs = 0, second = p->niods * p->rounds;

	for (uint32_t i = 0; i < p->niods; i++)
		pairs += p->niods - p->size[i];
	if (!pairs)
		return;
	p->even_second = (second + pairs - 1) / pairs;
	p->even_shared = (second * p->copies * (p->copies - 1) + pairs - 1) /
			 pairs;
}

/* ---- rounds ---- */

static int64_t cost_of_shift(const struct plan *p, members *round,
			     unsigned int k, uint32_t shift)
{
	int64_t cost = 0;

	for (uint32_t i = 0; i < p->niods; i++)
		cost += cost_of(p, round[i], k, k, iod_after(p, i, shift));
	return cost;
}

static uint32_t best_shift(const struct plan *p, members *round, unsigned int k)
{
	int64_t cost, least = INT64_MAX;
	uint32_t best = 0;

	for (uint32_t shift = 1; shift < p->niods; shift++) {
		cost = cost_of_shift(p, round, k, shift);
		if (cost < least) {
			least = cost;
			best = shift;
		}
	}
	return best;
}

static void add_members(struct plan *p, members *round, unsigned int k)
{
	uint32_t shift = k ? best_shift(p, round, k) : 0;

	for (uint32_t i = 0; i < p->niods; i++) {
		round[i][k] = iod_after(p, i, shift);
		count_member(p, round[i], k + 1, k, 1);
	}
}

static void make_rounds(struct plan *p)
{
	for (unsigned int r = 0; r < p->rounds; r++)
		for (unsigned int k = 0; k < p->copies; k++)
			add_members(p, &p->copyset[(size_t)r * p->niods], k);
}

/* ---- improvements ---- */

/* Returns false if the iods of the copyset might go better with another member k. */
static bool is_even(const struct plan *p, const uint16_t *m, unsigned int k)
{
	for (unsigned int i = 0; i < p->copies; i++)
		if (i != k &&
		    (p->domain[m[i]] == p->domain[m[k]] ||
		     p->shared[pair_index(p, m[i], m[k])] > p->even_shared))
			return false;
	return k != 1 || p->second[pair_index(p, m[0], m[1])] <= p->even_second;
}

/* Exchanges member k of two copysets if this lowers the cost. */
static bool exchange_members(struct plan *p, uint16_t *a, uint16_t *b,
			     unsigned int k)
{
	uint16_t x = a[k], y = b[k];
	unsigned int n = p->copies;
	int64_t as_is, exchanged;

	count_member(p, a, n, k, -1);
	count_member(p, b, n, k, -1);
	as_is = cost_of(p, a, n, k, x) + cost_of(p, b, n, k, y);
	exchanged = cost_of(p, a, n, k, y) + cost_of(p, b, n, k, x);
	if (exchanged < as_is) {
		a[k] = y;
		b[k] = x;
	}
	count_member(p, a, n, k, 1);
	count_member(p, b, n, k, 1);
	return exchanged < as_is;
}

/* Replaces member k by another iod if this lowers the cost. */
static bool replace_member(struct plan *p, uint16_t *m, unsigned int k)
{
	uint16_t old = m[k], iod;
	int64_t cost, least;

	count_member(p, m, p->copies, k, -1);
	least = cost_of(p, m, p->copies, k, old);
	for (uint32_t shift = 1; shift < p->niods; shift++) {
		iod = iod_after(p, old, shift);
		cost = cost_of(p, m, p->copies, k, iod);
		if (cost < least) {
			least = cost;
			m[k] = iod;
		}
	}
	count_member(p, m, p->copies, k, 1);
	return m[k] != old;
}

static bool improve_member(struct plan *p, members *round, uint32_t i,
			   unsigned int k)
{
	bool better = false;

	for (uint32_t j = 0; j < p->niods && !is_even(p, round[i], k); j++)
		if (j != i)
			better |= exchange_members(p, round[i], round[j], k);
	if (!is_even(p, round[i], k) || p->count[round[i][k]] > p->least + 1)
		better |= replace_member(p, round[i], k);
	return better;
}

static uint32_t least_count(const struct plan *p)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < p->niods; i++)
		least = p->count[i] < least ? p->count[i] : least;
	return least;
}

static bool improve_rounds(struct plan *p)
{
	bool better = false;

	p->least = least_count(p);
	for (unsigned int r = 0; r < p->rounds; r++)
		for (uint32_t i = 0; i < p->niods; i++)
			for (unsigned int k = 1; k < p->copies; k++)
				better |= improve_member(
					p, &p->copyset[(size_t)r * p->niods], i,
					k);
	return better;
}

/* ---- the result ---- */

static bool has_domain_twice(const struct plan *p, const uint16_t *m)
{
	for (unsigned int k = 1; k < p->copies; k++)
		for (unsigned int i = 0; i < k; i++)
			if (p->domain[m[i]] == p->domain[m[k]])
				return true;
	return false;
}

static bool is_good(const struct plan *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->niods; i++)
		most = p->count[i] > most ? p->count[i] : most;
	for (uint32_t i = 0; i < p->niods * p->rounds; i++)
		if (has_domain_twice(p, p->copyset[i]))
			return false;
	return p->rounds && 4 * most <= 5 * least_count(p);
}

static uint32_t largest_domain(const struct plan *p)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < p->niods; i++)
		if (p->size[i] > p->size[best])
			best = i;
	return p->domain[best];
}

static int plan_alloc(struct plan *p)
{
	size_t n = p->niods;

	/* at least one copyset, so that NULL is an error */
	p->copyset = calloc(n * p->rounds + 1, sizeof(*p->copyset));
	p->order = calloc(n, sizeof(*p->order));
	p->place = calloc(n, sizeof(*p->place));
	p->size = calloc(n, sizeof(*p->size));
	p->count = calloc(n, sizeof(*p->count));
	p->shared = calloc(n * n, sizeof(*p->shared));
	p->second = calloc(n * n, sizeof(*p->second));
	return p->copyset && p->order && p->place && p->size && p->count &&
			       p->shared && p->second
		       ? 0
		       : -ENOMEM;
}

/* Keeps the copysets. */
static void plan_free(struct plan *p)
{
	free(p->order);
	free(p->place);
	free(p->size);
	free(p->count);
	free(p->shared);
	free(p->second);
}

static int plan_make(struct plan *p)
{
	int rc = plan_alloc(p);

	if (!rc)
		rc = make_order(p);
	if (rc)
		return rc;
	set_averages(p);
	make_rounds(p);
	for (unsigned int i = 0; i < PASSES_MAX && improve_rounds(p); i++)
		;
	return is_good(p) ? 0 : -ENOTSUP;
}

int copyset_design_make(uint32_t niods, unsigned int copies,
			const uint32_t *domain, struct copyset_design *out,
			uint32_t *crowded)
{
	struct plan p = {
		.niods = niods,
		.copies = copies,
		.rounds = niods > COPYSET_ROUNDS_MAX ? COPYSET_ROUNDS_MAX
						     : niods - 1,
		.domain = domain,
	};
	int rc = plan_make(&p);

	if (rc == -ENOTSUP)
		*crowded = largest_domain(&p);
	plan_free(&p);
	if (rc) {
		free(p.copyset);
		return rc;
	}
	out->n = niods * p.rounds;
	out->member = p.copyset;
	return 0;
}

void copyset_design_free(struct copyset_design *design)
{
	free(design->member);
	*design = (struct copyset_design){ 0 };
}
