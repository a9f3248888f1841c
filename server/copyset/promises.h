/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * promises.h - which iod serves a copyset: leases that the members give to the primary.
 *
 * Only the primary of a row (struct copyset) serves.  Rows reach the iods at different times, so
 * several iods may believe that they are the primary.  Therefore a primary needs a promise of each
 * other member that is not OFFLINE.  A SYNCING member promises too, because it may become primary
 * next.  A promise says: I do not serve the copyset for one lease from now.  (Gray and Cheriton,
 * "Leases", SOSP 1989.)
 *
 *	primary   |- ask --------- 3/4 lease ---------|
 *	member          |- answer -------------- lease --------------|   may serve
 *
 * The primary counts three quarters of the lease from the sending, on its clock.  The member counts
 * the whole lease from its answer, on its own.  So clocks are not compared, and their speeds may
 * differ by a quarter.
 *
 *  - A member agrees if it has the row that the primary names, or a newer one with the same primary.
 *  - A promise ends early if the former primary has agreed to a row newer than the promise: it has
 *    stopped then.  So a planned hand-over does not wait.
 *  - A process that starts does not know the promises of the process before it.  So it serves no
 *    copyset of several members until one lease after its start.
 *  - Loans outlive the process.  The primary lends only until the promises end that it got with
 *    LENT.  If the manager knows that the process has ended, other promises to it are void.
 *
 * At any time at most one iod serves a copyset, if
 *  - rows come from the manager, and only the primary makes a member SERVING that was not: by
 *    COMPLETE, while it serves under the row that names the member as SYNCING;
 *  - a row of several members is never followed by a row of one;
 *  - each iod stores a row durably before promises_set_row(), and reads it after a restart.
 *
 * The functions are pure: the caller sends the messages, and passes the time of its clock_boot().
 * They are for one thread at a time.  Each answer belongs to one request, but messages may be lost,
 * repeated, delayed and reordered.
 */
#ifndef PROMISES_H
#define PROMISES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/dist/copyset.h"

/*
 * A ring of 1024 iods with three copies has about 60 copysets of each iod, and there are at most 64
 * rings.
 */
#define PROMISES_COPYSETS_MAX 8192u

struct promises;

struct promises_attr {
	uint32_t iod; /* this iod */
	/* A random number of this process.  Not that of any other process. */
	uint64_t process;
	/*
	 * ns; the same at all iods.  A request for a longer one is refused.  Lower it only while the
	 * iod is stopped for one lease.
	 */
	uint64_t lease;
	uint32_t copysets_max; /* 1 to PROMISES_COPYSETS_MAX */
};

/* The head of a PROMISE; the answer returns it unchanged. */
struct promise_head {
	uint64_t process; /* of the primary */
	uint64_t sent; /* the primary's clock */
	uint64_t lease; /* the primary's setting */
};

/* An entry of a PROMISE, and of its answer. */
struct promise {
	uint32_t copyset;
	uint32_t version; /* of the primary's row */
	bool lent; /* the primary lends, or is going to */
};

/*
 * Makes the promises of a process that starts now.  It has no rows.  -EINVAL: copysets_max is out of
 * range.  -ENOMEM.
 */
int promises_open(const struct promises_attr *attr, uint64_t now,
		  struct promises **promises);
/* NULL: nothing happens. */
void promises_close(struct promises *promises);

/*
 * Puts a row in force, which has 1 to COPYSET_COPIES_MAX different members.  If this iod does not
 * serve after it, the caller has revoked its loans and stops serving before its next
 * promises_answer().  A copyset is never forgotten.  -ESTALE: its row is not older than this one.
 * -ENOSPC: there are copysets_max others.  After an error nothing has changed.
 */
int promises_set_row(struct promises *promises, const struct copyset *row);

/*
 * The PROMISE for iod `to`: the copysets from `first` on that it shares with this iod, if this iod
 * is the primary.  Sets *head and up to max entries of the list, and returns their number.  If that
 * is max, another PROMISE may follow, for the copysets after the last one.  Send it to each iod with
 * shared copysets four times a lease, and after a row has changed.
 */
uint32_t promises_ask(const struct promises *promises, uint32_t to,
		      uint32_t first, uint64_t now, struct promise_head *head,
		      struct promise *list, uint32_t max);
/*
 * A PROMISE of iod `from` has arrived.  Promises what it may, leaves these entries of n in the list
 * and returns their number.  They are the answer, which has the same head.
 */
uint32_t promises_answer(struct promises *promises, uint32_t from,
			 const struct promise_head *head, struct promise *list,
			 uint32_t n, uint64_t now);
/* The answer of iod `from` has arrived.  If it is not for a request of this process, it is ignored. */
void promises_accept(struct promises *promises, uint32_t from,
		     const struct promise_head *head,
		     const struct promise *list, uint32_t n, uint64_t now);

/*
 * The manager has seen that this process of the iod has ended.  Promises to it end now, or when its
 * loans do.
 */
void promises_end_process(struct promises *promises, uint32_t iod,
			  uint64_t process);

/*
 * A time on the clock of this iod.  It changes only by a call that changes the promises, so
 * threads may use a copy until the next one.  Both 0: never.
 */
struct promises_span {
	uint64_t from;
	uint64_t until; /* not at this time; UINT64_MAX: until the row changes */
};
static inline bool promises_span_has(const struct promises_span *span,
				     uint64_t now)
{
	return span->from <= now && now < span->until;
}

/*
 * When this iod may serve the copyset.  Compare it with the time at the begin of each request.  A
 * request that began in time may end later, because it began before any change that another primary
 * makes.
 */
struct promises_span promises_serve_span(const struct promises *promises,
					 uint32_t copyset);

/*
 * Whether PROMISE says LENT from now on.  Before it is cleared, the caller revokes its loans.  A row
 * with another primary clears it, too.
 */
void promises_set_lent(struct promises *promises, uint32_t copyset, bool lent);
/*
 * As promises_serve_span(), for loans.  Loans are valid in this time only; after promises_set_row(),
 * the caller also limits those that exist.  A process that starts first revokes those of the process
 * before it.
 */
struct promises_span promises_lend_span(const struct promises *promises,
					uint32_t copyset);

#endif
