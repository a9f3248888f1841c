/* SPDX-License-Identifier: BSD-2-Clause */
/* loan_usage.c - the reads and writes that a client reports for its direct access. */
#include "server/lend/loan_usage.h"

static uint64_t smaller_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t load_relaxed(const _Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static void sum_page(const struct loan_page_file *page,
		     struct loan_counters *seen)
{
	const struct loan_page_marks *marks = &page->marks;

	for (unsigned int i = 0; i < 2 * LOAN_PAGE_INSIDE; i++) {
		const struct loan_page_count *c =
			&marks->inside[i / 2].count[i % 2];

		seen->n[i % 2] += load_relaxed(&c->n);
		seen->bytes[i % 2] += load_relaxed(&c->bytes);
		seen->ns[i % 2] += load_relaxed(&c->ns);
		seen->timed[i % 2] += atomic_load(
			&marks->inside[i / 2].timed[i % 2]);
	}
	for (unsigned int i = 0; i < 2 * HISTOGRAM_BUCKETS; i++)
		seen->bucket[i % 2][i / 2] = load_relaxed(
			&page->bucket[i % 2][i / 2]);
}

/* A counter that decreases adds nothing. */
static uint64_t increase_from(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

void loan_counters_start(struct loan_counters *seen, uint64_t now)
{
	*seen = (struct loan_counters){ .at = now };
}

static uint64_t clamp_mean(const struct loan_counters *before,
			   const struct loan_counters *seen, unsigned int i,
			   uint64_t passed)
{
	uint64_t timed = increase_from(before->timed[i], seen->timed[i]);

	return timed ? smaller_of(increase_from(before->ns[i], seen->ns[i]) /
					  timed,
				  passed)
		     : before->mean[i];
}

/* At most LOAN_PAGE_INSIDE threads of a session are inside an access at the same time. */
static uint64_t estimate_time(uint64_t n, uint64_t mean, uint64_t passed)
{
	uint64_t ns, most = passed * LOAN_PAGE_INSIDE;

	return __builtin_mul_overflow(n, mean, &ns) ? most
						    : smaller_of(ns, most);
}

/* ---- the histogram: the accesses that were timed represent all accesses ---- */

#define SAMPLE_BITS 24u /* per bucket; the sum of all buckets has 31 */

static unsigned int bits_beyond(const uint64_t sample[HISTOGRAM_BUCKETS])
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		any |= sample[i];
	return any >> SAMPLE_BITS
		       ? 64 - SAMPLE_BITS - (unsigned int)__builtin_clzll(any)
		       : 0;
}

/* Distributes n in the proportions of sample, without a remainder.  Empty sample: nothing. */
static void spread_by_sample(uint64_t n,
			     const uint64_t sample[HISTOGRAM_BUCKETS],
			     uint64_t bucket[HISTOGRAM_BUCKETS])
{
	unsigned int shift = bits_beyond(sample);
	uint64_t all = 0, some = 0, done = 0, upto;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		all += sample[i] >> shift;
	for (unsigned int i = 0; all && i < HISTOGRAM_BUCKETS; i++) {
		some += sample[i] >> shift;
		upto = n / all * some + n % all * some / all;
		bucket[i] = upto - done;
		done = upto;
	}
}

/*
 * Distributes the new accesses over the latency buckets in the proportions of a sample.  The
 * sample is the timed ones among the new accesses; if none of them was timed, all timed
 * accesses so far.
 */
static void spread_increase(const struct loan_counters *before,
			    const struct loan_counters *seen, unsigned int i,
			    struct loan_usage *usage)
{
	uint64_t sample[HISTOGRAM_BUCKETS], any = 0;

	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++) {
		sample[b] = increase_from(before->bucket[i][b],
					  seen->bucket[i][b]);
		any |= sample[b];
	}
	spread_by_sample(usage->n, any ? sample : seen->bucket[i],
			 usage->bucket);
}

void loan_counters_update(struct loan_counters *before,
			  const struct loan_page_file *page, uint64_t now,
			  struct loan_usage usage[2])
{
	struct loan_counters seen = { .at = now };
	uint64_t passed = increase_from(before->at, now);

	sum_page(page, &seen);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t n = smaller_of(increase_from(before->n[i], seen.n[i]),
					passed);
		uint64_t bytes = smaller_of(increase_from(before->bytes[i],
							  seen.bytes[i]),
					    passed * LOAN_BYTES_PER_NS);

		seen.mean[i] = clamp_mean(before, &seen, i, passed);
		usage[i] = (struct loan_usage){
			.n = n,
			.bytes = smaller_of(bytes, n * LOAN_PAGE_MOST),
			.ns = estimate_time(n, seen.mean[i], passed),
		};
		spread_increase(before, &seen, i, &usage[i]);
	}
	*before = seen;
}
