/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lender.h - objects of iods on this host, borrowed from them for reads and writes
 * that need no message; and the pages by which the iods take them back (lent.h).
 */
#ifndef LENDER_H
#define LENDER_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/clock.h"
#include "common/wire/lent.h"

struct session;

/* The pages of one iod, for one session. */
struct lender {
	atomic_uint refs;
	unsigned int link; /* connections that were lost before */
	const struct lent_gate *gate;
	const struct lent_terms *terms;
	struct lent_marks *marks;
	struct lent_page
		*page; /* they are its first part; NULL: there is no more */
};

/* An object.  Constant, while it is used. */
struct loan {
	uint64_t session;
	uint32_t iod; /* its number there */
	struct lender *lender;
	uint64_t number;
	uint32_t index, stripe;
	int fd;
	bool write; /* for writing, too */
	bool waits; /* it may be on a disk: RWF_NOWAIT */
	uint64_t limit; /* RLIMIT_FSIZE, as it was */
	struct loan *next; /* its owner's */
};

/*
 * Borrows an object of iod number i of the session; *loan is the caller's to
 * loan_return().  -EOPNOTSUPP: the iod does not lend, or cannot; -ENOENT: there is no
 * such object yet; -EBUSY: another thread asks it, or it is shut just now; -EMFILE: the
 * program may soon need the descriptor; -ESRCH: it does not see this process, or has
 * another clock; or as ask_run().  write: from an iod that sets objects aside alone, from others
 * it is borrowed for reading.
 */
int lender_ask(struct session *s, uint32_t i, uint64_t handle, bool write,
	       struct loan **loan);
/* Gives it back.  Nobody uses it. */
void loan_return(struct loan *loan);
/* In a child after fork(): the same, without a word. */
void loan_forked(struct loan *loan);

/* The session ends. */
void lender_put(struct lender *lender);

/* It may be used now, if it is not taken back in this very moment. */
static inline bool loan_valid(const struct loan *loan)
{
	const struct lent_gate *gate = loan->lender->gate;
	uint64_t now = clock_boot();

	return atomic_load(&loan->lender->terms->word[loan->index]) ==
		       loan->number &&
	       atomic_load(&gate->owner) & FUTEX_TID_MASK &&
	       now < atomic_load(&gate->until) &&
	       now < atomic_load(&gate->stripe[loan->stripe].first);
}

/* It was set aside: behind a full barrier, before the mark goes. */
static inline bool loan_aside(const struct loan *loan)
{
	return atomic_load(&loan->lender->terms->word[loan->index]) ==
	       LENT_ASIDE;
}

/* It was taken back. */
static inline bool loan_over(const struct loan *loan)
{
	return atomic_load_explicit(&loan->lender->terms->word[loan->index],
				    memory_order_relaxed) != loan->number;
}

#endif
