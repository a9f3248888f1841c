/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse_daemon.h - the state of pvfs-fuse: the file system, and how it is presented to the
 * kernel.
 */
#ifndef FUSE_DAEMON_H
#define FUSE_DAEMON_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "client/fuse/requester_groups.h"
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

/* Cache modes: the data of a file that the kernel may keep (docs/posix.md). */
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

/*
 * The state of the serving process, which its threads share.  fs and the modules below
 * have their own locks.  The other fields do not change after INIT, except atomic ones.
 */
struct fuse_daemon {
	/* the file system */
	struct fs fs;
	uint64_t root; /* handle of the root directory */
	const struct log *log;
	struct gid_lists gid_lists; /* groups of users, if per_user */
	struct requester_users long_lists; /* users with many groups */
	/* last log line about a requester with unknown groups; 0: never */
	_Atomic uint64_t groups_warned_at;

	/* how it is presented, according to the options of the mount */
	enum cache cache;
	double attr_timeout, entry_timeout; /* s */
	/*
	 * true: a request is sent in the name of its requester, which only root may do;
	 * false: all requests are sent in the name of the daemon's user
	 */
	bool per_user;
	bool default_permissions; /* the kernel checks permissions */
	/* reads update atime: relatime; a remount may change it */
	atomic_bool atime;
	int mounts_watch; /* mount_point_watch(); negative: none */
	pthread_mutex_t mounts_lock; /* for the use of mounts_watch */
	unsigned int minor; /* mount_point_minor(); 0: unknown */

	/* the kernel */
	struct fuse_session *se;
	struct kernel_features kernel;
	/* names can expire without being dropped: libfuse_compat.h */
	bool can_expire_names;

	/* modules, each described in the header of its name */
	struct bypass_page *bypass_page; /* NULL: no program bypasses the mount */
	struct dentry_cache *dentry_cache;
	struct fsync_errors *fsync_errors;
	struct inflight_io *inflight_io;
	struct inode_cache *inode_cache;
	struct inval_queue *inval_queue;
	struct lock_owners *lock_owners;
	struct thread_hints *thread_hints;
	struct waiting_locks *waiting_locks;
};

/* Returns the daemon that serves the request. */
static inline struct fuse_daemon *fuse_daemon_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/*
 * Converts a handle to the kernel's node number, and back.  The node number of the root is 1;
 * that of another object is its handle.  If an object other than the root has the handle 1, its
 * node number is the root's handle.  The inode numbers that programs see are handles.
 */
static inline uint64_t fuse_daemon_swap_ino(const struct fuse_daemon *d,
					    uint64_t n)
{
	if (n == FUSE_ROOT_ID)
		return d->root;
	return n == d->root ? FUSE_ROOT_ID : n;
}

#endif
