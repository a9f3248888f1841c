/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_pages.h - pages that an iod shares with clients of its host to which it lends objects.
 * These clients read and write without a message, and wake nobody up.  It corresponds to one-sided
 * access between nodes of a network (Noronha and Panda, Designing High Performance DSM Systems
 * using InfiniBand), with the page cache as the memory.
 *
 * A borrower writes in this order:
 *
 *	inside[i] = 1 + index			its mark, then a full barrier
 *	word[index] == number			the object is still lent
 *	owner					by an iod that has not ended
 *	now < until				with a valid lease
 *	first[stripe] > now			no change of the object is late
 *	pwrite()
 *	word[index] == LOAN_PAGE_ASIDE?		after another full barrier
 *	inside[i] = 0
 *
 * It reads without a mark, and discards the data if the word changed meanwhile.  If one of these
 * conditions does not hold, it sends a message instead.  To withdraw a loan, the iod clears the
 * word.  After a full barrier, it checks the marks.  A client with a mark will finish its write,
 * so the object is blocked for all others until the mark is gone.
 *
 * A client may keep its mark for long because it is stopped.  Or one of its signal handlers left
 * the write by a jump, and the mark will never go.  So the iod sets the object aside: the word
 * becomes LOAN_PAGE_ASIDE, and after a full barrier, a copy replaces the object.  If the writer's
 * barrier comes first, all that it wrote is in the copy.  If the iod's barrier comes first, the
 * writer sees LOAN_PAGE_ASIDE and repeats the call by message, because its data may be only in the
 * old file, which nobody uses any more.  An index with a mark is not lent again.
 *
 * Clients and iods of earlier releases (without WIRE_FT_ASIDE) do not check again.  To such a
 * client, an iod lends nothing.  From such an iod, a client borrows only for reading.
 *
 * The iod does not see the accesses of borrowers, so they report them.  Each counts its accesses
 * in an entry of inside[], and measures the time of one in LOAN_PAGE_TIMED.  It adds that time
 * there, and also to the histogram after the marks, for which an iod of an earlier release has no
 * room.  The iod reads these when its counts are requested.
 */
#ifndef LOAN_PAGES_H
#define LOAN_PAGES_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/util/histogram.h"

#define LOAN_PAGE_OBJECTS 256u /* loans per session */
#define LOAN_PAGE_INSIDE 64u /* concurrent writers per session */
#define LOAN_PAGE_STRIPES 1024u
#define LOAN_PAGE_COUNT 3u /* gate, terms, marks, in this order */
/* maximum bytes of an access; longer ones use messages */
#define LOAN_PAGE_MOST (1u << 20)
#define LOAN_PAGE_TIMED 64u
#define LOAN_PAGE_ASIDE UINT64_MAX /* no loan has this number */

/*
 * Page of an iod, read by clients.  owner is a robust futex (kernel documentation,
 * robust-futex-ABI).  However the iod ends, the kernel removes its thread from that word before
 * any listening socket of the iod refuses a connection.  So an iod that is known not to run has
 * no borrowers either.
 */
struct loan_page_gate {
	_Atomic uint64_t until; /* clock_boot(): end of the iod's lease */
	/* thread in its FUTEX_TID_MASK; 0: the iod ended */
	_Atomic uint32_t owner;
	uint64_t clock; /* inode of its /proc/self/ns/time; 0: unknown */
	struct {
		/*
		 * clock_boot(): the earliest time at which a change in progress is late;
		 * UINT64_MAX: none is
		 */
		_Alignas(64) _Atomic uint64_t first;
	} stripe[LOAN_PAGE_STRIPES];
};

/* Page of a session, read by the client. */
struct loan_page_terms {
	uint64_t session;
	int64_t pid; /* process of the borrower, */
	uint64_t began; /* ... and its start time: /proc/PID/stat */
	uint64_t zero;
	/* number of the loan; 0: none; or LOAN_PAGE_ASIDE */
	_Atomic uint64_t word[LOAN_PAGE_OBJECTS];
};

/* Accesses of a borrower without a message. */
struct loan_page_count {
	_Atomic uint64_t n, bytes;
	_Atomic uint64_t ns; /* of the accesses that were timed */
};

/* Page of a session, written by the client, so it may contain anything. */
struct loan_page_marks {
	struct {
		_Alignas(64) _Atomic uint32_t object; /* 1 + index */
		_Atomic uint32_t timed[2]; /* [1]: writes, here and below */
		struct loan_page_count count[2];
	} inside[LOAN_PAGE_INSIDE];
	/* the loan was returned, and the file closed */
	_Atomic uint8_t back[LOAN_PAGE_OBJECTS];
};

_Static_assert(sizeof(struct loan_page_marks) ==
		       64 * LOAN_PAGE_INSIDE + LOAN_PAGE_OBJECTS,
	       "clients and iods of earlier releases have the same pages");

/* The file of marks.  A shorter file contains only the marks. */
struct loan_page_file {
	struct loan_page_marks marks;
	_Atomic uint64_t bucket[2][HISTOGRAM_BUCKETS]; /* [1]: writes */
};

#endif
