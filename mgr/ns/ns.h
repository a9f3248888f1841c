/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ns.h - the name space: the effect of each operation on the store, with POSIX
 * permissions.  Networking is not part of it.
 *
 * Every operation runs in one transaction: ns_begin(), the operation, then ns_commit()
 * or ns_abort().  The operation returns 0, -errno, or
 *   NS_REDIRECT  the path leaves the file system: ns->redirect is the new path;
 *   NS_BUSY      wait until the truncation of the file op->wait (a handle) is finished;
 *   NS_ASK       first ask the iods for the size of the file op->wait (ns_store_size());
 *   NS_PAUSED    the budget of the turn is used up: op->pause has the progress; run the
 *                operation again from its start with it;
 *   NS_PART      as NS_PAUSED, but commit what the operation did so far.  If
 *                it has set op->pause->begun, the next turns have no op->cred.
 * Unless the operation returns 0 or NS_PART, the transaction must be aborted.
 */
#ifndef NS_H
#define NS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/dist/copyset.h"
#include "mgr/db/inode.h"
#include "mgr/db/intents.h"
#include "mgr/db/handle.h"
#include "mgr/db/store.h"
#include "common/wire/wire.h"

#define NS_REDIRECT 1
#define NS_BUSY 2
#define NS_ASK 3
#define NS_PAUSED 4
#define NS_PART 5

#define NS_LINK_MAX 65000u /* hard links to a file */
#define NS_LOOP_MAX 40u /* symlinks followed in one path */

/*
 * The budget of one turn of a request, in path components and rows of the database.
 * The manager has one thread; 128 steps take 0.2 to 0.5 ms of it.
 */
#define NS_TURN_STEPS 128u

/* The holds of all sessions (holds.h). */
LIST_HEAD(hold_list, file_hold);
struct holds {
	struct file_hold *opens;
	struct held_file *files;
	struct hold_session *sessions;
	unsigned int n; /* number of `opens` */
	unsigned int missing; /* sessions that have not declared their holds */
	/* holds whose RELEASE arrived before their DECLARE */
	struct hold_list early;
	struct hold_list notes; /* holds whose rows are in the open transaction */
	uint64_t next; /* the next open id; 0: none was issued yet */
	/*
	 * there may be removed files that are kept until all sessions have declared (INTENT_LATER)
	 */
	bool later;
};

struct ns {
	struct store *st;
	uint64_t root;
	uint32_t niods;
	/* defaults for a new file; pcount 0: all iods */
	uint32_t ssize, pcount;
	struct ring ring; /* of new files */
	/* the next first iod, for files without a requested one */
	uint32_t next_base;
	uint64_t inodes; /* number of inodes that are counted, as committed */
	/* inodes with handles from next to last are not counted yet; next 0: none */
	struct {
		uint64_t next, last;
	} count;
	int64_t delta; /* change of `inodes` in the open transaction */
	uint64_t removed; /* the last INTENT_REMOVE of the open transaction, or 0 */
	struct holds holds;
	struct lock_queue *lock_queues; /* lock_ranges.c */

	/*
	 * work since the start that the store does not count: path components, and steps of the
	 * same cost
	 */
	uint64_t steps;
	/* number of times that a directory got another parent, since the start */
	uint64_t moves;

	char walk[4096]; /* the rest of the path being resolved */
	/* with NS_REDIRECT: "/abs/path", or "../path", which begins at the root */
	char redirect[4096];
	size_t redirect_len;
};

struct ns_attr {
	struct store *st;
	uint32_t niods;
	uint32_t ssize, pcount;
};
/*
 * Opens the name space, or makes the root directory in an empty store.  Its transactions are
 * not flushed.  -EINVAL: the store belongs to a file system with another number of iods.
 */
int ns_open_space(struct ns *ns, const struct ns_attr *attr);
/* Whether the store has a name space, or is empty.  Errors: those of reading the store. */
int ns_exists(struct store *st, bool *exists);
/*
 * Counts some inodes, if their number was not recorded at the last stop.  No transaction may
 * be open.  true: there are more; call it again.
 */
bool ns_count_some(struct ns *ns);
/* Closes the name space.  record: writes the number of inodes to the store for the next start. */
void ns_close_space(struct ns *ns, bool record);
/*
 * Sets *id to the identity of this name space, which is unique among all name spaces.  A name space
 * that was made before identities existed has fsid as its identity.  Sets *fresh if no iod is
 * permanently bound to it yet. ns_set_bound() records that the iods are bound; a transaction must
 * be open.
 */
int ns_identity(struct ns *ns, uint64_t fsid, uint64_t *id, bool *fresh);
int ns_set_bound(struct ns *ns);

/* All work since the start: rows accessed plus path components looked up. */
uint64_t ns_work(const struct ns *ns);

int ns_begin(struct ns *ns);
int ns_commit(struct ns *ns);
void ns_abort(struct ns *ns);

struct ns_cred {
	uint32_t uid, gid;
	uint32_t ngroups;
	const uint32_t *groups;
	bool sorted; /* groups are in ascending order */
	/* root's group in groups counts as this gid; 0: unchanged */
	uint32_t root_gid;
};

/* Progress of a walk from a directory up to the root (rename.c).  All zero: not begun. */
struct ns_climb {
	uint64_t from, at; /* directories */
	uint64_t moves; /* ns->moves at the start */
	/* number of restarts because directories were moved meanwhile */
	unsigned int again;
};

/* Progress of a request that has used up the budget of a turn; zeroed before the first turn. */
struct ns_pause {
	/* resolve.c: one for each path; NULL: not begun */
	struct ns_walk *walk[2];
	struct ns_climb climb[2];
	/* lock_ranges.c: the queue in which the request waits or is first, or NULL */
	struct lock_queue *lock;
	TAILQ_ENTRY(ns_pause) lock_next;
	/* holds.c: a file that is losing its last name, or NULL */
	struct held_file *held;
	/* which of the files that the request names this is */
	unsigned int which;
	/* earlier turns are committed, so the request must be completed */
	bool begun;
};
/*
 * Frees the resources of pause and zeroes it.  Call it when the request ends, or before it waits
 * for something else.  The request then starts over.
 */
void ns_pause_end(struct ns *ns, struct ns_pause *pause);

struct ns_op {
	struct ns *ns;
	struct ns_pause *pause; /* NULL: turns are unlimited */
	unsigned int walks; /* paths looked up in this turn */
	/*
	 * The user of the request.  NULL after an NS_PART if pause->begun: that turn has
	 * checked the permissions, and the request is completed even if they have changed.
	 */
	const struct ns_cred *cred;
	uint64_t session;
	int64_t now; /* ns since the epoch */
	/* for new inodes, unless the directory has a default ACL */
	uint32_t umask;
	/* WIRE_FT_* of the client: which attributes it gets */
	uint32_t features;
	uint64_t truncated; /* handle of the file whose O_TRUNC is done; 0: none */
	bool asked; /* the iods were asked for the size, as NS_ASK demands */
	uint64_t wait; /* NS_BUSY, NS_ASK: the handle */
	/*
	 * a file about whose space the manager should ask the iods in the background
	 * (ns_is_unsure()); 0: none
	 */
	uint64_t unsure;
	unsigned int which; /* NS_REDIRECT: 1: it concerns the second path */
	/*
	 * the session will declare its holds after a restart of the manager, and this
	 * is durable
	 */
	bool declares;
	/* the operation changed only holds of a file, so the reply need not wait for the flush */
	bool held;
	bool kept; /* with `held`: it changed the holds only in memory */
	/* this DECLARE was the last one: after the commit, the caller calls ns_all_declared() */
	bool declared;
};

/*
 * A path of len bytes, not terminated by NUL, that starts at the directory dir (0: the root).  len
 * 0: the directory itself.
 */
struct ns_path {
	uint64_t dir;
	const char *path;
	size_t len;
};

int ns_getattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       struct inode *ino);
/* Converts an inode to the form of the wire that the client of op understands. */
void ns_fill_attr(const struct ns_op *op, const struct inode *ino,
		  struct wire_attr *attr);
/* Whether the user of op has this access: 0 or -EACCES.  mask: R_OK, W_OK, X_OK. */
int ns_access(struct ns_op *op, const struct ns_path *path, uint32_t mask);

struct ns_open_args {
	struct ns_path path;
	uint32_t flags; /* WIRE_O_* */
	uint32_t mode; /* of a new file */
	struct dist dist; /* of a new file; UINT32_MAX: default */
};
/*
 * Opens a file, or creates it.  *open: the id of the open; 0: none, because the file is open for
 * reading without WIRE_O_HOLD.  *truncate true: nothing was done, because the file must be
 * truncated first (O_TRUNC).  Truncate it, and call this function again with op->truncated.
 */
int ns_open(struct ns_op *op, const struct ns_open_args *args,
	    struct inode *ino, uint64_t *open, bool *truncate);

struct ns_release_args {
	uint64_t handle;
	uint64_t open;
	uint64_t end; /* bytes; highest end of a write */
	int64_t mtime; /* of the last write, or read */
	uint32_t flags; /* WIRE_R_* */
};
/* -EBADF: no such open record. */
int ns_release(struct ns_op *op, const struct ns_release_args *args);
/* Drops one open record of a session that ended without a RELEASE.  -ENOENT: none is left. */
int ns_drop_open(struct ns_op *op, uint64_t session);

/*
 * Call it at the start of the manager for each session that declares holds.  Until all of
 * these sessions have declared, or have ended, files without a name stay, because a
 * session may hold them.  -ENOMEM.
 */
int ns_expect_declare(struct ns *ns, uint64_t session);
/*
 * Adds a hold of the session of op, as its DECLARE says, unless the hold was released meanwhile.  A
 * repeated call has no effect.
 */
struct ns_hold {
	uint64_t handle, open;
};
int ns_declare(struct ns_op *op, const struct ns_hold *hold);
/* The session has declared all its holds.  Call it outside of transactions. */
void ns_all_declared(struct ns *ns, uint64_t session);
/*
 * Call it repeatedly.  After all sessions have declared, frees records that are no longer
 * needed: the releases that arrived before the DECLARE of their hold.  At most NS_FORGET_HOLDS
 * are freed in one call.  Returns true if there may be more.
 */
bool ns_tidy_holds(struct ns *ns);
/* The number of holds that the session has only in memory. */
uint32_t ns_count_holds(struct ns *ns, uint64_t session);
/*
 * Call it when the session has ended: from now on no rows are written for its holds.
 * ns_forget_holds() then removes them from memory.
 */
void ns_session_ended(struct ns *ns, uint64_t session);
/*
 * Forgets holds of the session in memory, at most as many as one turn allows.  true:
 * there are more.
 */
#define NS_FORGET_HOLDS (8u * NS_TURN_STEPS)
bool ns_forget_holds(struct ns *ns, uint64_t session);
/*
 * Removes one of the files without a name that were kept until all sessions have declared, if
 * nobody holds it.  -ENOENT: there is none.
 */
int ns_remove_later(struct ns_op *op);

/* A right to open a file that a session has open. ns_may_grant() returns 0, -EBADF or -EACCES. */
struct ns_grant {
	uint64_t session, open, handle;
	uint32_t flags; /* WIRE_O_READ, WIRE_O_WRITE */
};
int ns_may_grant(struct ns_op *op, const struct ns_grant *grant);
/*
 * Opens the file of the grant with flags (WIRE_O_*), without a check of the mode.  *ino and
 * *open are as for ns_open().  -EBADF: the granting session no longer has the file open.
 */
int ns_redeem(struct ns_op *op, const struct ns_grant *grant, uint32_t flags,
	      struct inode *ino, uint64_t *open);

/*
 * Transfers an open, and the locks of the owner and of the process, from args->session to
 * the session of op.  Both must belong to the same user.  One call moves no more locks
 * than one transaction should.  *done: WIRE_AD_*.  -ESTALE: args->session has ended or is
 * unknown; -EPERM: it belongs to another user.
 */
struct ns_adopt_args {
	uint64_t session, handle, open, owner;
	uint32_t uid; /* user of the sessions, before squashing */
	bool process;
};
int ns_adopt(struct ns_op *op, const struct ns_adopt_args *args,
	     uint32_t *done);
/*
 * Whether user uid (before squashing) may adopt from `session`.  0: he may; -ESTALE: the
 * session has ended; -EPERM: it belongs to another user, or is the session of op.
 */
int ns_may_adopt(struct ns_op *op, uint64_t session, uint32_t uid);

struct ns_setattr_args {
	uint32_t valid; /* WIRE_S_* */
	uint32_t mode, uid, gid;
	int64_t atime, mtime;
	uint64_t open; /* WIRE_S_KILL: an open record of a writer, or 0 */
};
int ns_setattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       const struct ns_setattr_args *args, struct inode *ino);

int ns_mkdir(struct ns_op *op, const struct ns_path *path, uint32_t mode,
	     struct inode *ino);
int ns_rmdir(struct ns_op *op, const struct ns_path *path);
/* *dir: the attributes of the directory after the change. */
int ns_unlink(struct ns_op *op, const struct ns_path *path, struct inode *dir);
/* flags: WIRE_RN_*. */
int ns_rename(struct ns_op *op, const struct ns_path *from,
	      const struct ns_path *to, uint32_t flags);
struct ns_mknod_args {
	struct ns_path path;
	uint32_t mode; /* type and permission bits */
	uint32_t major, minor;
};
int ns_mknod(struct ns_op *op, const struct ns_mknod_args *args,
	     struct inode *ino);
int ns_link(struct ns_op *op, const struct ns_path *from,
	    const struct ns_path *to, struct inode *ino);
int ns_symlink(struct ns_op *op, const char *target, size_t len,
	       const struct ns_path *path, struct inode *ino);
/* *target is in ns->redirect, until the next operation. */
int ns_readlink(struct ns_op *op, const struct ns_path *path,
		const char **target, size_t *len);

struct ns_xattr {
	struct ns_path path;
	const char *name;
	size_t nlen;
	const void *value; /* the value to set */
	size_t len;
	uint32_t flags; /* WIRE_X_* */
};
/* -ENOSPC: the inode has WIRE_XATTRS_MAX attributes. */
int ns_setxattr(struct ns_op *op, const struct ns_xattr *x);
/* value: WIRE_XATTR_MAX bytes. */
int ns_getxattr(struct ns_op *op, const struct ns_xattr *x, void *value,
		size_t *len);
int ns_removexattr(struct ns_op *op, const struct ns_xattr *x);
/* Lists the attributes that the caller may see.  buf: WIRE_XATTR_LIST_MAX bytes. */
int ns_listxattr(struct ns_op *op, const struct ns_path *path, char *buf,
		 size_t *len);

struct ns_readdir_args {
	uint64_t dir;
	uint64_t cookie;
	bool plus; /* struct wire_direntplus, else struct wire_dirent */
	void *buf;
	size_t cap;
};
struct ns_listing {
	uint32_t bytes; /* records in buf */
	uint32_t count;
	bool eof;
};
/*
 * Returns no more entries than one turn allows.  -EINVAL: cap is too small for the next
 * entries.
 */
int ns_readdir(struct ns_op *op, const struct ns_readdir_args *args,
	       struct ns_listing *list);

/*
 * Truncation to size bytes.  ns_truncate() checks the permission: open is an open record
 * that grants it, or 0.  The caller has set in->slot, in->seq and in->op.  After 0 and
 * in->id 0, the truncation is done.  After 0 and another in->id, the intent *in is
 * recorded; when it is durable, the caller sends the truncation to the iods.
 * ns_end_truncate() ends the truncation, in a transaction of its own; status: the result
 * of the iods, 0 or -errno.
 */
int ns_truncate(struct ns_op *op, const struct ns_path *path, uint64_t size,
		uint64_t open, struct intent *in);
int ns_end_truncate(struct ns_op *op, const struct intent *in, int status);

/*
 * Reserves len bytes at the end of the file for an append; *offset: the first of them.  len 0: the
 * open will also write elsewhere.  While such an open exists, the manager does not know the end of
 * the file.
 */
int ns_append(struct ns_op *op, uint64_t handle, uint64_t open, uint64_t len,
	      uint64_t *offset);

struct ns_lock_args {
	uint64_t handle, owner;
	uint64_t start, end; /* bytes; end INT64_MAX: without end */
	uint32_t type; /* WIRE_L_UNLOCK, ... */
	uint32_t flags; /* WIRE_L_* */
};
/*
 * Takes, releases or tests a lock.  0: done.  A test returns 0 and sets *other to a lock that
 * conflicts; its type is WIRE_L_UNLOCK if none does.  -EAGAIN: the lock *other conflicts.
 * -ENOLCK: too many locks, of the session on this file, of its user or of all users.
 * -ESTALE: the file does not exist.  -EACCES: the session may neither read nor write the
 * file.  NS_PAUSED: also if older requests of the same session and owner come first.
 */
struct lock_rec;
int ns_lock(struct ns_op *op, const struct ns_lock_args *args,
	    struct lock_rec *other);
/*
 * Drops locks of an ended session on one file, at most as many as one transaction
 * should.  -ENOENT: none is left.
 */
#define NS_DROP_LOCKS NS_TURN_STEPS
int ns_drop_locks(struct ns_op *op, uint64_t session);

/* Whether only the iods know the size of the file, and their answer can be stored. */
bool ns_must_ask(const struct inode *ino);
/*
 * Whether it is unknown if the file has holes, although its size is known, and an answer of the
 * iods can be stored.
 */
bool ns_is_unsure(const struct inode *ino);
/* An answer of the iods about a file. */
struct ns_size {
	uint64_t size;
	uint64_t blocks; /* of 512 bytes, of all objects */
	int64_t mtime; /* 0: no object exists */
};
/*
 * Stores an answer of the iods about the file.  gen: the inode's gen when the iods were
 * asked.  The caller makes sure that no truncation has run since.  Call it in a
 * transaction of its own.
 */
int ns_store_size(struct ns_op *op, uint64_t handle, uint32_t gen,
		  const struct ns_size *now);

#endif
