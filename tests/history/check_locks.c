/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_locks.c - which client held the lock of a file, and when.
 *
 * A holder has the lock from the return of its lock call until its unlock call begins, or until the
 * servers ended its session.  If another client is given a conflicting lock after it, no later
 * write and no later unlock of the earlier holder may succeed.  The earlier holder's calls in
 * flight were executed before that moment, or never: for the check of the blocks the ends of its
 * writes are cut to that moment.  Calls that it began later must never be seen.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/history/history.h"

struct hold {
	struct call *lock;
	const struct call *unlock; /* NULL: no unlock */
	/* the first conflicting holder after this one */
	const struct hold *next;
};

struct holds {
	struct hold *item;
	size_t n;
};

static int by_owner(const void *a, const void *b)
{
	const struct op *x = ((const struct hold *)a)->lock->op;
	const struct op *y = ((const struct hold *)b)->lock->op;

	if (x->writer != y->writer)
		return x->writer < y->writer ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

static struct hold *find(const struct holds *s, const struct op *of)
{
	struct op op = { .writer = of->writer, .no = of->arg };
	struct call call = { .op = &op };
	struct hold key = { .lock = &call };

	return bsearch(&key, s->item, s->n, sizeof(key), by_owner);
}

static bool conflict(const struct hold *a, const struct hold *b)
{
	return a->lock->op->writer != b->lock->op->writer &&
	       (a->lock->op->arg == LOCK_EXCLUSIVE ||
		b->lock->op->arg == LOCK_EXCLUSIVE);
}

static int gather(struct history *h, unsigned int object, struct holds *s)
{
	struct hold *hold;
	size_t i;

	s->item = calloc(h->n + 1, sizeof(*s->item));
	if (!s->item)
		return -ENOMEM;
	for (i = history_next(h, 0, OBJ_GUARD, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_GUARD, object))
		if (h->call[i].op->kind == OP_LOCK &&
		    h->call[i].outcome == SURE)
			s->item[s->n++].lock = &h->call[i];
	qsort(s->item, s->n, sizeof(*s->item), by_owner);
	for (i = history_next(h, 0, OBJ_GUARD, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_GUARD, object)) {
		hold = h->call[i].op->kind == OP_UNLOCK ? find(s, h->call[i].op)
							: NULL;
		if (hold)
			hold->unlock = &h->call[i];
	}
	return 0;
}

/* Finds the first conflicting holder among those that requested the lock while a had it. */
static void find_next(const struct holds *s, struct hold *a)
{
	const struct hold *b;
	size_t i;

	for (i = 0; i < s->n; i++) {
		b = &s->item[i];
		if (conflict(a, b) && b->lock->begin > a->lock->end &&
		    (!a->next || b->lock->end < a->next->lock->end))
			a->next = b;
	}
}

static void twice(struct history *h, const struct hold *a, const struct hold *b,
		  const struct call *proof)
{
	violation(h, "two holders of one lock");
	explain(h, "held", a->lock);
	explain(h, "given to", b->lock);
	explain(h, "still had", proof);
	if (b->unlock)
		explain(h, "had until", b->unlock);
}

static void check_unlock(struct history *h, const struct hold *a)
{
	if (a->next && a->unlock && a->unlock->outcome == SURE &&
	    a->unlock->begin > a->next->lock->end)
		twice(h, a, a->next, a->unlock);
}

/* Checks a write that relies on a's lock. */
static void check_write(struct history *h, const struct hold *a, struct call *c)
{
	uint64_t given;

	if (!a->next)
		return;
	given = a->next->lock->end;
	if (c->begin > given) {
		if (c->outcome == SURE)
			twice(h, a, a->next, c);
		c->never = true;
	} else if (c->end > given) {
		c->end = given;
	}
}

/* Returns true if both requested the lock at the same time, and both got it. */
static bool both_live(const struct hold *a, const struct hold *b)
{
	uint64_t since = a->lock->end > b->lock->end ? a->lock->end
						     : b->lock->end;

	return a->unlock && b->unlock && !a->unlock->outcome &&
	       !b->unlock->outcome && a->unlock->begin > since &&
	       b->unlock->begin > since;
}

static void check_pairs(struct history *h, const struct holds *s)
{
	const struct hold *a, *b;
	size_t i, j;

	for (i = 0; i < s->n; i++)
		for (j = i + 1; j < s->n; j++) {
			a = &s->item[i];
			b = &s->item[j];
			if (conflict(a, b) && a->lock->begin <= b->lock->end &&
			    b->lock->begin <= a->lock->end && both_live(a, b))
				twice(h, a, b, a->unlock);
		}
}

void check_locks(struct history *h, unsigned int object)
{
	struct holds s = { 0 };
	struct hold *hold;
	size_t i;

	if (gather(h, object, &s)) {
		violation(h, "cannot tell: no memory");
		return;
	}
	for (i = 0; i < s.n; i++) {
		find_next(&s, &s.item[i]);
		check_unlock(h, &s.item[i]);
	}
	check_pairs(h, &s);
	for (i = history_next(h, 0, OBJ_GUARD, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_GUARD, object)) {
		hold = h->call[i].op->kind == OP_WRITE ? find(&s, h->call[i].op)
						       : NULL;
		if (hold)
			check_write(h, hold, &h->call[i]);
	}
	free(s.item);
}
