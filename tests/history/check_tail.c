/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_tail.c - appends.  The place of an append is known once a client has read a block of it.
 * Each append is contiguous, in one place, and nowhere else.  No append overlaps another one.
 * Appends of which one was acknowledged before the other began are in this order.  At the end all
 * acknowledged ones are there.  With their places known, the blocks are registers like all others.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/history/history.h"

struct piece {
	const struct call *call;
	const struct call *seen; /* a read that has seen it */
	uint32_t at;
	uint32_t last; /* the last of its blocks that was seen */
};

struct tail {
	struct piece *piece; /* by writer and number */
	size_t n;
};

static int by_number(const void *a, const void *b)
{
	const struct op *x = ((const struct piece *)a)->call->op;
	const struct op *y = ((const struct piece *)b)->call->op;

	if (x->writer != y->writer)
		return x->writer < y->writer ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

static int by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static struct piece *find(const struct tail *t, uint64_t val)
{
	const struct op op = { .writer = value_writer(val),
			       .no = value_no(val) };
	const struct call call = { .op = &op };
	const struct piece key = { .call = &call };

	return bsearch(&key, t->piece, t->n, sizeof(key), by_number);
}

static void place(struct history *h, const struct tail *t,
		  const struct call *read, uint32_t k)
{
	uint64_t val = read->op->val[k];
	uint32_t at = read->op->block + k - value_part(val);
	struct piece *p = find(t, val);

	if (!p) {
		violation(h, "block %u holds %s: nobody appended that",
			  read->op->block + k, value_text(val));
		explain(h, "read", read);
		return;
	}
	if (p->seen && p->at != at) {
		violation(h, "an append in two places: blocks %u and %u", p->at,
			  at);
		explain(h, "appended", p->call);
		explain(h, "there", p->seen);
		explain(h, "and there", read);
		return;
	}
	p->seen = read;
	p->at = at;
	if (value_part(val) > p->last)
		p->last = value_part(val);
}

static int gather(struct history *h, unsigned int object, struct tail *t)
{
	const struct op *op;
	size_t i;

	t->piece = calloc(h->n + 1, sizeof(*t->piece));
	if (!t->piece)
		return -ENOMEM;
	for (i = history_next(h, 0, OBJ_TAIL, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_TAIL, object))
		if (h->call[i].op->kind == OP_APPEND)
			t->piece[t->n++].call = &h->call[i];
	qsort(t->piece, t->n, sizeof(*t->piece), by_number);
	for (i = history_next(h, 0, OBJ_TAIL, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_TAIL, object)) {
		op = h->call[i].op;
		if (op->kind != OP_READ || h->call[i].outcome)
			continue;
		for (uint32_t k = 0; k < op->count; k++)
			if (op->val[k] != VALUE_ZERO &&
			    !half_done(h, &h->call[i], k))
				place(h, t, &h->call[i], k);
	}
	return 0;
}

/* Drops appends whose place is unknown. */
static void drop_unseen(struct history *h, struct tail *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		if (t->piece[i].seen) {
			t->piece[n++] = t->piece[i];
		} else if (h->looked && t->piece[i].call->outcome == SURE) {
			violation(h, "an append that was answered is nowhere");
			explain(h, "appended", t->piece[i].call);
		}
	}
	t->n = n;
}

/* A failed append may have left only its first blocks, after which the file ends. */
static uint32_t behind(const struct piece *p)
{
	return p->at +
	       (p->call->outcome == SURE ? p->call->op->count : p->last + 1);
}

static void check_order(struct history *h, struct tail *t)
{
	const struct piece *late = NULL, *p;
	size_t i;

	qsort(t->piece, t->n, sizeof(*t->piece), by_place);
	for (i = 0; i < t->n; i++) {
		p = &t->piece[i];
		if (i && behind(&p[-1]) > p->at) {
			violation(h, "block %u: one append over another",
				  p->at);
			explain(h, "appended", p[-1].call);
			explain(h, "and", p->call);
		}
		if (late && p->call->end < late->call->begin) {
			violation(h, "an append after a later one: %u, %u",
				  p->at, late->at);
			explain(h, "appended", p->call);
			explain(h, "later", late->call);
		}
		if (!late || p->call->begin > late->call->begin)
			late = p;
	}
}

static int add_reads(struct history *h, unsigned int object, struct accesses *a)
{
	struct access item = { 0 };
	const struct op *op;
	size_t i;
	int rc = 0;

	for (i = history_next(h, 0, OBJ_TAIL, object); i < h->n && !rc;
	     i = history_next(h, i + 1, OBJ_TAIL, object)) {
		op = h->call[i].op;
		if (op->kind != OP_READ || h->call[i].outcome)
			continue;
		item.call = &h->call[i];
		for (uint32_t k = 0; !rc && k < op->count; k++) {
			if (half_done(h, item.call, k))
				continue;
			item.block = op->block + k;
			item.val = op->val[k];
			rc = accesses_add(a, &item);
		}
	}
	return rc;
}

static int add_writes(const struct tail *t, struct accesses *a)
{
	struct access item = { .write = true };
	const struct op *op;
	size_t i;
	int rc = 0;

	for (i = 0; i < t->n && !rc; i++) {
		op = t->piece[i].call->op;
		item.call = t->piece[i].call;
		for (uint32_t k = 0; !rc && k < op->count; k++) {
			item.block = t->piece[i].at + k;
			item.val = value_of(op->writer, op->no, k);
			rc = accesses_add(a, &item);
		}
	}
	return rc;
}

void check_tail(struct history *h, unsigned int object)
{
	struct accesses all = { 0 };
	struct tail tail = { 0 };
	unsigned int before = h->violations;
	int rc = gather(h, object, &tail);

	if (!rc) {
		drop_unseen(h, &tail);
		check_order(h, &tail);
		rc = add_reads(h, object, &all);
	}
	if (!rc)
		rc = add_writes(&tail, &all);
	if (rc)
		violation(h, "cannot tell: no memory");
	else if (h->violations == before)
		check_registers(h, &all);
	free(all.item);
	free(tail.piece);
}
