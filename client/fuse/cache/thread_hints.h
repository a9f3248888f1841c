/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_hints.h - consequences of a reply to a thread for the next requests of the same
 * thread.  The kernel sends several requests within one system call, and the daemon
 * recognizes these by the thread that makes the call.
 *
 * The kernel's truncation.  A direct write (by O_DIRECT, or an asynchronous one without
 * a cache) may be meant to end after the kernel's end of file.  If it fails, the kernel
 * truncates the file to that end to undo a partial write.  Data that other hosts have
 * appended meanwhile would be lost.
 *
 *	program   write ----------------------------.	   .-- fails
 *	kernel	'- WRITE -.		    '- SETATTR -'
 *	daemon		  '- the true end, error	'- nothing is done
 *
 * So the daemon first gives the kernel the true end of file, and then the error.  It
 * recognizes the truncation to exactly this end as the next request of the same thread.
 * A program that itself truncates after a failed write does so to where the write
 * began.
 *
 * Attributes.  If the kernel checks permissions, it asks for the attributes of a file
 * that it created before open(2) returns, and for those of a directory that it changed
 * at the next name.  All iods would be asked for the size of an empty file.
 *
 * Repeated requests.  After ETIMEDOUT the kernel repeats the lookup of a name that it
 * knew, and the read of a page.  The call must end by its deadline, not after two or
 * three of them, so the repeated request gets the same reply.  This also serves requests
 * for inodes that have no name any more, where the kernel repeats after ESTALE.
 *
 * The hints of a thread are bounded in number and in time.  A lost hint costs a request,
 * or a longer call; a truncation that is due is lost only if memory is short.  Thread 0
 * stands for all threads that the daemon cannot tell apart, so it has only truncations.
 */
#ifndef THREAD_HINTS_H
#define THREAD_HINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct thread_hints;

#define KERNEL_TRUNCATE_UNKNOWN UINT64_MAX

/* A truncation that the kernel may make after a failed write. */
struct kernel_truncate {
	uint64_t file; /* handle; 0: none is due */
	/* end of file as the kernel has it; or KERNEL_TRUNCATE_UNKNOWN */
	uint64_t end;
	uint64_t until; /* clock_now() */
};

/* Left by the previous request of a thread for the present one. */
struct thread_hint {
	struct kernel_truncate truncate;
	bool has_attr;
	struct stat attr; /* if has_attr: those in the previous reply */
};

/* Returns NULL if there is no memory. */
struct thread_hints *thread_hints_new(void);
void thread_hints_free(struct thread_hints *h);

/*
 * Called with each request of the thread: sets *hint to what the previous request left.
 * Each hint is returned once.
 */
void thread_hints_take(struct thread_hints *h, pid_t thread,
		       struct thread_hint *hint);

/* ---- the kernel's truncation ---- */

/* Called before the thread gets the error of a write. */
void thread_hints_expect_truncate(struct thread_hints *h, pid_t thread,
				  const struct kernel_truncate *due);
/*
 * Decides about a truncation of file to size.  Returns 0: do it; 1: it is the kernel's
 * own, do nothing; -EINTR: not known, and a program that means it tries again.
 */
int kernel_truncate_check(const struct kernel_truncate *due, uint64_t file,
			  uint64_t size);

/* ---- attributes ---- */

/* The thread gets the attributes of a file that it created; valid for a moment. */
void thread_hints_set_attr(struct thread_hints *h, pid_t thread,
			   const struct stat *st);
/*
 * The same for a directory that the thread changed.  The attributes are valid until
 * `until` (clock_now()), and only if no other change was answered since this one began.
 * So each request records thread_hints_changes() when it begins, and each change calls
 * thread_hints_count_change() before its reply.
 */
void thread_hints_set_dir_attr(struct thread_hints *h, pid_t thread,
			       const struct stat *st, uint64_t changes,
			       uint64_t until);
uint64_t thread_hints_changes(const struct thread_hints *h);
void thread_hints_count_change(struct thread_hints *h);

/* ---- repeated requests ---- */

/* Returns a number for a request about that name in a directory. */
uint64_t thread_hints_request(uint64_t dir, const char *name);
/* The thread gets ETIMEDOUT, or ESTALE, for that request. */
void thread_hints_set_failed(struct thread_hints *h, pid_t thread,
			     uint64_t request);
/* Returns true if that request of the thread failed a moment ago. */
bool thread_hints_has_failed(struct thread_hints *h, pid_t thread,
			     uint64_t request);

#endif
