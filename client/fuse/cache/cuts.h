/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuts.h - the truncation that the kernel makes by itself.  A direct write (by
 * O_DIRECT, or an asynchronous one without a cache) may be meant to end after the
 * kernel's end of file.  If it fails, the kernel truncates the file to that end, within
 * the same system call, to undo a partial write.  Data that other hosts have appended
 * meanwhile would be lost.
 *
 *	program   write ----------------------------.	   .-- fails
 *	kernel	'- WRITE -.		    '- SETATTR -'
 *	daemon		  '- the true end, error	'- nothing is done
 *
 * So the daemon first gives the kernel the true end of file, and then the error.  It
 * recognizes the truncation to exactly this end as the next request of the same thread.
 * A program that itself truncates after a failed write does so to where the write
 * began.
 */
#ifndef CUTS_H
#define CUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cuts;

#define CUTS_UNKNOWN UINT64_MAX

struct cut_due {
	uint64_t file; /* handle; 0: none is due */
	uint64_t end; /* end of file as the kernel has it; or CUTS_UNKNOWN */
	uint64_t until; /* clock_now() */
};

/* NULL: no memory. */
struct cuts *cuts_new(void);
void cuts_free(struct cuts *c);

/* Called before the thread gets the error. */
void cuts_note(struct cuts *c, pid_t thread, const struct cut_due *due);
/*
 * Called with each request of the thread: returns, once, what the previous request
 * recorded.
 */
struct cut_due cuts_take(struct cuts *c, pid_t thread);

/*
 * Decides about a truncation of file to size.  0: do it.  1: the kernel's own
 * truncation, do nothing.  -EINTR: not known; a program that means it tries again.
 */
int cuts_judge(const struct cut_due *due, uint64_t file, uint64_t size);

#endif
