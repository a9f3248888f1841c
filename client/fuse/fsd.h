/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsd.h - the state of pvfs-fuse: the file system, and how it is presented to the
 * kernel.
 */
#ifndef FSD_H
#define FSD_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "client/lib/file/file.h"

struct bypass_page;
struct dentry_cache;
struct fsync_errors;
struct inflight_io;
struct inode_cache;
struct inval_queue;
struct lock_owners;
struct thread_hints;
struct waiting_locks;

/* Cache modes: the data of a file that the kernel may keep (docs/mount.md). */
enum cache {
	CACHE_NONE, /* nothing: a read sees all writes that returned */
	CACHE_OPEN /* its pages, if the file has not changed since */
};

/* Kernel features that libfuse does not know: libfuse_compat.h. */
struct kernel_features {
	uint64_t init; /* number of the INIT request; 0: not seen yet */
	/* the kernel leaves the removal of set-id bits to the daemon (Linux 5.11) */
	bool kills_setid;
	/*
	 * it can map files shared while their reads and writes bypass its cache (Linux
	 * 6.6)
	 */
	bool direct_mmap;
};

struct fsd {
	struct fs fs;
	uint64_t root; /* handle of the root directory */
	const struct log *log;
	enum cache cache;
	double attr_timeout, entry_timeout; /* s */
	/*
	 * each request has the rights of its requester, which only root may state; else
	 * all have the daemon's
	 */
	bool per_user;
	bool default_permissions; /* the kernel checks permissions */
	bool atime; /* reads update atime: relatime */
	struct gid_lists gid_lists; /* groups of users, if per_user */
	/* last log line about a requester with unknown groups; 0: never */
	_Atomic uint64_t refused_at;
	/* for programs that bypass the mount; NULL: none may */
	struct bypass_page *bypass_page;
	/* names that the kernel may keep, until a lock */
	struct dentry_cache *dentry_cache;
	struct fsync_errors *fsync_errors; /* of running fsyncs */
	struct inflight_io *inflight_io; /* READs of pages, and WRITEs */
	struct inode_cache
		*inode_cache; /* inodes and names that the kernel has */
	/* makes the kernel drop what it has of a file when a lock is granted */
	struct inval_queue *inval_queue;
	struct lock_owners *lock_owners; /* of POSIX locks */
	struct thread_hints *thread_hints; /* about a thread's next request */
	struct waiting_locks *waiting_locks;
	struct kernel_features kernel;
	/* names can expire without being dropped: see libfuse_compat.h */
	bool expires;
	struct fuse_session *se;
};

static inline struct fsd *fsd_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/*
 * Converts between a handle and the kernel's number for requests.  The kernel calls the
 * root 1; other objects have their handles as numbers.  If another object has handle 1,
 * its number is the root's handle.  The inode numbers that programs see are handles.
 */
static inline uint64_t fsd_swap(const struct fsd *d, uint64_t n)
{
	if (n == FUSE_ROOT_ID)
		return d->root;
	return n == d->root ? FUSE_ROOT_ID : n;
}

#endif
