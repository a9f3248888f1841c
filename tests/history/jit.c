/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit.c - whether some order of calls explains their results, for any model with a small state
 * (Lowe, "Testing for linearizability", 2017).
 *
 * The calls are visited in order of time.  At each moment there is a set of possible
 * configurations: a state, and which of the calls in flight have been executed.  When a call
 * returns, the configurations in which it was not executed are dropped, unless other calls in
 * flight make it possible.  Calls that change nothing are executed as soon as possible, because
 * this excludes no order.  So the set grows with the number of concurrent changes, and not with the
 * history.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/history/history.h"

#define OPEN_MAX_OPS 64
#define CONFIGS_MAX 400000u
#define SLOTS_KEPT 512u

struct config {
	/* the calls in flight, by slot, that have been executed */
	uint64_t mask;
	uint64_t state[STATE_MAX];
};

struct set {
	struct config *item;
	size_t n, room;
	uint32_t *slot; /* index + 1 in item */
	size_t nslots;
};

struct jit {
	const struct jit_op *open[OPEN_MAX_OPS];
	uint64_t used; /* slots */
	jit_apply *apply;
	struct set now, next, seen;
};

static uint64_t hash(const struct config *c)
{
	uint64_t x = c->mask * 0x9e3779b97f4a7c15ull;
	int i;

	for (i = 0; i < STATE_MAX; i++)
		x = (x ^ x >> 29 ^ c->state[i]) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 32;
}

static void set_free(struct set *s)
{
	free(s->item);
	free(s->slot);
	*s = (struct set){ 0 };
}

/* A set that was large once is rarely large, so not all of it is cleared at each call. */
static void set_clear(struct set *s)
{
	if (s->nslots > SLOTS_KEPT)
		set_free(s);
	s->n = 0;
	if (s->slot)
		memset(s->slot, 0, s->nslots * sizeof(s->slot[0]));
}

static uint32_t *set_find(struct set *s, const struct config *c)
{
	size_t i = hash(c) & (s->nslots - 1);

	while (s->slot[i] && memcmp(&s->item[s->slot[i] - 1], c, sizeof(*c)))
		i = (i + 1) & (s->nslots - 1);
	return &s->slot[i];
}

static int set_grow(struct set *s)
{
	size_t room = s->room ? 2 * s->room : 16, i;
	struct config *item = realloc(s->item, room * sizeof(*item));
	uint32_t *slot = calloc(2 * room, sizeof(*slot));

	if (item)
		s->item = item;
	if (!item || !slot) {
		free(slot);
		return -ENOMEM;
	}
	free(s->slot);
	s->slot = slot;
	s->room = room;
	s->nslots = 2 * room;
	for (i = 0; i < s->n; i++)
		*set_find(s, &s->item[i]) = (uint32_t)i + 1;
	return 0;
}

/* Returns 1 if c was added, 0 if it was there, or -errno. */
static int set_add(struct set *s, const struct config *c)
{
	uint32_t *slot;

	if (s->n >= CONFIGS_MAX)
		return -E2BIG;
	if (s->n == s->room && set_grow(s))
		return -ENOMEM;
	slot = set_find(s, c);
	if (*slot)
		return 0;
	s->item[s->n++] = *c;
	*slot = (uint32_t)s->n;
	return 1;
}

/* ---- configurations ---- */

/* Executes calls that change nothing as soon as possible. */
static void settle(const struct jit *j, struct config *c)
{
	struct config try;
	uint64_t left = j->used & ~c->mask;
	int i;

	for (; left; left &= left - 1) {
		i = __builtin_ctzll(left);
		if (!j->open[i]->reader)
			continue;
		try = *c;
		if (j->apply(j->open[i], try.state))
			c->mask |= 1ull << i;
	}
}

/* Adds all configurations that follow from c by one more change. */
static int expand(struct jit *j, const struct config *c)
{
	uint64_t left = j->used & ~c->mask;
	struct config next;
	int i, rc = 0;

	for (; left && rc >= 0; left &= left - 1) {
		i = __builtin_ctzll(left);
		if (j->open[i]->reader)
			continue;
		next = *c;
		if (!j->apply(j->open[i], next.state))
			continue;
		next.mask |= 1ull << i;
		settle(j, &next);
		rc = set_add(&j->seen, &next);
	}
	return rc < 0 ? rc : 0;
}

static int begin(struct jit *j, const struct jit_op *op)
{
	int slot;
	size_t i;

	if (!~j->used)
		return -E2BIG;
	slot = __builtin_ctzll(~j->used);
	j->open[slot] = op;
	j->used |= 1ull << slot;
	if (!op->reader)
		return 0;
	/* the masks change, so the set is built again */
	set_clear(&j->next);
	for (i = 0; i < j->now.n; i++) {
		struct config c = j->now.item[i];

		settle(j, &c);
		if (set_add(&j->next, &c) < 0)
			return -ENOMEM;
	}
	struct set tmp = j->now;

	j->now = j->next;
	j->next = tmp;
	return 0;
}

/* Keeps c if op was executed in it, or need not have been. */
static int keep(struct jit *j, const struct config *c, uint64_t bit, bool must)
{
	struct config done = *c;

	if (must && !(c->mask & bit))
		return 0;
	done.mask &= ~bit;
	return set_add(&j->next, &done);
}

static int slot_of(const struct jit *j, const struct jit_op *op)
{
	int i = 0;

	while (!(j->used & 1ull << i) || j->open[i] != op)
		i++;
	return i;
}

/* Returns 1 if op cannot have been executed. */
static int end(struct jit *j, const struct jit_op *op)
{
	uint64_t bit = 1ull << slot_of(j, op);
	struct config c;
	struct set tmp;
	size_t i;
	int rc = 0;

	set_clear(&j->next);
	set_clear(&j->seen);
	for (i = 0; i < j->now.n && rc >= 0; i++)
		rc = set_add(&j->seen, &j->now.item[i]);
	for (i = 0; i < j->seen.n && rc >= 0; i++) {
		c = j->seen.item[i];
		rc = keep(j, &c, bit, op->must);
		if (rc >= 0 && !(c.mask & bit))
			rc = expand(j, &c);
	}
	if (rc < 0)
		return rc;
	if (!j->next.n)
		return 1;
	j->used &= ~bit;
	tmp = j->now;
	j->now = j->next;
	j->next = tmp;
	return 0;
}

/* ---- the history ---- */

struct event {
	uint64_t at;
	const struct jit_op *op;
	bool end;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->end - y->end; /* of two concurrent calls, neither was first */
}

static struct event *events_of(const struct jit_op *ops, size_t n)
{
	struct event *ev = calloc(2 * n + 1, sizeof(*ev));
	size_t i;

	if (!ev)
		return NULL;
	for (i = 0; i < n; i++) {
		ev[2 * i] = (struct event){ ops[i].call->begin, &ops[i],
					    false };
		ev[2 * i + 1] = (struct event){ ops[i].call->end, &ops[i],
						true };
	}
	qsort(ev, 2 * n, sizeof(*ev), by_time);
	return ev;
}

static bool told(const struct jit_result *res, const struct config *c)
{
	unsigned int i;

	for (i = 0; i < res->nstates; i++)
		if (!memcmp(res->state[i], c->state, sizeof(c->state)))
			return true;
	return false;
}

static void tell(const struct jit *j, struct jit_result *res, size_t at)
{
	size_t i;

	*res = (struct jit_result){ .at = at };
	for (i = 0; i < j->now.n && res->nstates < 8; i++)
		if (!told(res, &j->now.item[i]))
			memcpy(res->state[res->nstates++], j->now.item[i].state,
			       sizeof(res->state[0]));
}

int jit_check(const struct jit_op *ops, size_t n, jit_apply *apply,
	      const uint64_t start[STATE_MAX], struct jit_result *res)
{
	struct jit j = { .apply = apply };
	struct event *ev = events_of(ops, n);
	struct config first = { 0 };
	size_t i;
	int rc;

	memcpy(first.state, start, sizeof(first.state));
	rc = ev ? set_add(&j.now, &first) : -ENOMEM;
	for (i = 0; i < 2 * n && rc >= 0; i++) {
		rc = ev[i].end ? end(&j, ev[i].op) : begin(&j, ev[i].op);
		if (rc) {
			tell(&j, res, (size_t)(ev[i].op - ops));
			break;
		}
	}
	set_free(&j.now);
	set_free(&j.next);
	set_free(&j.seen);
	free(ev);
	return i == 2 * n ? 0 : rc;
}
