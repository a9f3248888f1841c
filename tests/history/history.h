/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history.h - the calls of all clients, and whether some order explains them.
 *
 * Each check looks at one object at a time.  A call takes effect between its begin and its end.  A
 * call that failed was executed before it returned, or never.  A call whose client was killed was
 * executed before its deadline, or never.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdarg.h>
#include <stdio.h>

#include "tests/history/record.h"

enum outcome { SURE, MAYBE };

struct call {
	const struct op *op;
	uint64_t begin, end; /* it can have been executed between these */
	enum outcome outcome;
	bool never; /* its effect must not be visible: see check_locks.c */
};

struct history {
	struct call *call; /* sorted by begin */
	size_t n, room;
	uint64_t zero; /* the time when it began */
	uint64_t bound; /* ns: the maximum duration of a call */
	bool looked; /* at the end, everything was read */
	FILE *out; /* explanations of violations go here; or NULL */
	unsigned int violations, shown;
};

/* Adds a call; op must stay.  Returns 0 or -ENOMEM. */
int history_add(struct history *h, const struct op *op);
/* Adds all calls of a log file.  Returns 0 or -errno. */
int history_load(struct history *h, const char *path);
/* Called once, after all calls were added. */
void history_sort(struct history *h);
void history_free(struct history *h);

/* Runs all checks.  Returns the number of violations. */
unsigned int history_check(struct history *h);

/*
 * Returns the index of the next call on this object at or after `from`, in order of time; n if
 * there is none.  Start with from = 0, and continue with the last index + 1.
 */
size_t history_next(const struct history *h, size_t from, enum object_kind kind,
		    unsigned int object);

/*
 * True if block k of the read is torn and may be.  Nothing promises whole blocks, because memory is
 * copied byte by byte while others read and write it.  A block may be torn if a change was in
 * flight during the read, or failed, or if two concurrent changes lie there, and none was surely
 * done later.
 */
bool half_done(const struct history *h, const struct call *read, uint32_t k);

/* Begins the explanation of a violation; explain() adds its calls. */
void violation(struct history *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds one call to the explanation that was begun last. */
void explain(struct history *h, const char *what, const struct call *call);
void remark(struct history *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns a value as text, in a static ring of buffers. */
const char *value_text(uint64_t val);

/* ---- the models; each checks one object ---- */

void check_plain(struct history *h, enum object_kind kind, unsigned int object);
void check_cut(struct history *h, unsigned int object);
void check_size(struct history *h, unsigned int object);
/* Also marks writes that came after the next holder, so it must run before check_plain(). */
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
/* Sorts the accesses, and checks each block separately. */
void check_registers(struct history *h, struct accesses *a);

/* ---- any model with a small state: tries all orders that matter ---- */

#define STATE_MAX 4

struct jit_op {
	const struct call *call;
	bool must; /* it was executed for certain */
	bool reader; /* it never changes the state */
	uint32_t block; /* used by the model */
	uint64_t val;
};

/* Executes op.  Returns false if that is impossible in this state. */
typedef bool jit_apply(const struct jit_op *op, uint64_t state[STATE_MAX]);

struct jit_result {
	size_t at; /* the op that is impossible */
	unsigned int nstates; /* the possible states before it */
	uint64_t state[8][STATE_MAX];
};

/*
 * `ops` is sorted by begin.  Returns 0 if an order explains them, and 1 if none does; *res then
 * says where.  -E2BIG: cannot tell.  -ENOMEM.
 */
int jit_check(const struct jit_op *ops, size_t n, jit_apply *apply,
	      const uint64_t start[STATE_MAX], struct jit_result *res);

#endif
