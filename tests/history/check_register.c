/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_register.c - blocks as registers, each value written once.
 *
 * Each value has a zone of time.  Take the end of the call on it that ended first, and the begin of
 * the call that began last.  If they are in this order, the value was surely there in between
 * (fixed).  Otherwise it was there at some moment of that time (loose).  An order exists if and
 * only if no two fixed zones overlap and no loose one lies within a fixed one (Gibbons and Korach,
 * 1997).  Values that were perhaps written and never read need not have been there.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/history/history.h"

struct zone {
	const struct access *write; /* NULL: the initial value */
	/* the first by its end, the last by its begin */
	const struct access *first, *last;
	uint64_t low, high;
	bool fixed;
};

int accesses_add(struct accesses *a, const struct access *item)
{
	struct access *more;

	if (a->n == a->room) {
		a->room = a->room ? 2 * a->room : 4096;
		more = realloc(a->item, a->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		a->item = more;
	}
	a->item[a->n++] = *item;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->val != y->val)
		return x->val < y->val ? -1 : 1;
	if (x->write != y->write)
		return x->write ? -1 : 1;
	return x->call->begin < y->call->begin ? -1 : 1;
}

static int by_low(const void *a, const void *b)
{
	const struct zone *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high < y->high ? -1 : x->high > y->high;
}

static void bad_value(struct history *h, const struct access *a,
		      const char *why)
{
	violation(h, "block %u holds %s: %s", a->block, value_text(a->val),
		  why);
	explain(h, "read", a->call);
}

/* Returns false if a read returned a value that no order explains. */
static bool sane(struct history *h, const struct access *a, size_t n)
{
	size_t i;

	if (a->val == VALUE_TORN) {
		bad_value(h, a, "torn, or of another place");
		return false;
	}
	if (!a->write && a->val != VALUE_ZERO) {
		bad_value(h, a, "nobody wrote that here");
		return false;
	}
	if (n > 1 && a->call->never) {
		bad_value(h, &a[1], "its writer had lost the lock before");
		explain(h, "written", a->call);
		return false;
	}
	for (i = 1; i < n; i++)
		if (a->write && a[i].call->end < a->call->begin) {
			bad_value(h, &a[i], "it was not written yet");
			explain(h, "written", a->call);
			return false;
		}
	return true;
}

/*
 * Computes the zone of one value with n accesses.  Returns false if the value need not have been
 * there.
 */
static bool zone_of(const struct access *a, size_t n, struct zone *z)
{
	uint64_t end, begin;
	size_t i;

	if (n == 1 && a->write && a->call->outcome == MAYBE)
		return false;
	*z = (struct zone){ .write = a->write ? a : NULL };
	end = a->write ? UINT64_MAX : 0; /* zeros were there at the beginning */
	begin = 0;
	for (i = 0; i < n; i++) {
		if (a[i].call->end < end) {
			end = a[i].call->end;
			z->first = &a[i];
		}
		if (a[i].call->begin >= begin) {
			begin = a[i].call->begin;
			z->last = &a[i];
		}
	}
	z->fixed = end < begin;
	z->low = z->fixed ? end : begin;
	z->high = z->fixed ? begin : end;
	return true;
}

static void say(struct history *h, const struct zone *z)
{
	if (z->write)
		explain(h, "written", z->write->call);
	if (z->first && z->first != z->write)
		explain(h, "there", z->first->call);
	if (z->last && z->last != z->write && z->last != z->first)
		explain(h, "there", z->last->call);
}

static void conflict(struct history *h, const struct zone *a,
		     const struct zone *b)
{
	const struct access *any = a->last ? a->last : b->last;

	violation(h, "block %u: two values at one time, or an older one again",
		  any->block);
	remark(h, "%s:", value_text(a->last ? a->last->val : VALUE_ZERO));
	say(h, a);
	remark(h, "and meanwhile %s:",
	       value_text(b->last ? b->last->val : VALUE_ZERO));
	say(h, b);
}

/* Sorted by low.  Fixed zones must not overlap, and no loose one may lie within a fixed one. */
static void check_zones(struct history *h, struct zone *z, size_t n)
{
	const struct zone *fixed = NULL;
	size_t i;

	qsort(z, n, sizeof(*z), by_low);
	for (i = 0; i < n; i++) {
		if (fixed && z[i].low < fixed->high &&
		    (z[i].fixed || z[i].high < fixed->high)) {
			conflict(h, fixed, &z[i]);
			return;
		}
		if (z[i].fixed && (!fixed || z[i].high > fixed->high))
			fixed = &z[i];
	}
}

static void check_block(struct history *h, const struct access *a, size_t n,
			struct zone *zones)
{
	size_t i, j, nzones = 0;

	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && a[j].val == a[i].val;)
			j++;
		if (!sane(h, &a[i], j - i))
			return;
		nzones += zone_of(&a[i], j - i, &zones[nzones]);
	}
	check_zones(h, zones, nzones);
}

void check_registers(struct history *h, struct accesses *a)
{
	struct zone *zones = malloc((a->n + 1) * sizeof(*zones));
	size_t i, j;

	if (!zones) {
		violation(h, "cannot tell: no memory");
		return;
	}
	if (a->n)
		qsort(a->item, a->n, sizeof(a->item[0]), by_value);
	for (i = 0; i < a->n; i = j) {
		for (j = i + 1;
		     j < a->n && a->item[j].block == a->item[i].block;)
			j++;
		check_block(h, &a->item[i], j - i, zones);
	}
	free(zones);
}

/* ---- files that are only overwritten ---- */

static int add_call(const struct history *h, struct accesses *all,
		    const struct call *c)
{
	const struct op *op = c->op;
	struct access a = { .call = c };
	int rc = 0;

	if (op->kind != OP_WRITE && (op->kind != OP_READ || c->outcome))
		return 0;
	for (uint32_t k = 0; !rc && k < op->count; k++) {
		a.write = op->kind == OP_WRITE;
		if (!a.write && half_done(h, c, k))
			continue;
		a.block = op->block + k;
		a.val = a.write ? value_of(op->writer, op->no, k) : op->val[k];
		rc = accesses_add(all, &a);
	}
	return rc;
}

void check_plain(struct history *h, enum object_kind kind, unsigned int object)
{
	struct accesses all = { 0 };
	size_t i;
	int rc = 0;

	for (i = history_next(h, 0, kind, object); i < h->n && !rc;
	     i = history_next(h, i + 1, kind, object))
		rc = add_call(h, &all, &h->call[i]);
	if (rc)
		violation(h, "cannot tell: no memory");
	else
		check_registers(h, &all);
	free(all.item);
}
