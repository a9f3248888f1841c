/* SPDX-License-Identifier: BSD-2-Clause */
/* ns_int.h - what the operations share. */
#ifndef NS_INT_H
#define NS_INT_H

#include "mgr/db/dent.h"
#include "mgr/ns/ns.h"
#include "mgr/db/opens.h"

/* ---- perm.c ---- */

bool ns_is_owner(const struct ns_cred *cred, const struct inode *ino);
bool ns_in_group(const struct ns_cred *cred, uint32_t gid);
/* 0 or -EACCES; mask: R_OK, W_OK, X_OK. */
int ns_may(const struct ns_op *op, const struct inode *ino, uint32_t mask);
/* May entries be made in dir: 0, -EACCES, -ENOSPC. */
int ns_may_create(struct ns_op *op, const struct inode *dir);
/* May the entry of victim be taken out of dir: 0, -EACCES, -EPERM. */
int ns_may_delete(const struct ns_op *op, const struct inode *dir,
		  const struct inode *victim);
/* Mode without the bits that a write or a new owner takes away. */
/* Has this session ino open for writing, under that id?  Who has may write. */
bool ns_opened(const struct ns_op *op, const struct inode *ino, uint64_t open);
uint32_t ns_drop_suid(uint32_t mode);
/* ... by cred, whose group it may not be. */
void ns_lose_suid(const struct ns_cred *cred, struct inode *ino);
/* Capabilities of the file (capabilities(7)) end. */
int ns_lose_caps(struct ns_op *op, const struct inode *ino);

/* ---- open.c ---- */

/* An open record of a writer, with what it means for the size. */
int ns_record_writer(struct ns_op *op, uint32_t flags, struct inode *ino,
		     uint64_t *open);

/* ---- lock.c ---- */

/* The session has so many rows more of the file, or fewer.  -ENOLCK */
int lock_count(struct store *st, uint64_t session, uint64_t handle, int more);
/* ... and if those were the last, no word of it stays. */
int lock_forgotten(struct store *st, uint64_t session, uint64_t handle);

/* ---- resolve.c ---- */

/* What the last component of a path is. */
enum ns_last {
	NS_LAST_NAME,
	NS_LAST_DOT,
	NS_LAST_DOTDOT,
	NS_LAST_SELF, /* there is none: the start itself */
};

struct ns_place {
	enum ns_last last;
	bool slash; /* slashes behind the last component */
	bool found; /* ino is set */
	struct inode dir; /* LAST_NAME: where it is or would be */
	char name[DENT_NAME_MAX]; /* LAST_NAME */
	size_t len;
	struct inode ino;
};

#define NS_FOLLOW 0x1u /* a symlink in the last place too */
#define NS_ENTRY                                                               \
	0x2u /* the entry itself is wanted: it may be
				 * missing, and slashes do not follow */
/* 0, -errno or NS_REDIRECT. */
int ns_resolve(struct ns_op *op, const struct ns_path *path, unsigned int flags,
	       struct ns_place *place);

/* ---- size.c ---- */

void size_opened(struct inode *ino, uint64_t session, bool append);
/* Only this session has it open for writing, once, and all that changed it was a
 * writer: where it ends is known here and to that one. */
bool size_is_sole(const struct inode *ino, uint64_t session);
void size_released(struct inode *ino, bool append,
		   const struct ns_release_args *args);
void size_dropped(struct inode *ino, bool append);
/* No iod need be told: the file is empty, or has just this size. */
bool size_is(const struct inode *ino, uint64_t size);
void size_resizing(struct inode *ino);
void size_resized(struct inode *ino, uint64_t size, int status);

/* ---- truncate.c ---- */

/* 0, or NS_BUSY with op->wait: a truncation of the file is under way. */
int ns_busy(struct ns_op *op, const struct inode *ino);
/* What else a truncation changes: times, set-id bits, capabilities. */
int ns_cut(struct ns_op *op, struct inode *ino);

/* ---- link.c ---- */

/* A new inode, not yet in any directory; its handle is set, and with it what the
 * directory's access control lists say of it. */
int ns_inode_new(struct ns_op *op, uint32_t mode, const struct inode *dir,
		 struct inode *ino);
/* Puts the inode, enters it at place, and touches the directory. */
int ns_enter(struct ns_op *op, struct ns_place *place, struct inode *ino);
/* Entries of dir changed. */
void ns_touch(struct ns_op *op, struct inode *dir);
/* dir holds one directory more, whose ".." names it: 0, -EMLINK. */
int ns_add_subdir(struct inode *dir);
/* First of all changes: what the loss of a name needs.  0, or NS_PART: not yet all. */
int ns_before_drop(struct ns_op *op, struct inode *ino);
/* One name less: puts it, or removes it with its data. */
int ns_drop_link(struct ns_op *op, struct inode *ino);
/* Puts it, or removes it if nothing holds it any more. */
int ns_settle(struct ns_op *op, struct inode *ino);

#endif
