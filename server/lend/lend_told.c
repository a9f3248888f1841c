/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_told.c - what borrowers say that they did, and how much of it is believed. */
#include "common/util/clock.h"
#include "server/lend/lend_int.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t get(const _Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static void sum(const struct lent_page *page, struct lend_said *said)
{
	const struct lent_marks *marks = &page->marks;

	for (unsigned int i = 0; i < 2 * LENT_INSIDE; i++) {
		const struct lent_count *c = &marks->inside[i / 2].count[i % 2];

		said->n[i % 2] += get(&c->n);
		said->bytes[i % 2] += get(&c->bytes);
		said->ns[i % 2] += get(&c->ns);
		said->timed[i % 2] += atomic_load(
			&marks->inside[i / 2].timed[i % 2]);
	}
	for (unsigned int i = 0; i < 2 * HISTOGRAM_BUCKETS; i++)
		said->bucket[i % 2][i / 2] = get(&page->bucket[i % 2][i / 2]);
}

/* What goes back says nothing. */
static uint64_t more(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

void lend_said_begin(struct lend_said *said, uint64_t now)
{
	*said = (struct lend_said){ .at = now };
}

static uint64_t mean_of(const struct lend_said *was,
			const struct lend_said *said, unsigned int i,
			uint64_t passed)
{
	uint64_t timed = more(was->timed[i], said->timed[i]);

	return timed ? least(more(was->ns[i], said->ns[i]) / timed, passed)
		     : was->mean[i];
}

/* All threads of a session together have LENT_INSIDE times the time that passed. */
static uint64_t time_of(uint64_t n, uint64_t mean, uint64_t passed)
{
	uint64_t ns, most = passed * LENT_INSIDE;

	return __builtin_mul_overflow(n, mean, &ns) ? most : least(ns, most);
}

/* ---- the histogram: those that were timed stand for all ---- */

#define SAMPLE_BITS 24u /* of each bucket: 31 of them all */

static unsigned int bits_beyond(const uint64_t sample[HISTOGRAM_BUCKETS])
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		any |= sample[i];
	return any >> SAMPLE_BITS
		       ? 64 - SAMPLE_BITS - (unsigned int)__builtin_clzll(any)
		       : 0;
}

/* n in the proportions of sample, to the last one.  Nothing was sampled: none. */
static void spread(uint64_t n, const uint64_t sample[HISTOGRAM_BUCKETS],
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

/* Where none of these was timed, the earlier ones stand for them as well. */
static void spread_new(const struct lend_said *was,
		       const struct lend_said *said, unsigned int i,
		       struct lend_told *told)
{
	uint64_t sample[HISTOGRAM_BUCKETS], any = 0;

	for (unsigned int b = 0; b < HISTOGRAM_BUCKETS; b++) {
		sample[b] = more(was->bucket[i][b], said->bucket[i][b]);
		any |= sample[b];
	}
	spread(told->n, any ? sample : said->bucket[i], told->bucket);
}

void lend_said_more(struct lend_said *was, const struct lent_page *page,
		    uint64_t now, struct lend_told told[2])
{
	struct lend_said said = { .at = now };
	uint64_t passed = more(was->at, now);

	sum(page, &said);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t n = least(more(was->n[i], said.n[i]), passed);
		uint64_t bytes = least(more(was->bytes[i], said.bytes[i]),
				       passed * LEND_TELL_NS);

		said.mean[i] = mean_of(was, &said, i, passed);
		told[i] = (struct lend_told){
			.n = n,
			.bytes = least(bytes, n * LENT_MOST),
			.ns = time_of(n, said.mean[i], passed),
		};
		spread_new(was, &said, i, &told[i]);
	}
	*was = said;
}

void lend_tell(struct lends *lends, struct lend_session *ses)
{
	struct lend_told told[2];
	struct lent_page page;

	if (!lends->attr.told || !lend_page_read(&ses->files, &page))
		return;
	lend_said_more(&ses->said, &page, clock_boot(), told);
	if (told[0].n || told[1].n)
		lends->attr.told(lends->attr.arg, &ses->who, told);
}

void lends_tell(struct lends *lends)
{
	struct lend_session *ses, *next;
	uint64_t now = clock_boot();

	pthread_mutex_lock(&lends->lock);
	if (!lends->told ||
	    now - lends->told >= LEND_TELL_MS * CLOCK_NS_PER_MS) {
		lends->told = now;
		HASH_ITER(hh, lends->sessions, ses, next)
			lend_tell(lends, ses);
	}
	pthread_mutex_unlock(&lends->lock);
}
