/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history.h - the calls of all clients, and whether some order explains them.
 *
 * Each check looks at one object at a time.  A call counts from its begin to its end.  A call that
 * failed was carried out before it returned, or never.  A call whose client was killed was carried
 * out before its deadline, or never.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdarg.h>
#include <stdio.h>

#include "tests/history/record.h"

enum outcome { SURE, MAYBE };

struct call {
	const struct op *op;
	uint64_t begin, end; /* when it can have been carried out */
	enum outcome outcome;
	bool never; /* its effect must not be seen: see check_locks.c */
};

struct history {
	struct call *call; /* by begin */
	size_t n, room;
	uint64_t zero; /* when it began */
	uint64_t bound; /* ns: the longest time of a call */
	bool looked; /* everything was read at the end */
	FILE *out; /* where violations are explained; NULL: nowhere */
	unsigned int violations, shown;
};

/* Adds a call; the op must stay.  0 or -ENOMEM. */
int history_add(struct history *h, const struct op *op);
/* Adds all calls of a log file.  0 or -errno. */
int history_load(struct history *h, const char *path);
/* To be called once, when all have been added. */
void history_sort(struct history *h);
void history_free(struct history *h);

/* All checks; returns how many violations there are. */
unsigned int history_check(struct history *h);

/* Calls i of the kind and object, in order; from: 0 first, then the last + 1.
 * Returns n if there is no more. */
size_t history_next(const struct history *h, size_t from, enum object_kind kind,
		    unsigned int object);

/*
 * True if block k of the read is torn and may be.  Nothing promises whole blocks, because memory is
 * copied byte by byte while others read and write it.  A block may be torn if a change was in
 * flight during the read, or failed, or if two concurrent changes lie there, and none was surely
 * done later.
 */
bool half_done(const struct history *h, const struct call *read, uint32_t k);

/* Begins the explanation of a violation; its calls follow. */
void violation(struct history *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* One call, under the violation that was begun last. */
void explain(struct history *h, const char *what, const struct call *call);
void remark(struct history *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A value as text, in a static ring of buffers. */
const char *value_text(uint64_t val);

/* ---- the models, one object each ---- */

void check_plain(struct history *h, enum object_kind kind, unsigned int object);
void check_cut(struct history *h, unsigned int object);
void check_size(struct history *h, unsigned int object);
/* Also marks the writes that came after the next holder, so it runs before check_plain. */
void check_locks(struct history *h, unsigned int object);
void check_names(struct history *h, unsigned int object);
void check_tail(struct history *h, unsigned int object);

/* ---- registers whose values are unique ---- */

struct access {
	const struct call *call;
	uint64_t val;
	uint32_t block;
	bool write;
};

struct accesses {
	struct access *item;
	size_t n, room;
};

int accesses_add(struct accesses *a, const struct access *item);
/* Sorts them, checks each block on its own. */
void check_registers(struct history *h, struct accesses *a);

/* ---- anything, by trying all orders that matter ---- */

#define STATE_MAX 4

struct jit_op {
	const struct call *call;
	bool must; /* it was carried out */
	bool reader; /* it never changes the state */
	uint32_t block; /* for the model's use */
	uint64_t val;
};

/* Carries op out; false: it cannot be with this state. */
typedef bool jit_apply(const struct jit_op *op, uint64_t state[STATE_MAX]);

struct jit_result {
	size_t at; /* which op cannot be */
	unsigned int nstates; /* the possible states before it */
	uint64_t state[8][STATE_MAX];
};

/* ops by begin.  0: an order explains them; 1: none does, *res says where;
 * -E2BIG: cannot tell; -ENOMEM. */
int jit_check(const struct jit_op *ops, size_t n, jit_apply *apply,
	      const uint64_t start[STATE_MAX], struct jit_result *res);

#endif
