/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lent.h - pages that an iod shares with clients of its host to whom it lends objects,
 * so that these read and write without a message, and nobody wakes up: what
 * one-sided access is to nodes of a network (Noronha and Panda, Designing High
 * Performance DSM Systems using InfiniBand), here with the page cache as the memory.
 *
 * A borrower writes so:
 *
 *	inside[i] = 1 + index			its mark, then a full barrier
 *	word[index] == number			it is lent, still
 *	owner					by an iod that has not ended
 *	now < until				and the manager was heard of
 *	first[stripe] > now			no change of the object is late
 *	pwrite()
 *	word[index] == LENT_ASIDE?		behind a full barrier again
 *	inside[i] = 0
 *
 * and without a mark it reads, and throws away what it read if the word changed
 * meanwhile.  If one of these does not hold it asks by message.  The iod takes back what
 * it lent by clearing the word; then, behind a full barrier too, it looks at the marks.
 * Who is inside will write what he began: until he has left, nobody else gets at the
 * object.
 *
 * Who does not leave for long stands still there, or a handler of his jumped out of it,
 * and the mark will never go.  So the iod sets the object aside: the word becomes
 * LENT_ASIDE; behind a full barrier a copy is made, and takes the object's place.  Either
 * the writer's barrier is the first: then all that he wrote is in the copy; or it
 * is the iod's: then he sees LENT_ASIDE, and his call goes by message, as what it wrote
 * may be in the old file alone, which nobody looks at any more.  An index that is
 * marked is lent to nobody.
 *
 * Clients and iods of earlier releases (without WIRE_FT_ASIDE) do not look again: to
 * such clients objects are lent for writing only by an iod that may end them, and
 * from such iods they are borrowed for reading alone.
 *
 * Nobody sees what borrowers do, so they say it: each counts what it has done in a place
 * of inside[], and one of LENT_TIMED how long it took: together there, and by itself in
 * the histogram behind the marks, which an iod of an earlier release has no room for.
 * The iod looks when it is asked for what was counted.
 */
#ifndef LENT_H
#define LENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/util/histogram.h"

#define LENT_OBJECTS 256u /* loans of a session */
#define LENT_INSIDE 64u /* writers of a session at a time */
#define LENT_STRIPES 1024u
#define LENT_PAGES 3u /* gate, terms, marks: in this order */
#define LENT_MOST (1u << 20) /* bytes of an access: longer ones go by message */
#define LENT_TIMED 64u
#define LENT_ASIDE UINT64_MAX /* no loan has this number */

/*
 * Of an iod; clients read it.  owner is a robust futex (kernel documentation,
 * robust-futex-ABI): however the iod ends, the kernel takes its thread out of that word
 * before anything that it listened to refuses a connection.  So an iod that is known
 * not to run has no borrowers either.
 */
struct lent_gate {
	_Atomic uint64_t until; /* clock_boot(): the iod's lease */
	_Atomic uint32_t owner; /* FUTEX_TID_MASK of it: a thread; 0: it ended */
	uint64_t clock; /* inode of its /proc/self/ns/time, 0: not known */
	struct {
		/* clock_boot(): when the first of the changes under way is
		 * late; UINT64_MAX: there are none */
		_Alignas(64) _Atomic uint64_t first;
	} stripe[LENT_STRIPES];
};

/* Of a session; the client reads it. */
struct lent_terms {
	uint64_t session;
	int64_t pid; /* of the borrower, */
	uint64_t began; /* which began then: /proc/PID/stat */
	uint64_t zero;
	/* number of the loan; 0: none; or LENT_ASIDE */
	_Atomic uint64_t word[LENT_OBJECTS];
};

/* What was done by itself. */
struct lent_count {
	_Atomic uint64_t n, bytes;
	_Atomic uint64_t ns; /* ... of those that were timed */
};

/* Of a session; the client writes it, and it may be anything. */
struct lent_marks {
	struct {
		_Alignas(64) _Atomic uint32_t object; /* 1 + index */
		_Atomic uint32_t timed[2]; /* [1]: writes; so below */
		struct lent_count count[2];
	} inside[LENT_INSIDE];
	_Atomic uint8_t back[LENT_OBJECTS]; /* given back, and closed */
};

_Static_assert(sizeof(struct lent_marks) == 64 * LENT_INSIDE + LENT_OBJECTS,
	       "clients and iods of earlier releases have the same pages");

/* The file of marks; a shorter one ends with those. */
struct lent_page {
	struct lent_marks marks;
	_Atomic uint64_t bucket[2][HISTOGRAM_BUCKETS]; /* [1]: writes */
};

#endif
