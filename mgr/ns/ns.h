/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ns.h - the name space: what each operation does to the store, with POSIX
 * permissions, and nothing of networking.
 *
 * Every operation runs in one transaction: ns_begin(), the operation, then
 * ns_commit() or ns_abort().  It answers 0, -errno, or
 *   NS_REDIRECT  the path leaves the file system: ns->redirect tells where to;
 *   NS_BUSY      wait until the truncation of op->wait is finished;
 *   NS_ASK       ask the iods for the size of op->wait first (ns_asked());
 *   NS_PAUSED    the turn's budget is used up: op->pause keeps how far it got, run it
 *                again from its start with that;
 *   NS_PART      the same, and what it has done so far is to be committed.
 * Unless it answers 0 or NS_PART, the transaction must be aborted.
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
 * The budget of one turn of a request: path components, and rows of the data base.  The
 * manager has one thread; 128 take 0.2 to 0.5 ms of it.
 */
#define NS_TURN_STEPS 128u

/* Who reads and holds which file: holds.c. */
LIST_HEAD(hold_list, hold);
struct holds {
	struct hold *opens;
	struct held *files;
	struct holder *sessions;
	unsigned int n; /* opens */
	unsigned int missing; /* sessions that have not declared */
	struct hold_list early; /* released before they were declared */
	struct hold_list notes; /* their rows are in the open transaction */
	uint64_t next; /* open id; 0: none was given */
	bool later; /* there may be an INTENT_LATER */
};

struct ns {
	struct store *st;
	uint64_t root;
	uint32_t niods;
	uint32_t ssize, pcount; /* defaults for a new file; pcount 0: all */
	uint32_t next_base; /* spreads files without a wish */
	uint64_t inodes; /* committed */
	int64_t delta; /* of the open transaction */
	uint64_t removed; /* ... its last INTENT_REMOVE, or 0 */
	struct holds holds;

	uint64_t steps; /* path components ever looked at, and what took as long */
	uint64_t moves; /* directories that came to lie in another one, ever */

	char walk[4096]; /* what is left of the path being resolved */
	char redirect[4096]; /* "/abs/path", or "../path" from the root */
	size_t redirect_len;
};

struct ns_attr {
	struct store *st;
	uint32_t niods;
	uint32_t ssize, pcount;
};
/* Makes the root directory in an empty store.  -EINVAL: the store belongs to
 * a file system with another number of iods. */
int ns_open_space(struct ns *ns, const struct ns_attr *attr);
/* Remembers the number of inodes for the next start. */
void ns_close_space(struct ns *ns);
/*
 * Which name space this is, of all that were ever made (one from before there were
 * identities: that of the file system), and whether it is fresh: no iod has
 * been bound to it for good.  That ends with ns_bound(), durably.
 */
int ns_identity(struct ns *ns, uint64_t fsid, uint64_t *id, bool *fresh);
int ns_bound(struct ns *ns);

/* All work that was done so far: the rows and path components that were looked at. */
uint64_t ns_work(const struct ns *ns);

int ns_begin(struct ns *ns);
int ns_commit(struct ns *ns);
void ns_abort(struct ns *ns);

struct ns_cred {
	uint32_t uid, gid;
	uint32_t ngroups;
	const uint32_t *groups;
	bool sorted; /* groups ascend */
	uint32_t root_gid; /* as which root's group counts among groups; 0: as itself */
};

/* A way up to the root, see rename.c; zeroed: not begun. */
struct ns_climb {
	uint64_t from, at; /* directories */
	uint64_t moves; /* ns->moves when it began */
	unsigned int again; /* so often: directories were moved meanwhile */
};

/* How far a request is that has used up the budget of a turn; zeroed before the first one. */
struct ns_pause {
	struct ns_walk *walk[2]; /* resolve.c: of each path; NULL: not begun */
	struct ns_climb climb[2];
	struct lock_node *lock; /* lock.c: reserved; or NULL */
	struct held *held; /* holds.c: a file that loses its last name; or NULL */
	unsigned int which; /* ... of those that the request names */
	bool begun; /* others see what it has done: it must come to its end */
};
/* Frees what it keeps.  A request that waits for something else starts over behind it. */
void ns_pause_end(struct ns *ns, struct ns_pause *pause);

struct ns_op {
	struct ns *ns;
	struct ns_pause *pause; /* NULL: no turn ends it */
	unsigned int walks; /* paths that were looked up in this turn */
	const struct ns_cred *cred;
	uint64_t session;
	int64_t now; /* ns since the epoch */
	uint32_t umask; /* for what is made, unless the directory has a list */
	uint32_t features; /* WIRE_FT_* of who asks: what of an inode is shown */
	uint64_t truncated; /* the file for which O_TRUNC is carried out */
	bool asked; /* NS_ASK has been obeyed */
	uint64_t wait; /* NS_BUSY, NS_ASK: the handle */
	uint64_t unsure; /* the file of which the iods should be asked, while
			  * nobody waits: ns_is_unsure(); 0: none */
	unsigned int which; /* NS_REDIRECT: 1: the second path */
	bool declares; /* the session will tell a next life of the manager what
			* it holds (DECLARE), and durably so */
	bool held; /* all that changed is who holds a file: nobody need wait
		    * until that is durable */
	bool kept; /* ... and that only in memory */
	bool declared; /* commit, then ns_declared() */
};

/* A path below dir (0: the root); empty: dir itself.  No NUL inside. */
struct ns_path {
	uint64_t dir;
	const char *path;
	size_t len;
};

int ns_getattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       struct inode *ino);
/* An inode as the wire shows it to who asks. */
void ns_show(const struct ns_op *op, const struct inode *ino,
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
 * *open: the id of the open record, or 0 (read only).  *truncate: nothing was
 * done, the file must become empty first (then again with op->truncated).
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
/* Drops one open record of a session that ended without a word.
 * -ENOENT: none is left. */
int ns_drop_open(struct ns_op *op, uint64_t session);

/*
 * After a restart.  Sessions that declare, and have not: until each of them has, or is
 * forgotten, a file without a name stays, as one of them may hold it.  -ENOMEM.
 */
int ns_undeclared(struct ns *ns, uint64_t session);
/* It holds this, unless that was released meanwhile; again does nothing. */
struct ns_hold {
	uint64_t handle, open;
};
int ns_declare(struct ns_op *op, const struct ns_hold *hold);
/* ... and that is all; outside of transactions. */
void ns_declared(struct ns *ns, uint64_t session);
/* Once all have: drops some of what was only kept until then; true: there is more. */
bool ns_tidy_holds(struct ns *ns);
/* How many files it holds in memory alone. */
uint32_t ns_held(struct ns *ns, uint64_t session);
/* It has ended: what it holds is not stored any more, and is to be forgotten. */
void ns_session_over(struct ns *ns, uint64_t session);
/* Forgets some of what it holds in memory, no more than a turn should; true: there is more. */
#define NS_FORGET_HOLDS (8u * NS_TURN_STEPS)
bool ns_forget_holds(struct ns *ns, uint64_t session);
/* One of the files that stayed: removed, if nobody holds it.  -ENOENT: there is none. */
int ns_remove_later(struct ns_op *op);

/* May the session give others what it has open: 0, -EBADF, -EACCES.  flags: WIRE_O_*. */
struct ns_grant {
	uint64_t session, open, handle;
	uint32_t flags; /* WIRE_O_READ, WIRE_O_WRITE */
};
int ns_may_grant(struct ns_op *op, const struct ns_grant *grant);
/* As ns_open() of what was granted.  -EBADF: it is not open there any more. */
int ns_redeem(struct ns_op *op, const struct ns_grant *grant, uint32_t flags,
	      struct inode *ino, uint64_t *open);

/*
 * What another session of the same user has of a file becomes this one's: the open,
 * and the locks of the owner and of the process, no more of them than a transaction
 * should hold.  *done: WIRE_AD_*.  -ESTALE: that session has ended, or never had
 * anything; -EPERM: it is another user's.
 */
struct ns_adopt_args {
	uint64_t session, handle, open, owner;
	uint32_t uid; /* who the sessions are, whomever they count as */
	bool process;
};
int ns_adopt(struct ns_op *op, const struct ns_adopt_args *args,
	     uint32_t *done);
/* May a user uid (before he is squashed) adopt it: 0; -ESTALE: it is over; -EPERM: it is not
 * his, or its own. */
int ns_may_adopt(struct ns_op *op, uint64_t session, uint32_t uid);

struct ns_setattr_args {
	uint32_t valid; /* WIRE_S_* */
	uint32_t mode, uid, gid;
	int64_t atime, mtime;
	uint64_t open; /* WIRE_S_KILL: who has it may; or 0 */
};
int ns_setattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       const struct ns_setattr_args *args, struct inode *ino);

int ns_mkdir(struct ns_op *op, const struct ns_path *path, uint32_t mode,
	     struct inode *ino);
int ns_rmdir(struct ns_op *op, const struct ns_path *path);
/* *dir: the directory, as it is then. */
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
/* *target lives in ns->redirect until the next operation. */
int ns_readlink(struct ns_op *op, const struct ns_path *path,
		const char **target, size_t *len);

struct ns_xattr {
	struct ns_path path;
	const char *name;
	size_t nlen;
	const void *value; /* of a set */
	size_t len;
	uint32_t flags; /* WIRE_X_* */
};
/* -ENOSPC: there are WIRE_XATTRS_MAX. */
int ns_setxattr(struct ns_op *op, const struct ns_xattr *x);
/* value: WIRE_XATTR_MAX bytes. */
int ns_getxattr(struct ns_op *op, const struct ns_xattr *x, void *value,
		size_t *len);
int ns_removexattr(struct ns_op *op, const struct ns_xattr *x);
/* Those that who asks may see; buf: WIRE_XATTR_LIST_MAX bytes. */
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
	uint32_t bytes; /* written to buf: records */
	uint32_t count;
	bool eof;
};
/* No more than a turn should look at.  -EINVAL: cap is too small for the next entries. */
int ns_readdir(struct ns_op *op, const struct ns_readdir_args *args,
	       struct ns_listing *list);

/*
 * Truncation.  ns_truncate() checks; then either it is done (in->id 0), or it has
 * recorded *in (the caller fills in->slot, seq and op beforehand): once that is
 * durable the iods are told, and ns_resized() ends it, in a transaction of its own, with what
 * the iods said (0 or -errno).  open: an open record that stands for the permission, or 0.
 */
int ns_truncate(struct ns_op *op, const struct ns_path *path, uint64_t size,
		uint64_t open, struct intent *in);
int ns_resized(struct ns_op *op, const struct intent *in, int status);

/*
 * *offset: the first of len bytes reserved at the end of the file.  len 0: who has open
 * will write elsewhere too, so that the end is not known here while he has.
 */
int ns_append(struct ns_op *op, uint64_t handle, uint64_t open, uint64_t len,
	      uint64_t *offset);

struct ns_lock_args {
	uint64_t handle, owner;
	uint64_t start, end; /* bytes; end: INT64_MAX: for ever */
	uint32_t type; /* WIRE_L_UNLOCK, ... */
	uint32_t flags; /* WIRE_L_* */
};
/*
 * -EAGAIN: *other is in the way (of a test: 0 with other->type).  -ENOLCK: the
 * session has too many on the file, or in all.  -ESTALE: it is gone; -EACCES: neither
 * readable nor writable to the session.
 */
struct lock_rec;
int ns_lock(struct ns_op *op, const struct ns_lock_args *args,
	    struct lock_rec *other);
/* Drops locks of an ended session on one file, no more than a transaction should
 * hold; -ENOENT: none is left. */
#define NS_DROP_LOCKS NS_TURN_STEPS
int ns_drop_locks(struct ns_op *op, uint64_t session);

/* True: the size must be asked of the iods, and the answer can be kept. */
bool ns_must_ask(const struct inode *ino);
/* True: its size is known, but not whether it has holes, and an answer can be kept. */
bool ns_is_unsure(const struct inode *ino);
/* What the iods say of a file. */
struct ns_size {
	uint64_t size;
	uint64_t blocks; /* of 512 bytes, of all objects */
	int64_t mtime; /* 0: nothing there */
};
/*
 * They said it.  gen: the inode's when they were asked.  No truncation may have run
 * since.  In a transaction of its own.
 */
int ns_asked(struct ns_op *op, uint64_t handle, uint32_t gen,
	     const struct ns_size *now);

#endif
