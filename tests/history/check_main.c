/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_main.c - judges a history.
 *
 * 	history-check BOUND LOG...
 * 	HISTORY_SHOW="KIND OBJECT FROM TO" history-check BOUND LOG...
 * 				prints these calls instead (KIND: plain 0, cut 1, tail 2,
 * 				guard 3, names 4; FROM and TO in seconds)
 *
 * BOUND is the number of seconds that a call may take (PVFS_TIMEOUT).  Explains the violations on
 * stdout, and ends with a line of counts.  Exit status 0: an order explains every call.  1: no
 * order does, or the checker cannot tell.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/history/history.h"

/* a call may return this much later than its bound */
#define SLACK_NS 100000000u

/* The longest of the calls of a kind that returned too late. */
struct late {
	const struct call *worst;
	unsigned int n;
};

static bool longer(const struct call *a, const struct call *b)
{
	return !b || a->end - a->begin > b->end - b->begin;
}

/* Calls of a client that was stopped do not count. */
static void gather_late(const struct history *h, struct late late[OP_KINDS])
{
	const struct call *c;
	size_t i;

	for (i = 0; i < h->n; i++) {
		c = &h->call[i];
		if (c->op->state != OP_DONE || c->op->stopped ||
		    c->end - c->begin < h->bound)
			continue;
		late[c->op->kind].n++;
		if (longer(c, late[c->op->kind].worst))
			late[c->op->kind].worst = c;
	}
}

static void late_calls(struct history *h)
{
	struct late late[OP_KINDS] = { 0 };
	unsigned int i;

	gather_late(h, late);
	for (i = 0; i < OP_KINDS; i++) {
		if (!late[i].n)
			continue;
		printf("late: %u of a kind, the longest took %.3f s\n",
		       late[i].n,
		       (double)(late[i].worst->end - late[i].worst->begin) /
			       1e9);
		explain(h, "", late[i].worst);
	}
}

static void counts(const struct history *h)
{
	unsigned int sure = 0, failed = 0, open = 0;
	size_t i;

	for (i = 0; i < h->n; i++) {
		if (h->call[i].op->state != OP_DONE)
			open++;
		else if (h->call[i].outcome == SURE)
			sure++;
		else
			failed++;
	}
	printf("calls %zu answered %u failed %u killed %u violations %u\n",
	       h->n, sure, failed, open, h->violations);
}

/* Returns 0 if it was not requested. */
static int show(struct history *h, const char *what)
{
	unsigned int kind, object;
	double from, to;
	size_t i;

	if (!what ||
	    sscanf(what, "%u %u %lf %lf", &kind, &object, &from, &to) != 4)
		return 0;
	from = from * 1e9 + (double)h->zero;
	to = to * 1e9 + (double)h->zero;
	for (i = history_next(h, 0, kind, object); i < h->n;
	     i = history_next(h, i + 1, kind, object))
		if ((double)h->call[i].end >= from &&
		    (double)h->call[i].begin <= to) {
			explain(h, "", &h->call[i]);
			for (uint32_t k = 0;
			     k < h->call[i].op->nval && !h->call[i].outcome;
			     k++)
				remark(h, "  %u: %s", h->call[i].op->block + k,
				       value_text(h->call[i].op->val[k]));
		}
	return 1;
}

int main(int argc, char **argv)
{
	struct history h = { .out = stdout };
	int i, rc;

	if (argc < 3) {
		fprintf(stderr, "usage: history-check BOUND LOG...\n");
		return 2;
	}
	h.bound = (uint64_t)(strtod(argv[1], NULL) * 1e9) + SLACK_NS;
	for (i = 2; i < argc; i++) {
		rc = history_load(&h, argv[i]);
		h.looked |= strstr(argv[i], "look") != NULL;
		if (rc) {
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-rc));
			return 2;
		}
	}
	history_sort(&h);
	if (show(&h, getenv("HISTORY_SHOW")))
		return 0;
	late_calls(&h);
	history_check(&h);
	counts(&h);
	return h.violations ? 1 : 0;
}
