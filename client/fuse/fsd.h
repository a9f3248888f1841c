/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsd.h - what pvfs-fuse knows: the file system, and how it is shown to the
 * kernel.
 */
#ifndef FSD_H
#define FSD_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include "client/lib/file/file.h"

struct again;
struct cuts;
struct drops;
struct entry_table;
struct fills;
struct gone;
struct lacks;
struct marks;
struct named;
struct owners;
struct syncs;
struct told;
struct versions;
struct waits;

/* What of a file the kernel may keep (docs/mount.md). */
enum cache {
	CACHE_NONE, /* nothing: each read sees all writes that returned */
	CACHE_OPEN /* its pages, if nobody changed the file since */
};

/* What the kernel has beyond libfuse: newer.h. */
struct newer {
	uint64_t init; /* number of its INIT request; 0: there was none yet */
	bool kills; /* it leaves taking set-id bits away to us (Linux 5.11) */
	bool mmap; /* it maps files shared whose reads and writes go past its
		    * cache (Linux 6.6) */
};

struct fsd {
	struct fs fs;
	uint64_t root; /* handle of the root directory */
	const struct log *log;
	enum cache cache;
	double attr_timeout, entry_timeout; /* s */
	bool many; /* users: each request counts for who asks, which root alone
		    * may say; else all count for who runs this */
	bool checked; /* by the kernel, who may what (default_permissions) */
	bool atime; /* reads count: relatime */
	bool suid; /* programs that run from here may get rights by that */
	struct listed listed; /* groups of users that are in many */
	_Atomic uint64_t refused_at; /* when the log was last told of one whose
				      * groups are not known; 0: never */
	struct marks *marks; /* files not to be gone past; NULL: none may be */
	struct again *again; /* what the kernel asks twice */
	struct cuts *cuts; /* that it makes by itself */
	struct drops *drops; /* what it keeps, dropped as a lock is granted */
	struct entry_table *entries; /* names that it may keep, until a lock */
	struct fills *fills; /* pages that it asks for while they are written */
	struct gone *gone; /* what was removed, and it still has */
	struct lacks
		*lacks; /* what objects do not have, that is asked for apart */
	struct named *named; /* what names stand for */
	struct owners *owners; /* of POSIX locks that were taken */
	struct syncs *syncs; /* that are under way */
	struct told *told; /* of files that were made */
	struct versions *versions; /* of files whose pages the kernel has */
	struct waits *waits; /* for locks */
	struct newer newer;
	bool expires; /* names, without dropping them (Linux 6.2) */
	struct fuse_session *se;
};

static inline struct fsd *fsd_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* The kernel calls the root 1; all others go by their handles.  A handle of 1
 * that is not the root's goes by that one. */
static inline uint64_t fsd_swap(const struct fsd *d, uint64_t n)
{
	if (n == FUSE_ROOT_ID)
		return d->root;
	return n == d->root ? FUSE_ROOT_ID : n;
}

#endif
