/* SPDX-License-Identifier: BSD-2-Clause */
/* mdbi.h - blocks of an array in a file, with one buffered superblock. */
#ifndef MDBI_H
#define MDBI_H

#include "client/lib/api.h"
#include "client/lib/file/file.h"

struct mdbi;

struct mdbi_shape {
	int dims, record;
	int ne[PVFS_MDBI_DIMS_MAX]; /* elements of a block */
	int nb[PVFS_MDBI_DIMS_MAX]; /* number of blocks */
};

/*
 * Attaches a new struct mdbi to f.  When f is closed, it frees the struct and drops data that
 * was not flushed.  Returns 0 or -ENOMEM.
 */
int mdbi_new(struct file *f);

/* set_blk(), buf_blk() etc.  Return 0 or -errno.  fd is used only if f is an ordinary file. */
int mdbi_set(struct mdbi *m, struct file *f, int fd,
	     const struct mdbi_shape *shape);
int mdbi_buffer(struct mdbi *m, struct file *f, int fd, const int *factor);
/* Returns the number of dimensions set, or 0. */
int mdbi_dims(struct mdbi *m);
int mdbi_read(struct mdbi *m, struct file *f, int fd, char *buf,
	      const int *index);
int mdbi_write(struct mdbi *m, struct file *f, int fd, const char *buf,
	       const int *index);
/* Writes buffered data and empties the buffer. */
int mdbi_flush(struct mdbi *m, struct file *f, int fd);

#endif
