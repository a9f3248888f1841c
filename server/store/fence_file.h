/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence_file.h - the file of the fences and of the manager's term.  It is as
 * large as it ever gets when it is made, and written in place: what has to be
 * kept out on a full disk is.
 *
 *   head 0 | head 1 | pages of FENCE_PAGE_IDS ids, FENCE_PAGES of them, in turn
 *
 * The page that is being filled lies in the head.  Both heads say the same.  They
 * are written one after the other, and a page when it is full, before them: a write
 * that is torn spoils no fence but the one that it was to add, and a head that is
 * damaged later spoils none.  Earlier releases wrote one head only, in turn.
 */
#ifndef FENCE_FILE_H
#define FENCE_FILE_H

#include <stdint.h>

#include "common/util/log.h"

#define FENCE_PAGE_IDS 511u
/* That a full list loses a page to the next one leaves STORE_FENCE_MAX. */
#define FENCE_PAGES 130u
#define FENCE_EXCEPT_MAX 1024u

/* What a head says, in memory. */
struct fence_head {
	uint64_t seq; /* of the head */
	unsigned int whole; /* the place of one that has all, 0 or 1 */
	uint64_t count; /* fences that were ever added */
	uint64_t term;
	uint64_t claimer; /* the manager's session of that term; 0: not known */
	uint64_t below; /* sessions with a number below it, but: */
	uint64_t nexcept;
	uint64_t except[FENCE_EXCEPT_MAX];
	uint64_t ids[FENCE_PAGE_IDS]; /* count % FENCE_PAGE_IDS of them */
};

/*
 * Opens the file in dirfd, or makes it.  *head and all whole pages are read,
 * page p to ids[(p % FENCE_PAGES) * FENCE_PAGE_IDS].  The descriptor, or -errno:
 * the cause and the fix are logged.
 */
int fence_file_open(int dirfd, struct fence_head *head, uint64_t *ids,
		    const struct log *log);
/* Both are durable when they return 0.  -errno: what was there before is, in either case. */
int fence_file_page(int fd, uint64_t page, const uint64_t *ids);
int fence_file_head(int fd, struct fence_head *head);

#endif
