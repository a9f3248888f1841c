/* SPDX-License-Identifier: BSD-2-Clause */
/* ns_int.h - what the operations share. */
#ifndef NS_INT_H
#define NS_INT_H

#include "mgr/db/dent.h"
#include "mgr/ns/ns.h"
#include "mgr/db/sessions.h"

/* ---- permissions.c ---- */

bool ns_is_owner(const struct ns_cred *cred, const struct inode *ino);
bool ns_in_group(const struct ns_cred *cred, uint32_t gid);
/* 0 or -EACCES; mask: R_OK, W_OK, X_OK. */
int ns_may(const struct ns_op *op, const struct inode *ino, uint32_t mask);
/* Whether entries may be made in dir: 0, -EACCES, -ENOSPC. */
int ns_may_create(struct ns_op *op, const struct inode *dir);
/* Whether the entry of victim may be removed from dir: 0, -EACCES, -EPERM. */
int ns_may_delete(const struct ns_op *op, const struct inode *dir,
		  const struct inode *victim);
/*
 * Whether this session has ino open for writing under that id, which grants the right
 * to write.
 */
bool ns_is_writer(const struct ns_op *op, const struct inode *ino,
		  uint64_t open);
/* Returns mode without the set-id bits that a write or a new owner clears. */
uint32_t mode_without_suid(uint32_t mode);
/* Clears these bits of ino for cred, which may not be in the group of ino. */
void ns_clear_suid(const struct ns_cred *cred, struct inode *ino);
/* Removes the capabilities of the file (capabilities(7)). */
int ns_clear_capabilities(struct ns_op *op, const struct inode *ino);

/* ---- open.c ---- */

/* Makes an open record of a writer, and updates the size state of ino. */
int ns_record_writer(struct ns_op *op, uint32_t flags, struct inode *ino,
		     uint64_t *open);

/* ---- lock_ranges.c ---- */

/* Adds `more` (may be negative) to the number of locks of the session on the file. -ENOLCK */
int lock_count_add(struct store *st, uint64_t session, uint64_t handle,
		   int more);
/* Removes the record of that number if the session has no lock on the file any more. */
int lock_count_drop(struct store *st, uint64_t session, uint64_t handle);
/*
 * If a request needs several turns to change the locks of one holder (session, owner)
 * on one file and space, it begins a queue.  Later requests for these locks enter the
 * queue and run in order of arrival: otherwise the next turn of the older request would
 * undo what a newer one did.  Only the first request in a queue runs, and it waits for
 * no other request.
 */
struct lock_rec;
/* 0; NS_PAUSED: requests of the holder of rec come first.  Changes nothing. */
int lock_queue_check(const struct ns_op *op, const struct lock_rec *rec);
/* No effect on a request that is in no queue. */
void lock_queue_leave(struct ns *ns, struct ns_pause *pause);

/* ---- resolve.c ---- */

/* The kind of the last component of a path. */
enum ns_last {
	NS_LAST_NAME,
	NS_LAST_DOT,
	NS_LAST_DOTDOT,
	NS_LAST_SELF, /* the path has no component: its start */
};

struct ns_place {
	enum ns_last last;
	bool slash; /* slashes after the last component */
	bool found; /* ino is set */
	/* LAST_NAME: the directory of the entry, existing or not */
	struct inode dir;
	char name[DENT_NAME_MAX]; /* LAST_NAME */
	size_t len;
	struct inode ino;
};

#define NS_FOLLOW 0x1u /* also follow a symlink in the last component */
#define NS_ENTRY                                                               \
	0x2u /* the entry itself: may be missing; slashes do not follow it */
/* 0, -errno or NS_REDIRECT. */
int ns_resolve(struct ns_op *op, const struct ns_path *path, unsigned int flags,
	       struct ns_place *place);

/* ---- file_size.c ---- */

void size_add_writer(struct inode *ino, uint64_t session, bool append);
/*
 * Only this session has the file open for writing, once, and there was no truncation
 * and no unclean release: the manager and this session together know the end of the
 * file.
 */
bool size_is_sole(const struct inode *ino, uint64_t session);
void size_release_writer(struct inode *ino, bool append,
			 const struct ns_release_args *args);
void size_drop_writer(struct inode *ino, bool append);
/* No iod need be told: the file already has this size. */
bool size_equals(const struct inode *ino, uint64_t size);
void size_begin_resize(struct inode *ino);
void size_end_resize(struct inode *ino, uint64_t size, int status);

/* 0, or NS_BUSY with op->wait: a truncation of the file is running. */
int ns_check_busy(struct ns_op *op, const struct inode *ino);
/* The other effects of a truncation: on times, set-id bits and capabilities. */
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
/* Counts one more subdirectory of dir, whose ".." refers to dir: 0, -EMLINK. */
int ns_add_subdir(struct inode *dir);
/* Prepares the loss of a name, before any other change.  0, or NS_PART: not complete yet. */
int ns_before_drop_link(struct ns_op *op, struct inode *ino);
/* Whether ns->inodes has this inode: it counts only once. */
bool ns_is_counted(const struct ns *ns, uint64_t handle);
/* Drops one name: writes the inode, or removes it with its data. */
int ns_drop_link(struct ns_op *op, struct inode *ino);
/* Writes the inode, or removes it if nothing keeps it. */
int ns_put_or_remove(struct ns_op *op, struct inode *ino);

#endif
