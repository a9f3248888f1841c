/* SPDX-License-Identifier: BSD-2-Clause */
/* ns_int.h - functions that the files of mgr/ns share, in the order of these files. */
#ifndef NS_INT_H
#define NS_INT_H

#include "mgr/db/dent.h"
#include "mgr/ns/ns.h"
#include "mgr/db/sessions.h"

/* ---- permissions.c ---- */

bool ns_is_owner(const struct ns_cred *cred, const struct inode *ino);
bool ns_in_group(const struct ns_cred *cred, uint32_t gid);
/* Whether the user of op has this access to ino: 0 or -EACCES.  mask: R_OK, W_OK, X_OK. */
int ns_may(const struct ns_op *op, const struct inode *ino, uint32_t mask);
/*
 * Whether the user of op may make entries in dir: 0, -EACCES, or -ENOSPC if the store has no
 * room.
 */
int ns_may_create(struct ns_op *op, const struct inode *dir);
/*
 * Whether the user of op may remove the entry of victim from dir: 0, -EACCES, or -EPERM (sticky
 * directory).
 */
int ns_may_delete(const struct ns_op *op, const struct inode *dir,
		  const struct inode *victim);
/*
 * Whether the session of op has ino open for writing with the id `open`.  Such an open
 * grants the right to write, whatever the mode is.
 */
bool ns_is_writer(const struct ns_op *op, const struct inode *ino,
		  uint64_t open);
/* Returns mode without the set-id bits that a write or a new owner clears. */
uint32_t mode_without_suid(uint32_t mode);
/*
 * Clears the set-id bits of ino that a change by cred clears.  The set-group-ID bit depends on
 * whether cred is in the group of ino.
 */
void ns_clear_suid(const struct ns_cred *cred, struct inode *ino);
/* Removes security.capability of the file (capabilities(7)).  Errors are those of the store. */
int ns_clear_capabilities(struct ns_op *op, const struct inode *ino);

/* ---- attr.c ---- */

/*
 * Returns false if the data of ino is in a ring of copysets and the client is of an earlier
 * release.  Such a client would look for the data at other iods, so it may not open the file.
 */
bool ns_client_knows_ring(const struct ns_op *op, const struct inode *ino);

/* ---- open.c ---- */

/* Makes an open record of a writer, and updates the size state of ino. */
int ns_record_writer(struct ns_op *op, uint32_t flags, struct inode *ino,
		     uint64_t *open);

/* ---- lock_ranges.c ---- */

/*
 * Adds `more` (may be negative) to the number of locks of the session on the file.  -ENOLCK: the
 * session, its user or all users would have too many; errors of the store.
 */
int lock_count_add(struct store *st, uint64_t session, uint64_t handle,
		   int more);
/* Removes the row with the number of locks, if the session has no lock on the file any more. */
int lock_count_drop(struct store *st, uint64_t session, uint64_t handle);
/*
 * If a request needs several turns to change the locks of one holder (session, owner)
 * on one file and space, it begins a queue.  Later requests for these locks enter the
 * queue and run in order of arrival: otherwise the next turn of the older request would
 * undo what a newer one did.  Only the first request in a queue runs, and it waits for
 * no other request.
 */
struct lock_rec;
/*
 * Whether the request of op may change locks of the holder of rec.  0: yes.  NS_PAUSED: older
 * requests of the holder come first.  Does not enter the queue.
 */
int lock_queue_check(const struct ns_op *op, const struct lock_rec *rec);
/* Takes the request of pause out of its queue.  No effect on a request that is in no queue. */
void lock_queue_leave(struct ns *ns, struct ns_pause *pause);

/* ---- resolve.c ---- */

/* The kind of the last component of a path. */
enum ns_last {
	NS_LAST_NAME,
	NS_LAST_DOT,
	NS_LAST_DOTDOT,
	NS_LAST_SELF, /* the path has no component, and stands for its start */
};

struct ns_place {
	enum ns_last last;
	bool slash; /* slashes after the last component */
	bool found; /* the path exists, and ino is set */
	/* with NS_LAST_NAME: the directory of the entry, which may not exist, and its name */
	struct inode dir;
	char name[DENT_NAME_MAX];
	size_t len;
	struct inode ino;
};

#define NS_FOLLOW 0x1u /* also follow a symlink in the last component */
/* NS_ENTRY: the entry itself, which may be missing; a slash after it follows no symlink */
#define NS_ENTRY 0x2u
/*
 * Looks a path up and fills *place.  flags: NS_FOLLOW, NS_ENTRY.  0, -errno, NS_REDIRECT, or
 * NS_PAUSED if the budget of the turn is used up.
 */
int ns_resolve(struct ns_op *op, const struct ns_path *path, unsigned int flags,
	       struct ns_place *place);

/* ---- file_size.c ---- */

void size_add_writer(struct inode *ino, uint64_t session, bool append);
/*
 * Whether only this session has the file open for writing, once, and there was no
 * truncation and no unclean release.  Then the manager and this session together know the
 * end of the file.
 */
bool size_is_sole(const struct inode *ino, uint64_t session);
/* now: the manager's time. */
void size_release_writer(struct inode *ino, bool append,
			 const struct ns_release_args *args, int64_t now);
void size_drop_writer(struct inode *ino, bool append);
/*
 * Whether the manager knows that the file has this size already, so that no iod need truncate it.
 */
bool size_equals(const struct inode *ino, uint64_t size);
void size_begin_resize(struct inode *ino);
void size_end_resize(struct inode *ino, uint64_t size, int status);

/* 0, or NS_BUSY if a truncation of the file is running; then op->wait is its handle. */
int ns_check_busy(struct ns_op *op, const struct inode *ino);
/* Changes times, set-id bits and security.capability, as a truncation does.  The size stays. */
int ns_truncate_attrs(struct ns_op *op, struct inode *ino);

/* ---- link.c ---- */

/*
 * Initializes a new inode that is in no directory yet.  Sets its handle, and applies
 * the access control lists of the directory.
 */
int ns_inode_new(struct ns_op *op, uint32_t mode, const struct inode *dir,
		 struct inode *ino);
/* Writes the inode, enters it at place, and updates the times of the directory. */
int ns_add_entry(struct ns_op *op, struct ns_place *place, struct inode *ino);
/* Updates the times of dir after a change of its entries. */
void ns_touch_dir(struct ns_op *op, struct inode *dir);
/* Counts one more subdirectory (a link) of dir: 0, or -EMLINK if dir has too many. */
int ns_add_subdir(struct inode *dir);
/*
 * Call it before any other change of a request that removes a name of ino.  If it is the last name,
 * writes rows for the holds of the file.  0, -errno, or NS_PART: call it again in the next turn.
 */
int ns_before_drop_link(struct ns_op *op, struct inode *ino);
/* Whether ns->inodes already includes the inode with this handle (ns_count_some()). */
bool ns_is_counted(const struct ns *ns, uint64_t handle);
/* Drops one name: writes the inode, or removes it with its data. */
int ns_drop_link(struct ns_op *op, struct inode *ino);
/* Writes the inode, or removes it if nothing keeps it. */
int ns_put_or_remove(struct ns_op *op, struct inode *ino);

#endif
