/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries.h - names of directories, present and absent, that the kernel may keep for a while.
 * When a process gets a lock, the names in the directory of the locked file must not be older.
 *
 *	a name is answered	entries_keep()		noted, and how long it may be kept
 *	a lock is asked for	entries_lock()		from now on none is kept there
 *	the lock is granted	entries_expire()	those that are noted expire
 *
 * The kernel tells us files and not names: entries_dir().  If the directory is not known, all
 * directories of the mount count as the one.
 *
 * A LOOKUP that the manager answered before the grant may be under way here, or in the kernel:
 *
 *	answered here after entries_lock()	it is not kept; nor is one that took very long
 *	... before, for a new dentry		entries_expire() waits for it: the kernel holds the
 *						directory's lock
 *	... before, for a dentry of before	the kernel holds no lock, and counts the time from
 *						when its thread goes on: ENTRIES_SETTLE_MS at most,
 *						for which entries_expire() waits
 */
#ifndef ENTRIES_H
#define ENTRIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From an answer to when the kernel's thread has taken it.  A guess: nothing says when. */
#define ENTRIES_SETTLE_MS 50u

struct entry_table;

struct entry_name {
	uint64_t dir;
	const char *name;
	uint64_t handle; /* 0: it is absent */
	bool is_dir;
	bool linked; /* it has other names, maybe elsewhere */
	pid_t thread; /* that asked; 0: not known */
};

/* timeout: for how long, s; 0: nothing is kept.  NULL: no memory. */
struct entry_table *entries_new(double timeout);
void entries_free(struct entry_table *e);

/* Before a request of begun (clock_now()) is answered with what: for how long the kernel may
 * keep that, s. */
double entries_keep(struct entry_table *e, const struct entry_name *what,
		    uint64_t begun);
/* Before a rename is answered: the kernel keeps what it has of the one name as the other.  swaps:
 * and the reverse. */
void entries_moved(struct entry_table *e, const struct entry_name *from,
		   const struct entry_name *to, bool swaps);

/* The directory in which the object was named last; 0: it is not known, or may be several. */
uint64_t entries_dir(struct entry_table *e, uint64_t handle);

/* The kernel may have come to the object by a name that it keeps, and not by one that it has just
 * looked up. */
bool entries_may_keep(struct entry_table *e, uint64_t handle);

/* A file of these: opened says what entries_dir() said at its open. */
struct entries_file {
	uint64_t handle, opened;
};
void entries_lock(struct entry_table *e, const struct entries_file *f);

/* Before thread hears that it has a lock on f: calls expire with each name that the kernel may
 * have.  Waits for requests in that directory: not for a thread that carries these out. */
typedef void entries_expire_fn(const struct entry_name *name, void *arg);
void entries_expire(struct entry_table *e, const struct entries_file *f,
		    pid_t thread, entries_expire_fn *expire, void *arg);

#endif
