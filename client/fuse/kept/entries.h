/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries.h - names, present and absent, that the kernel may keep for a while.  When a
 * process gets a lock, the kernel's names in the directory of the locked file must not
 * be older than the lock.
 *
 *	a name is answered	entries_keep()		recorded, and how long it may be kept
 *	a lock is requested	entries_lock()		from now on the kernel keeps none there
 *	the lock is granted	entries_expire()	the recorded names expire
 *
 * A lock request names a file, not a name: see entries_dir().  If the directory is not
 * known, all directories of the mount count as one.
 *
 * At the grant, a LOOKUP that the manager answered earlier may still be in the daemon
 * or the kernel:
 *
 *	answered after entries_lock()		the kernel does not keep it; nor one that took
 *						very long
 *	... before, for a new dentry		entries_expire() waits for it: the kernel holds
 *						the directory's lock
 *	... before, for an old dentry		the kernel holds no lock, and counts the time
 *						from when its thread continues, at most
 *						ENTRIES_SETTLE_MS later: entries_expire() waits
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Time from a reply until the kernel's thread has used it.  An estimate: the kernel
 * does not tell.
 */
#define ENTRIES_SETTLE_MS 50u

struct entry_table;

struct entry_name {
	uint64_t dir;
	const char *name;
	uint64_t handle; /* 0: the name is absent */
	bool is_dir;
	bool linked; /* has other names, maybe in other directories */
	pid_t thread; /* the requesting thread; 0: unknown */
};

/* timeout: how long the kernel keeps names, s; 0: not at all.  NULL: no memory. */
struct entry_table *entries_new(double timeout);
void entries_free(struct entry_table *e);

/*
 * Called before the reply, with what, to a request that began at begun (clock_now()).
 * Returns for how many seconds the kernel may keep it.
 */
double entries_keep(struct entry_table *e, const struct entry_name *what,
		    uint64_t begun);
/*
 * Called before the reply to a rename: the kernel moves what it keeps to the new name.
 * swaps: the two names change places.  The handles are those of the objects before the
 * rename; 0: unknown, then files of that directory count as being in any.
 */
void entries_moved(struct entry_table *e, const struct entry_name *from,
		   const struct entry_name *to, bool swaps);

/*
 * Returns the directory of the object's last recorded name; 0: unknown, or maybe
 * several.
 */
uint64_t entries_dir(struct entry_table *e, uint64_t handle);

/*
 * True: the kernel may have reached the object by a name that it keeps, without a new
 * lookup.
 */
bool entries_may_keep(struct entry_table *e, uint64_t handle);

/* A file; opened: what entries_dir() returned at its open. */
struct entries_file {
	uint64_t handle, opened;
};
void entries_lock(struct entry_table *e, const struct entries_file *f);

/*
 * Called before the thread gets its lock on f.  Calls expire for each name that the
 * kernel may have.  Waits for requests in that directory, so the threads that serve
 * these must not call it.
 */
typedef void entries_expire_fn(const struct entry_name *name, void *arg);
void entries_expire(struct entry_table *e, const struct entries_file *f,
		    pid_t thread, entries_expire_fn *expire, void *arg);

#endif
