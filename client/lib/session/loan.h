/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan.h - loans: an iod on this host gives the client a descriptor of an object, which the
 * client then reads and writes without a message.  The iod revokes a loan by a word in shared
 * pages (loan_pages.h).
 */
#ifndef LOAN_H
#define LOAN_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/clock.h"
#include "common/wire/loan_pages.h"

struct session;

/* The pages of one iod, for one session. */
struct loan_pages {
	atomic_uint refs;
	unsigned int link; /* connections that were lost before */
	const struct loan_page_gate *gate;
	const struct loan_page_terms *terms;
	struct loan_page_marks *marks;
	/* marks is its first part; NULL: only the marks are shared */
	struct loan_page_file *page;
};

/* A borrowed object.  Constant while in use. */
struct loan {
	uint64_t session;
	uint32_t iod; /* number of the iod in the session */
	struct loan_pages *pages;
	uint64_t number;
	uint32_t index, stripe;
	int fd;
	bool write; /* also for writing */
	bool waits; /* data may be on a disk: use RWF_NOWAIT */
	uint64_t limit; /* RLIMIT_FSIZE when it was borrowed */
	struct loan *next; /* for its owner */
};

/*
 * Borrows the object handle of iod number i.  The caller releases *loan with loan_return().
 * write: the loan is also for writing, which some iods refuse.  Returns 0, the errors of
 * server_call_run(), or:
 * - -EOPNOTSUPP: the iod does not lend objects, or not for writing.
 * - -ENOENT: there is no such object yet.
 * - -EBUSY: another thread is asking this iod, or the object cannot be lent at present.
 * - -EMFILE: the program may soon need the descriptor.
 * - -ESRCH: the iod cannot see this process, or has another clock.
 */
int loan_borrow(struct session *s, uint32_t i, uint64_t handle, bool write,
		struct loan **loan);
/* Returns the loan to the iod.  No thread uses it. */
void loan_return(struct loan *loan);
/* In a child after fork(): frees the loan without telling the iod. */
void loan_forked(struct loan *loan);

/* Releases the reference of the session, at its end. */
void loan_pages_put(struct loan_pages *pages);

/* Whether the loan may be used now.  It may be revoked at any moment. */
static inline bool loan_valid(const struct loan *loan)
{
	const struct loan_page_gate *gate = loan->pages->gate;
	uint64_t now = clock_boot();

	return atomic_load(&loan->pages->terms->word[loan->index]) ==
		       loan->number &&
	       atomic_load(&gate->owner) & FUTEX_TID_MASK &&
	       now < atomic_load(&gate->until) &&
	       now < atomic_load(&gate->stripe[loan->stripe].first);
}

/*
 * Returns true if the iod has set the object aside, as for a truncation.  The caller has
 * executed a full barrier and has not yet cleared its mark.
 */
static inline bool loan_aside(const struct loan *loan)
{
	return atomic_load(&loan->pages->terms->word[loan->index]) ==
	       LOAN_PAGE_ASIDE;
}

/* Whether the loan was revoked. */
static inline bool loan_over(const struct loan *loan)
{
	return atomic_load_explicit(&loan->pages->terms->word[loan->index],
				    memory_order_relaxed) != loan->number;
}

#endif
