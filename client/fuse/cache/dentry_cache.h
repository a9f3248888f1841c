/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dentry_cache.h - a record of the names (present and absent ones) that the kernel may keep for a
 * while.  When a process gets a lock, the kernel must not use older names in the directory of the
 * locked file.
 *
 *   reply with a name	dentry_cache_add()	records it, and says how long it may be kept
 *   lock is requested	dentry_cache_lock_dir()	from now on the kernel keeps no names there
 *   lock is granted	dentry_cache_expire()	the recorded names expire
 *
 * A lock request has a file, not a name.  dentry_cache_dir_of() finds its directory.  If that is
 * unknown, the lock concerns all directories of the mount.
 *
 * When a lock is granted, an older reply of the manager to a LOOKUP may still be in the daemon or
 * the kernel.  The kernel does not use it for longer than the lock permits:
 *
 * - If the manager answered after the lock request, or took very long, the daemon tells the kernel
 *   not to keep the name.
 * - If it answered before, for a dentry that is new in the kernel, dentry_cache_expire() waits for
 *   the LOOKUP, because the kernel holds the directory's lock meanwhile.
 * - If it answered before, for an existing dentry, the kernel holds no lock, and counts the time
 *   from when its thread continues.  This is at most DENTRY_CACHE_SETTLE_MS later, and
 *   dentry_cache_expire() waits for that time.
 */
#ifndef DENTRY_CACHE_H
#define DENTRY_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Estimated maximum time in ms from a reply until the kernel's thread has used it. */
#define DENTRY_CACHE_SETTLE_MS 50u

struct dentry_cache;

/* A name in a directory. */
struct dentry {
	uint64_t dir; /* handle of the directory */
	const char *name;
	uint64_t handle; /* of the object; 0: the name is absent */
	bool is_dir;
	bool linked; /* has other names, maybe in other directories */
	pid_t thread; /* the requesting thread; 0: unknown */
};

/* timeout: the seconds for which the kernel keeps names; 0: not at all.  NULL: no memory. */
struct dentry_cache *dentry_cache_new(double timeout);
void dentry_cache_free(struct dentry_cache *c);

/*
 * Called before the reply with dentry, to a request that began at begun (clock_now()).
 * Returns the seconds for which the kernel may keep the name.
 */
double dentry_cache_add(struct dentry_cache *c, const struct dentry *dentry,
			uint64_t begun);
/*
 * Called before the reply to a rename, after which the kernel also renames what it keeps.
 * swaps: from and to are exchanged.  from->handle and to->handle are the objects before the
 * rename.  If one is 0 (unknown), files that were in its directory may now be in any directory.
 */
void dentry_cache_rename(struct dentry_cache *c, const struct dentry *from,
			 const struct dentry *to, bool swaps);

/* Returns the directory of the object's last recorded name; 0: unknown, or not the only one. */
uint64_t dentry_cache_dir_of(struct dentry_cache *c, uint64_t handle);

/*
 * Returns true if the kernel may have found the object by a name that it keeps, without asking
 * the daemon again.
 */
bool dentry_cache_may_hold(struct dentry_cache *c, uint64_t handle);

/* A file for which a lock is requested. */
struct dentry_file {
	uint64_t handle;
	uint64_t opened; /* the result of dentry_cache_dir_of() at its open */
};
/*
 * Called before a lock on f is requested: from now on the kernel keeps no names in its directory.
 */
void dentry_cache_lock_dir(struct dentry_cache *c, const struct dentry_file *f);

typedef void dentry_expire_fn(const struct dentry *dentry, void *arg);
/*
 * Called before the thread gets its lock on f.  Calls expire(dentry, arg) for each name in the
 * directory of f that the kernel may have.  It waits for requests in that directory, so a thread
 * that serves requests of the kernel must not call it.
 */
void dentry_cache_expire(struct dentry_cache *c, const struct dentry_file *f,
			 pid_t thread, dentry_expire_fn *expire, void *arg);

#endif
