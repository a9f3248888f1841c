/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ns.h - the name space: the effect of each operation on the store, with POSIX
 * permissions.  Networking is not part of it.
 *
 * Every operation runs in one transaction: ns_begin(), the operation, then ns_commit()
 * or ns_abort().  The operation returns 0, -errno, or
 *   NS_REDIRECT  the path leaves the file system: ns->redirect is the new path;
 *   NS_BUSY      wait until the truncation of op->wait is finished;
 *   NS_ASK       first ask the iods for the size of op->wait (ns_store_size());
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

#include "common/dist/dist.h"
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

/* The readers that hold files: holds.c. */
LIST_HEAD(hold_list, file_hold);
struct holds {
	struct file_hold *opens;
	struct held_file *files;
	struct hold_session *sessions;
	unsigned int n; /* opens */
	unsigned int missing; /* sessions that have not declared their holds */
	struct hold_list early; /* released before they were declared */
	struct hold_list notes; /* their rows are in the open transaction */
	uint64_t next; /* the next open id; 0: none was issued yet */
	bool later; /* there may be an INTENT_LATER */
};

struct ns {
	struct store *st;
	uint64_t root;
	uint32_t niods;
	/* defaults for a new file; pcount 0: all iods */
	uint32_t ssize, pcount;
	uint32_t next_base; /* distributes files without a requested base */
	uint64_t inodes; /* number of those that are counted, committed */
	/* inodes with handles from next to last are to be counted; next 0: none */
	struct {
		uint64_t next, last;
	} count;
	int64_t delta; /* change of `inodes` in the open transaction */
	uint64_t removed; /* its last INTENT_REMOVE, or 0 */
	struct holds holds;
	struct lock_queue *lock_queues; /* lock_ranges.c */

	/* path components looked up since the start, and other work of the same cost */
	uint64_t steps;
	/* directories that got another parent, since the start */
	uint64_t moves;

	char walk[4096]; /* the rest of the path being resolved */
	char redirect[4096]; /* "/abs/path", or "../path" from the root */
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
 * Counts some inodes, if their number was not recorded at the last stop.  No transaction may be open.  true:
 * call it again.
 */
bool ns_count_some(struct ns *ns);
/* record: records the number of inodes for the next start. */
void ns_close_space(struct ns *ns, bool record);
/*
 * *id: the identity of this name space, unique among all that were ever made.  A name
 * space from before there were identities gets fsid.  *fresh: no iod is permanently
 * bound to it yet.  ns_set_bound() ends that; a transaction must be open.
 */
int ns_identity(struct ns *ns, uint64_t fsid, uint64_t *id, bool *fresh);
int ns_set_bound(struct ns *ns);

/* All work so far: rows accessed and path components looked up. */
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

/* Progress on the way up to the root, see rename.c.  Zeroed: not begun. */
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
	/* lock_ranges.c: where it is first or waits, or NULL */
	struct lock_queue *lock;
	TAILQ_ENTRY(ns_pause) lock_next;
	/* holds.c: a file that is losing its last name, or NULL */
	struct held_file *held;
	/* index of that file among those that the request names */
	unsigned int which;
	/* others see what it has done so far: the request must be completed */
	bool begun;
};
/* Frees the resources of pause.  After waiting for something else, a request starts over. */
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
	uint64_t truncated; /* the file whose O_TRUNC is done */
	bool asked; /* the size was asked for, as NS_ASK demands */
	uint64_t wait; /* NS_BUSY, NS_ASK: the handle */
	/*
	 * a file that the manager should ask the iods about while nobody waits:
	 * ns_is_unsure(); 0: none
	 */
	uint64_t unsure;
	unsigned int which; /* NS_REDIRECT: 1: it concerns the second path */
	/*
	 * the session will declare its holds after a restart of the manager, and this
	 * is durable
	 */
	bool declares;
	/* the operation changed only holds of a file: the reply need not wait for the flush */
	bool held;
	bool kept; /* ... and changed them only in memory */
	bool declared; /* commit, then call ns_all_declared() */
};

/* A path below dir (0: the root).  Empty: dir itself.  It has no NUL. */
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
/* mask: R_OK, W_OK, X_OK. */
int ns_access(struct ns_op *op, const struct ns_path *path, uint32_t mask);

struct ns_open_args {
	struct ns_path path;
	uint32_t flags; /* WIRE_O_* */
	uint32_t mode; /* of a new file */
	uint32_t base, pcount, ssize; /* of a new file; UINT32_MAX: default */
};
/*
 * *open: the id of the open record, or 0 (read only).  *truncate: nothing was done,
 * because the file must be truncated first; then call again with op->truncated.
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
 * After a restart: `session` declares holds and has not done so yet.  Until each such
 * session has declared or is forgotten, files without a name stay, because one of the
 * sessions may hold them.  -ENOMEM.
 */
int ns_expect_declare(struct ns *ns, uint64_t session);
/*
 * The session of op holds this file, unless the hold was released meanwhile.  A
 * repeated call has no effect.
 */
struct ns_hold {
	uint64_t handle, open;
};
int ns_declare(struct ns_op *op, const struct ns_hold *hold);
/* The session has declared all its holds.  Call it outside of transactions. */
void ns_all_declared(struct ns *ns, uint64_t session);
/*
 * Once all sessions have declared: drops a part of the data that was kept until then.
 * true: there is more.
 */
bool ns_tidy_holds(struct ns *ns);
/* The number of holds that the session has only in memory. */
uint32_t ns_count_holds(struct ns *ns, uint64_t session);
/* The session has ended: its holds are no longer stored, and will be forgotten. */
void ns_session_ended(struct ns *ns, uint64_t session);
/*
 * Forgets holds of the session in memory, at most as many as one turn allows.  true:
 * there are more.
 */
#define NS_FORGET_HOLDS (8u * NS_TURN_STEPS)
bool ns_forget_holds(struct ns *ns, uint64_t session);
/* Removes one of the kept files, if nobody holds it.  -ENOENT: there is none. */
int ns_remove_later(struct ns_op *op);

/* Whether the session may grant its open file to others: 0, -EBADF, -EACCES. */
struct ns_grant {
	uint64_t session, open, handle;
	uint32_t flags; /* WIRE_O_READ, WIRE_O_WRITE */
};
int ns_may_grant(struct ns_op *op, const struct ns_grant *grant);
/*
 * Opens as ns_open() does, but by the grant.  -EBADF: the granting session no longer
 * has it open.
 */
int ns_redeem(struct ns_op *op, const struct ns_grant *grant, uint32_t flags,
	      struct inode *ino, uint64_t *open);

/*
 * Transfers from another session of the same user to this one: an open record, and the
 * locks of the owner and of the process.  One call moves no more locks than one
 * transaction should.  *done: WIRE_AD_*.  -ESTALE: that session has ended or is
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
 * Whether user uid (before squashing) may adopt from the session.  0; -ESTALE: it has
 * ended; -EPERM: it belongs to another user or is the caller's own.
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
/* *dir: the directory after the change. */
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
 * Truncation.  ns_truncate() checks.  Then either the truncation is done (in->id 0), or
 * it is recorded in *in; the caller sets in->slot, seq and op beforehand.  Once *in is
 * durable, the iods are told.  ns_end_truncate() ends the truncation, in a transaction of
 * its own, with the result of the iods (0 or -errno).  open: an open record that grants
 * the permission, or 0.
 */
int ns_truncate(struct ns_op *op, const struct ns_path *path, uint64_t size,
		uint64_t open, struct intent *in);
int ns_end_truncate(struct ns_op *op, const struct intent *in, int status);

/*
 * *offset: the first of len bytes reserved at the end of the file.  len 0: this open
 * record will also write elsewhere, so the manager does not know the end while the
 * record exists.
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
 * -EAGAIN: *other conflicts.  A test returns 0 and *other, whose type is WIRE_L_UNLOCK
 * if nothing conflicts.  -ENOLCK: the session has too many locks on the file, or its
 * user or all users have too many.  -ESTALE: the file does not exist; -EACCES: the
 * session may neither read nor write it.  NS_PAUSED: older requests
 * of the session and owner come first.
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

/* true: the size must be asked of the iods, and the answer can be stored. */
bool ns_must_ask(const struct inode *ino);
/* true: the size is known, but not whether the file has holes; an answer can be stored. */
bool ns_is_unsure(const struct inode *ino);
/* An answer of the iods about a file. */
struct ns_size {
	uint64_t size;
	uint64_t blocks; /* of 512 bytes, of all objects */
	int64_t mtime; /* 0: no object exists */
};
/*
 * Stores an answer of the iods.  gen: the inode's gen at the time of the question.  No
 * truncation may have run since.  Call it in a transaction of its own.
 */
int ns_store_size(struct ns_op *op, uint64_t handle, uint32_t gen,
		  const struct ns_size *now);

#endif
