/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence_file.h - the file of the fenced sessions and of the manager's term.  When it is made,
 * it gets its final size, and it is written in place.  So sessions can be fenced on a full
 * disk, too.
 *
 *   head 0 | head 1 | FENCE_PAGES pages of FENCE_PAGE_IDS ids each, used in turn
 *
 * The head holds the page that is being filled.  Both heads have the same contents.  A full
 * page is written first, then one head after the other.  So a write that is interrupted loses
 * no fence except the one that it was to add.  If one head is damaged later, no fence is lost.
 * Earlier releases wrote only one head, in turn.
 */
#ifndef FENCE_FILE_H
#define FENCE_FILE_H

#include <stdint.h>

#include "common/util/log.h"

#define FENCE_PAGE_IDS 511u
/* If all pages are full, the next page replaces the oldest one, and STORE_FENCE_MAX fences have to
 * remain. */
#define FENCE_PAGES 130u
#define FENCE_EXCEPT_MAX 1024u

/* The contents of a head, in memory. */
struct fence_head {
	uint64_t seq; /* grows with each head that is written */
	/* index of a head that is written completely, 0 or 1 */
	unsigned int whole;
	uint64_t count; /* fences added since the file was made */
	uint64_t term;
	/* session of the manager with that term; 0: not known */
	uint64_t claimer;
	/* not used, as are nexcept and except; kept as they were read */
	uint64_t below;
	uint64_t nexcept;
	uint64_t except[FENCE_EXCEPT_MAX];
	/* the first count % FENCE_PAGE_IDS are valid */
	uint64_t ids[FENCE_PAGE_IDS];
};

/*
 * Opens the file "fences" in dirfd, or makes it.  Reads *head and all full pages: page p goes to
 * ids[(p % FENCE_PAGES) * FENCE_PAGE_IDS].  Returns the descriptor, which the caller closes, or
 * -errno; the error is logged with cause and remedy.
 */
int fence_file_open(int dirfd, struct fence_head *head, uint64_t *ids,
		    const struct log *log);
/*
 * Write one page, or the head.  After 0 it is durable.  After -errno, all fences that were in the
 * file before are still there.
 */
int fence_file_page(int fd, uint64_t page, const uint64_t *ids);
int fence_file_head(int fd, struct fence_head *head);

#endif
