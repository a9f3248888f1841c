/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cuts.h - the cut that the kernel makes by itself.  When a direct write (by O_DIRECT, or
 * an asynchronous one without a cache) fails that was to end behind what the kernel takes
 * for the file's end, it sets that size within the same system call, to undo what a part
 * of the write may have done.  What others have put
 * behind that end since it was told would be lost.
 *
 *	program   write ----------------------------.           .-- fails
 *	kernel        '- WRITE -.                    '- SETATTR -'
 *	daemon                  '- the true end, error        '- nothing is done
 *
 * So it is told the true end before it is told of the failure, and the cut to just that is
 * known by the thread, whose next request it is.  A program that cuts what it
 * failed to write does so to where that began.
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
	uint64_t end; /* as the kernel has it; or CUTS_UNKNOWN */
	uint64_t until; /* clock_now() */
};

/* NULL: there is no memory. */
struct cuts *cuts_new(void);
void cuts_free(struct cuts *c);

/* Before thread is told that it failed. */
void cuts_note(struct cuts *c, pid_t thread, const struct cut_due *due);
/* With each request of thread's: what was noted with the one before, and only once. */
struct cut_due cuts_take(struct cuts *c, pid_t thread);

/* Whether file is to be cut to size: 0; 1: it is the kernel's own wish, and nobody's;
 * -EINTR: nobody knows, and who means it tries again. */
int cuts_judge(const struct cut_due *due, uint64_t file, uint64_t size);

#endif
