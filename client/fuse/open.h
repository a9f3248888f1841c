/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h - files and directories that the kernel has open. */
#ifndef OPEN_H
#define OPEN_H

#include "client/fuse/call.h"

/* Returns the open file for which the kernel's file handle fh stands. */
static inline struct file *open_file(uint64_t fh)
{
	return (struct file *)(uintptr_t)fh;
}

/* Takes f->pos_lock; may wait, because a thread may hold it for a whole request to the manager. */
void open_lock_pos(struct file *f);

/* The arguments and results of an open. */
struct opening {
	struct mgr_open how; /* set by the caller, except the flags of open(2) */
	struct file *f; /* the file that was opened; the caller releases it */
	struct attr attr; /* the attributes in the manager's reply */
	struct stat st; /* the same, with the size that the iods have */
	bool want_stat;
	bool to_run; /* the kernel opens the file to execute it as a program */
};
/*
 * Opens t with the flags of open(2).  Returns 0: o->f is open, and the caller releases
 * it with file_put(); or -errno: there is no o->f.
 */
int open_target(const struct call *c, const struct target *t, int flags,
		struct opening *o);

/* Returns true if the file has bits that a write removes, for all or most writers. */
static inline bool attr_has_setid(const struct attr *a)
{
	return S_ISREG(a->mode) && a->mode & (S_ISUID | S_ISGID);
}

/*
 * Called before the request c changes the data of f.  If the requester is not privileged to keep
 * the set-id bits of f, removes them.  Returns 0 or -errno.
 */
int open_kill_setid(struct call *c, struct file *f);

/* Creates an empty file without opening it, and answers c. */
void open_create_closed(const struct call *c, const struct target *t,
			mode_t mode);

/*
 * Called before the file is truncated by its name.  Returns 0 or -errno.  -ESTALE: the file has no
 * name any more, and the kernel may have used an old name; the kernel then looks the name up again.
 */
int open_check_truncate(const struct call *c, const struct target *t,
			fuse_ino_t ino);

#endif
