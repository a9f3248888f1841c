/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * desc.h - descriptors of files on a mount, and the files that the session of this process has
 * open for them.
 *
 * 	cold -- enough calls or bytes --> opening --> open
 * 	  ^                                  '------> never
 * 	  '------ the descriptor refers to another file --'
 *
 * No state of an earlier call is trusted: each call asks the kernel to which file the
 * descriptor refers, and for its flags.  If it refers to another file than before, our file
 * is not needed any more.  The next call on the descriptor closes it, or close() does, or a
 * thread within a second.
 */
#ifndef DESC_H
#define DESC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/preload/bypass/fuse_mount.h"

/* ---- a guess which descriptors refer to files of a mount ---- */

/*
 * desc_guess[fd] says whether descriptor fd is likely to refer to a file of a mount.  Reading
 * it costs one load.  The guess may be wrong, because the kernel reuses the numbers of closed
 * descriptors:
 *
 *	DESC_OURS	likely.  Each call asks the kernel, so a wrong guess only costs time.
 *	other values	unlikely.  The call goes to the kernel.  The value is the number of calls
 *			until desc_begin() asks the kernel again; DESC_CHECK: the next call.
 *			A call of DESC_LARGE bytes or more always asks.
 */
#define DESC_NUMBERS 65536u /* higher numbers always use the kernel */
#define DESC_OURS 255u
#define DESC_CHECK 0u
#define DESC_CALLS 64u
#define DESC_LARGE (256u << 10)

extern atomic_uchar desc_guess[DESC_NUMBERS];
/* See desc_libc_appends(). */
extern atomic_uchar desc_appended[DESC_NUMBERS];

static inline bool desc_seems_ours(int fd)
{
	return (unsigned int)fd < DESC_NUMBERS &&
	       atomic_load_explicit(&desc_guess[fd], memory_order_relaxed) ==
		       DESC_OURS;
}

/*
 * Guesses whether a transfer of n bytes should bypass the kernel.  False: use the kernel.  True:
 * call desc_begin(), which decides.
 */
static inline bool desc_may_be_ours(int fd, size_t n)
{
	unsigned char v;

	if ((unsigned int)fd >= DESC_NUMBERS)
		return false;
	v = atomic_load_explicit(&desc_guess[fd], memory_order_relaxed);
	if (v == DESC_OURS || v == DESC_CHECK || n >= DESC_LARGE)
		return true;
	atomic_store_explicit(&desc_guess[fd], v - 1, memory_order_relaxed);
	return false;
}

/* Called when the descriptor fd is closed: its number may refer to another file from now on. */
static inline void desc_number_closed(int fd)
{
	if ((unsigned int)fd >= DESC_NUMBERS)
		return;
	atomic_store_explicit(&desc_guess[fd], DESC_CHECK,
			      memory_order_relaxed);
	atomic_store_explicit(&desc_appended[fd], 0, memory_order_relaxed);
}

/*
 * Whether libc has, or had, asynchronous appends through the descriptor number fd, which is below
 * DESC_NUMBERS.
 */
static inline bool desc_libc_appends(int fd)
{
	return atomic_load_explicit(&desc_appended[fd], memory_order_relaxed);
}

static inline void desc_set_libc_appends(int fd)
{
	if ((unsigned int)fd >= DESC_NUMBERS)
		return;
	atomic_store_explicit(&desc_appended[fd], 1, memory_order_relaxed);
}

/* ---- descriptors ---- */

struct desc;
struct helper;

/*
 * After how many calls or bytes a file is opened at the servers.  The open costs time, so it does
 * not pay for a file that is used little.
 */
struct desc_threshold {
	unsigned int calls_each,
		calls_all; /* after this number of calls, ... */
	uint64_t bytes_each, bytes_all; /* ... or this number of bytes */
	bool at_once; /* the first call already waits for the session */
};

/* The descriptors of one process.  The owner sets the first three, the rest is zero. */
struct desc_table {
	struct fuse_mounts *mounts;
	struct helper *helper; /* connects sessions, calls desc_sweep() */
	struct desc_threshold threshold;
	atomic_uint kernel_calls; /* so far, on descriptors of mounts */
	_Atomic uint64_t kernel_bytes;
	atomic_uint bypass_calls; /* calls that bypassed the mounts */
	_Atomic(struct desc *) desc[DESC_NUMBERS];
	atomic_uint end; /* 1 + the highest number in use */
};

/* A call on a descriptor. */
struct desc_use {
	int fd;
	int flags; /* present flags of open(2) */
	struct fuse_mount *mount;
	/* valid until desc_end(); NULL: the deadline of the call has passed */
	struct file *f;
	struct desc *desc;
};

/*
 * Begins a call that transfers n bytes.  Returns false if the caller must use the kernel.  After
 * true, the caller uses use->f until desc_end().  use->f NULL: the call has timed out.
 */
bool desc_begin(struct desc_table *table, int fd, bool write, uint64_t n,
		struct desc_use *use);
/*
 * For operations on all data that was written to the file of fd, such as fsync: returns true and
 * sets *use if the session has the file open, for this descriptor or another one.  The caller
 * calls desc_end().  table may be NULL: no file is open.
 */
bool desc_find(struct desc_table *table, int fd, struct desc_use *use);
/* Returns true if rc means that the session has ended, or that the servers reject it. */
bool desc_error_is_final(int rc);
/*
 * Called when a call that bypassed the mount failed with rc.  Decides whether later calls on the
 * descriptor use the kernel.
 */
void desc_fail(struct desc_use *use, int rc);
/*
 * If the session ended with unflushed data of the file, returns the error that fsync must report,
 * once; 0: none.  May also be called after desc_find() has returned false.
 */
int desc_take_error(struct desc_use *use);
void desc_end(struct desc_use *use);
/* Returns true if use->fd still refers to the same file; another thread may have closed it. */
bool desc_is_current(const struct desc_use *use);

/* Called before the number is closed. */
void desc_close(struct desc_table *table, int fd);
/* Called before the kernel uses its cached size of the file. */
void desc_refresh(struct desc_table *table, int fd);
/*
 * Closes files whose descriptors were closed.  all: closes every file.  True: some are still open.
 */
bool desc_sweep(struct desc_table *table, bool all);

#endif
