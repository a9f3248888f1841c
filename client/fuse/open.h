/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h - open files and directories of the kernel's. */
#ifndef OPEN_H
#define OPEN_H

#include "client/fuse/call.h"

/* What the kernel has as fh. */
static inline struct file *open_file(uint64_t fh)
{
	return (struct file *)(uintptr_t)fh;
}

/* f->pos_lock, which others have for as long as the mgr takes. */
void open_lock_pos(struct file *f);

struct opening {
	struct mgr_open how;
	struct file *f; /* without a session; the caller's */
	struct attr attr; /* what the mgr answered */
	struct stat st; /* with the size that the iods told */
	bool want_stat;
	bool to_run; /* the kernel opens a program */
};
/* 0, and o->f is open; or -errno, and it is gone.  flags: of open(2). */
int open_run(const struct call *c, const struct target *t, int flags,
	     struct opening *o);

/* It has bits that a write takes away, from all or from most. */
static inline bool attr_lends(const struct attr *a)
{
	return S_ISREG(a->mode) && a->mode & (S_ISUID | S_ISGID);
}

/* Before f is changed by who may not leave set-id bits there, and asks c. */
int open_kill(struct call *c, struct file *f);

/* An empty file, which nobody has open: answers c. */
void open_new(const struct call *c, const struct target *t, mode_t mode);

/*
 * Before the file is truncated by its name.  -ESTALE: it has no name any more, and the kernel may
 * have come to it by one that it keeps: it looks that up anew.
 */
int open_check_cut(const struct call *c, const struct target *t,
		   fuse_ino_t ino);

#endif
