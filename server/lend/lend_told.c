/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_told.c - what borrowers say that they did, and how much of it is believed. */
#include "clock.h"
#include "lend_int.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t get(const _Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static void sum(const struct lent_marks *marks, struct lend_said *said)
{
	for (unsigned int i = 0; i < 2 * LENT_INSIDE; i++) {
		const struct lent_count *c = &marks->inside[i / 2].count[i % 2];

		said->n[i % 2] += get(&c->n);
		said->bytes[i % 2] += get(&c->bytes);
		said->ns[i % 2] += get(&c->ns);
		said->timed[i % 2] += atomic_load(
			&marks->inside[i / 2].timed[i % 2]);
	}
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

void lend_said_more(struct lend_said *was, const struct lent_marks *marks,
		    uint64_t now, struct lend_told told[2])
{
	struct lend_said said = { .at = now };
	uint64_t passed = more(was->at, now);

	sum(marks, &said);
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
	}
	*was = said;
}

void lend_tell(struct lends *lends, struct lend_session *ses)
{
	struct lend_told told[2];
	struct lent_marks marks;

	if (!lends->attr.told || !lend_marks_read(&ses->files, &marks))
		return;
	lend_said_more(&ses->said, &marks, clock_boot(), told);
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
