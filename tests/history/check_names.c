/* SPDX-License-Identifier: BSD-2-Clause */
/* check_names.c - a folder: which call created the file of each name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/history/history.h"
#include "tests/history/work.h"

#define CONTEXT 14u

static bool rename_to(uint64_t *from, uint64_t *to)
{
	if (!*from)
		return false;
	if (*from != *to) { /* for two names of one file, nothing is done */
		*to = *from;
		*from = 0;
	}
	return true;
}

static bool change(const struct op *op, uint64_t state[STATE_MAX])
{
	uint64_t *name = &state[op->block];

	switch (op->kind) {
	case OP_CREATE:
		if (*name)
			return false;
		*name = op->arg;
		return true;
	case OP_UNLINK:
		if (!*name)
			return false;
		*name = 0;
		return true;
	case OP_RENAME:
		return rename_to(name, &state[op->count]);
	case OP_LINK:
		if (!*name || state[op->count])
			return false;
		state[op->count] = *name;
		return true;
	}
	return false;
}

/* For a lookup, or a call that failed with EEXIST or ENOENT; such calls change nothing. */
static bool fits(const struct op *op, const uint64_t state[STATE_MAX])
{
	if (op->kind == OP_LOOKUP && !op->result)
		return state[op->block] == op->arg;
	if (op->result == -EEXIST)
		return state[op->kind == OP_LINK ? op->count : op->block];
	return !state[op->block]; /* the result was ENOENT */
}

static bool apply(const struct jit_op *op, uint64_t state[STATE_MAX])
{
	return op->reader ? fits(op->call->op, state)
			  : change(op->call->op, state);
}

static bool op_of(const struct call *c, struct jit_op *jop)
{
	const struct op *op = c->op;
	bool said = op->state == OP_DONE &&
		    (op->result == -ENOENT || op->result == -EEXIST);

	if (op->kind == OP_LOOKUP && c->outcome && !said)
		return false;
	*jop = (struct jit_op){ .call = c };
	jop->reader = said || op->kind == OP_LOOKUP;
	jop->must = jop->reader || !c->outcome;
	return true;
}

static void report(struct history *h, unsigned int object,
		   const struct jit_op *ops, const struct jit_result *res)
{
	const struct call *bad = ops[res->at].call;
	size_t i, from, n = 0;

	violation(h, "folder %u: no order explains", object);
	explain(h, "this", bad);
	for (i = 0; i < res->nstates; i++)
		remark(h, "there can be only: a %llu, b %llu, c %llu, d %llu",
		       (unsigned long long)res->state[i][0],
		       (unsigned long long)res->state[i][1],
		       (unsigned long long)res->state[i][2],
		       (unsigned long long)res->state[i][3]);
	remark(h, "what came before:");
	for (from = res->at; from && n < CONTEXT; from--, n++)
		;
	for (; from < res->at; from++)
		explain(h, "", ops[from].call);
}

void check_names(struct history *h, unsigned int object)
{
	struct jit_op *ops = calloc(h->n + 1, sizeof(*ops));
	const uint64_t start[STATE_MAX] = { 0 };
	struct jit_result res;
	size_t i, n = 0;
	int rc = -ENOMEM;

	_Static_assert(NAMES <= STATE_MAX, "a name is a word of the state");
	for (i = history_next(h, 0, OBJ_NAMES, object); ops && i < h->n;
	     i = history_next(h, i + 1, OBJ_NAMES, object))
		n += op_of(&h->call[i], &ops[n]);
	if (ops)
		rc = jit_check(ops, n, apply, start, &res);
	if (rc < 0)
		violation(h, "cannot tell of folder %u: %s", object,
			  strerror(-rc));
	else if (rc)
		report(h, object, ops, &res);
	free(ops);
}
