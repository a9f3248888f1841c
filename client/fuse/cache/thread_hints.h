/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_hints.h - notes about a reply to a thread, for the next requests of this thread.
 * The kernel may send several requests within one system call.  The daemon recognizes these by
 * the thread that makes the call.
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
 * So the daemon first gives the kernel the true end of file, and then the error.  If the next
 * request of the thread truncates the file to exactly this end, the daemon does nothing.  (A
 * program that itself truncates after a failed write does so to the offset where the write
 * began.)
 *
 * Attributes.  If the kernel checks permissions, it requests attributes of a file that it has
 * just created, before open(2) returns.  It also requests those of a directory that it has
 * changed, at the next name in it.  The daemon answers these from the previous reply, because
 * otherwise it would have to ask all iods for the size of an empty file.
 *
 * Repeated requests.  After ETIMEDOUT, the kernel repeats the lookup of a name that it knew,
 * and the read of a page.  The daemon answers the repeated request with ETIMEDOUT at once, so
 * that the call ends by its deadline and not later.  In the same way, the daemon recognizes a
 * request that the kernel repeats after ESTALE for an inode without a name (call.h).
 *
 * The hints are bounded in number and in time.  A lost hint costs a request, or makes a call
 * longer.  A hint about a truncation is lost only if there is no memory.  Thread 0 stands for
 * all threads that the daemon cannot distinguish, so it has only hints about truncations.
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

/* A record of the previous request of a thread, for the next request of this thread. */
struct thread_hint {
	struct kernel_truncate truncate;
	bool has_attr;
	/* if has_attr: the attributes in the previous reply */
	struct stat attr;
};

/* Returns NULL if there is no memory. */
struct thread_hints *thread_hints_new(void);
void thread_hints_free(struct thread_hints *h);

/*
 * Called at each request of the thread: moves the hint of its previous request to *hint, so each
 * hint is returned once.
 */
void thread_hints_take(struct thread_hints *h, pid_t thread,
		       struct thread_hint *hint);

/* ---- the kernel's truncation ---- */

/* Called before the thread gets the error of a write. */
void thread_hints_expect_truncate(struct thread_hints *h, pid_t thread,
				  const struct kernel_truncate *due);
/*
 * Called for a truncation of file to size.  Returns 0: the program requested it, so execute it; 1:
 * the kernel undoes a failed write, so do nothing; -EINTR: unknown: the caller answers this error,
 * after which a program tries again.
 */
int kernel_truncate_check(const struct kernel_truncate *due, uint64_t file,
			  uint64_t size);

/* ---- attributes ---- */

/*
 * Called when the thread gets the attributes of a file that it created.  The hint is valid for a
 * moment.
 */
void thread_hints_set_attr(struct thread_hints *h, pid_t thread,
			   const struct stat *st);
/*
 * Called when the thread gets the reply to a change in a directory, whose attributes are then
 * st.  They are valid until `until` (clock_now()), and only if no other change was answered
 * since this one began.  To know that, each request passes in changes the
 * thread_hints_changes() from its begin, and each change calls thread_hints_count_change()
 * before its reply.
 */
void thread_hints_set_dir_attr(struct thread_hints *h, pid_t thread,
			       const struct stat *st, uint64_t changes,
			       uint64_t until);
uint64_t thread_hints_changes(const struct thread_hints *h);
void thread_hints_count_change(struct thread_hints *h);

/* ---- repeated requests ---- */

/* Returns a number for a request about that name in a directory. */
uint64_t thread_hints_request(uint64_t dir, const char *name);
/* Called when the thread gets ETIMEDOUT, or ESTALE, for that request. */
void thread_hints_set_failed(struct thread_hints *h, pid_t thread,
			     uint64_t request);
/* Returns true if that request of the thread failed a moment ago. */
bool thread_hints_has_failed(struct thread_hints *h, pid_t thread,
			     uint64_t request);

#endif
