/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_pages.h - pages that an iod shares with clients on its host to which it lends objects.
 * These clients read and write the objects without a message, and without waking the iod.  This
 * corresponds to one-sided access between nodes of a network (Noronha and Panda, Designing High
 * Performance DSM Systems using InfiniBand), with the page cache as the memory.
 *
 * A borrower writes in this order:
 *
 *   inside[i] = 1 + index			its mark, then a full barrier
 *   word[index] == number			the object is still lent
 *   owner					the iod that lent it has not ended
 *   now < until				the iod has a lease
 *   first[stripe] > now			no change of the object is late
 *   pwrite()
 *   word[index] == LOAN_PAGE_ASIDE?		after another full barrier
 *   inside[i] = 0
 *
 * If one of the conditions before pwrite() is false, the borrower clears its mark and sends a
 * message instead.  A borrower reads without a mark, and discards the data if the word changed
 * during the read.  To withdraw a loan, the iod clears the word, executes a full barrier, and then
 * checks the marks.  A client with a mark will finish its write, so the iod blocks the object for
 * all other clients until the mark is cleared.
 *
 * A stopped client may keep its mark for long.  If a signal handler of a client left the write by a
 * jump, the mark is never cleared.  So the iod sets the object aside: it sets the word to
 * LOAN_PAGE_ASIDE, executes a full barrier, and replaces the object by a copy.  If the writer's
 * second barrier was first, the copy has all that it wrote.  If the iod's barrier was first, the
 * writer sees LOAN_PAGE_ASIDE.  Then its data may be only in the old file, which is not used any
 * more, and the writer repeats the write by message.  The iod does not use the index of a loan
 * again while a mark names it.
 *
 * Clients of earlier releases (without WIRE_FT_ASIDE) do not check the word after the write, and
 * iods of earlier releases do not set objects aside.  An iod lends nothing to such a client.  A
 * client borrows only for reading from such an iod.
 *
 * The iod does not see the accesses of borrowers, so each borrower counts them in its entry of
 * inside[].  It measures the time of one access in LOAN_PAGE_TIMED, and adds it there and to the
 * histogram after the marks.  (A file of an earlier iod has no room for the histogram.)  The iod
 * reads these counts for METRICS.
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
 * The page of the iod, which clients read.  owner is a robust futex (kernel documentation,
 * robust-futex-ABI).  When the iod ends for any reason, the kernel clears the thread id in owner
 * before it closes the listening sockets of the iod.  So if a connect to an iod is refused, no
 * client uses its loans any more.
 */
struct loan_page_gate {
	_Atomic uint64_t until; /* clock_boot(): end of the iod's lease */
	/* FUTEX_TID_MASK: id of a thread of the iod; 0: the iod has ended */
	_Atomic uint32_t owner;
	/* which clock the iod has: inode of its /proc/self/ns/time; 0: unknown */
	uint64_t clock;
	struct {
		/*
		 * clock_boot() at which the first change in progress becomes late; UINT64_MAX: no
		 * change is in progress
		 */
		_Alignas(64) _Atomic uint64_t first;
	} stripe[LOAN_PAGE_STRIPES];
};

/* The page of a session that the iod writes and the client reads. */
struct loan_page_terms {
	uint64_t session;
	int64_t pid; /* process of the borrower, */
	uint64_t began; /* ... and its start time: /proc/PID/stat */
	uint64_t zero;
	/* number of the loan; 0: none; or LOAN_PAGE_ASIDE */
	_Atomic uint64_t word[LOAN_PAGE_OBJECTS];
};

/* Counts of the accesses that a borrower made without a message. */
struct loan_page_count {
	_Atomic uint64_t n, bytes;
	_Atomic uint64_t ns; /* of the accesses that were timed */
};

/* The page of a session that the client writes.  The iod must expect any content. */
struct loan_page_marks {
	struct {
		/* 1 + index of the loan; 0: no write */
		_Alignas(64) _Atomic uint32_t object;
		_Atomic uint32_t timed[2]; /* [1]: writes, here and below */
		struct loan_page_count count[2];
	} inside[LOAN_PAGE_INSIDE];
	/* not 0: the client has returned the loan and closed the file */
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
