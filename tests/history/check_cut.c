/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_cut.c - the blocks of files that are truncated.  A truncation is a write of zeros to every
 * block after the new end.  Zeros are no unique value, so all orders that matter are tried.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/history/history.h"

#define CONTEXT 14u

struct ops {
	struct jit_op *item;
	size_t n;
};

/* Sorted values that were read in some block of the file. */
struct seen {
	uint64_t *val;
	size_t n;
};

static bool apply(const struct jit_op *op, uint64_t state[STATE_MAX])
{
	if (op->reader)
		return state[0] == op->val;
	state[0] = op->val;
	return true;
}

static int by_val(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int seen_make(const struct history *h, unsigned int object,
		     struct seen *s)
{
	const struct op *op;
	size_t i, n = 0;

	for (i = 0; i < h->n; i++)
		n += h->call[i].op->nval;
	s->val = malloc((n + 1) * sizeof(*s->val));
	s->n = 0;
	if (!s->val)
		return -ENOMEM;
	for (i = history_next(h, 0, OBJ_CUT, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_CUT, object)) {
		op = h->call[i].op;
		if (op->kind != OP_READ || h->call[i].outcome)
			continue;
		memcpy(s->val + s->n, op->val, op->count * sizeof(*s->val));
		s->n += op->count;
	}
	qsort(s->val, s->n, sizeof(*s->val), by_val);
	return 0;
}

/* Sets the effect of the call on the block.  Returns false if it has none. */
static bool op_of(const struct history *h, const struct call *c, uint32_t block,
		  const struct seen *s, struct jit_op *jop)
{
	const struct op *op = c->op;
	bool within = block >= op->block && block < op->block + op->count;

	*jop = (struct jit_op){ .call = c, .must = c->outcome == SURE };
	switch (op->kind) {
	case OP_READ:
		jop->reader = true;
		jop->val = within && jop->must ? op->val[block - op->block] : 0;
		return within && jop->must &&
		       !half_done(h, c, block - op->block);
	case OP_WRITE:
		jop->val = value_of(op->writer, op->no, block - op->block);
		/* a failed write whose value was never read need not have been executed */
		return within &&
		       (jop->must || bsearch(&jop->val, s->val, s->n,
					     sizeof(*s->val), by_val));
	case OP_TRUNCATE:
		return block >= op->block;
	}
	return false;
}

static void context(struct history *h, const struct ops *ops, size_t at)
{
	const struct call *bad = ops->item[at].call;
	size_t i, from = 0, n = 0;

	for (i = 0; i < ops->n && ops->item[i].call->begin <= bad->end; i++)
		;
	for (from = i; from && n < CONTEXT; from--)
		n += !ops->item[from - 1].reader;
	remark(h, "the changes before:");
	for (; from < i; from++)
		if (!ops->item[from].reader)
			explain(h, "", ops->item[from].call);
}

static void report(struct history *h, uint32_t block, const struct ops *ops,
		   const struct jit_result *res)
{
	const struct jit_op *op = &ops->item[res->at];
	unsigned int i;

	violation(h, "block %u: no order explains %s", block,
		  op->reader ? value_text(op->val) : "this");
	explain(h, "contradicts", op->call);
	for (i = 0; i < res->nstates; i++)
		remark(h, "there can be only: %s",
		       value_text(res->state[i][0]));
	context(h, ops, res->at);
}

static void check_block(struct history *h, unsigned int object, uint32_t block,
			const struct seen *s, struct ops *ops)
{
	const uint64_t start[STATE_MAX] = { 0 };
	struct jit_result res;
	size_t i;
	int rc;

	ops->n = 0;
	for (i = history_next(h, 0, OBJ_CUT, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_CUT, object))
		ops->n += op_of(h, &h->call[i], block, s, &ops->item[ops->n]);
	rc = jit_check(ops->item, ops->n, apply, start, &res);
	if (rc < 0)
		violation(h, "cannot tell of block %u of cut.%u: %s", block,
			  object, strerror(-rc));
	else if (rc)
		report(h, block, ops, &res);
}

static uint32_t blocks_of(const struct history *h, unsigned int object)
{
	uint32_t most = 0;
	const struct op *op;
	size_t i;

	for (i = history_next(h, 0, OBJ_CUT, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_CUT, object)) {
		op = h->call[i].op;
		if (op->kind == OP_WRITE && op->block + op->count > most)
			most = op->block + op->count;
	}
	return most;
}

void check_cut(struct history *h, unsigned int object)
{
	uint32_t block, n = blocks_of(h, object);
	struct ops ops = { .item = calloc(h->n + 1, sizeof(*ops.item)) };
	struct seen seen = { 0 };

	if (!ops.item || seen_make(h, object, &seen))
		violation(h, "cannot tell: no memory");
	else
		for (block = 0; block < n; block++)
			check_block(h, object, block, &seen, &ops);
	free(seen.val);
	free(ops.item);
}
