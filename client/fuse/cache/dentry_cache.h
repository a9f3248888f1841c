/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dentry_cache.h - names, present and absent, that the kernel may keep for a while.  When
 * a process gets a lock, the kernel's names in the directory of the locked file must not
 * be older than the lock.
 *
 *	a name is answered	dentry_cache_add()	recorded, and how long it may be kept
 *	a lock is requested	dentry_cache_lock_dir()	from now on the kernel keeps none there
 *	the lock is granted	dentry_cache_expire()	the recorded names expire
 *
 * A lock request states a file, not a name: see dentry_cache_dir_of().  If the directory
 * is not known, all directories of the mount count as one.
 *
 * At the grant, a LOOKUP that the manager answered earlier may still be in the daemon
 * or the kernel:
 *
 *	answered after the lock request		the kernel does not keep it, nor one that
 *						took very long
 *	... before, for a new dentry		dentry_cache_expire() waits for it: the
 *						kernel holds the directory's lock
 *	... before, for an old dentry		the kernel holds no lock, and counts the
 *						time from when its thread continues, at
 *						most DENTRY_CACHE_SETTLE_MS later:
 *						dentry_cache_expire() waits
 */
#ifndef DENTRY_CACHE_H
#define DENTRY_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Time from a reply until the kernel's thread has used it.  An estimate: the kernel
 * does not tell.
 */
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

/*
 * timeout: for how many seconds the kernel keeps names; 0: not at all.  Returns NULL if
 * there is no memory.
 */
struct dentry_cache *dentry_cache_new(double timeout);
void dentry_cache_free(struct dentry_cache *c);

/*
 * Called before the reply with dentry, to a request that began at begun (clock_now()).
 * Returns for how many seconds the kernel may keep it.
 */
double dentry_cache_add(struct dentry_cache *c, const struct dentry *dentry,
			uint64_t begun);
/*
 * Called before the reply to a rename: the kernel moves what it keeps to the new name.
 * swaps: the two names change places.  The handles are those of the objects before the
 * rename; 0: unknown, then files of that directory count as being in any.
 */
void dentry_cache_rename(struct dentry_cache *c, const struct dentry *from,
			 const struct dentry *to, bool swaps);

/*
 * Returns the directory of the object's last recorded name; 0: unknown, or maybe
 * several.
 */
uint64_t dentry_cache_dir_of(struct dentry_cache *c, uint64_t handle);

/*
 * Returns true if the kernel may have reached the object by a name that it keeps,
 * without a new lookup.
 */
bool dentry_cache_may_hold(struct dentry_cache *c, uint64_t handle);

/* A file for which a lock is requested. */
struct dentry_file {
	uint64_t handle;
	uint64_t opened; /* the result of dentry_cache_dir_of() at its open */
};
/* Called before the lock is requested: the kernel keeps no more names there. */
void dentry_cache_lock_dir(struct dentry_cache *c, const struct dentry_file *f);

typedef void dentry_expire_fn(const struct dentry *dentry, void *arg);
/*
 * Called before the thread gets its lock on f.  Calls expire(dentry, arg) for each name
 * that the kernel may have.  Waits for requests in that directory, so the threads that
 * serve these must not call it.
 */
void dentry_cache_expire(struct dentry_cache *c, const struct dentry_file *f,
			 pid_t thread, dentry_expire_fn *expire, void *arg);

#endif
