/* SPDX-License-Identifier: BSD-2-Clause */
/* dir.h - entries of an open directory, fetched many at a time. */
#ifndef DIR_H
#define DIR_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct file;
/* Allocated with malloc().  The file frees it with free(). */
struct dir_entries;

/*
 * Fills buf, of len bytes, with the next entries of f as struct dirent records.  The caller
 * holds f->pos_lock.  Returns the number of bytes; 0: the end, or the directory was removed;
 * or -errno.
 */
ssize_t dir_fill(struct file *f, void *buf, size_t len);
/* Copies the next entry to *d; dir_pass() then advances.  Returns 1; 0: the end; or -errno. */
int dir_look(struct file *f, struct dirent *d);
void dir_pass(struct file *f);
/* Drops the buffered entries.  The caller has set f->pos to another position. */
void dirbuf_reset(struct dir_entries *b);
/*
 * Completes fstat(2) of the directory f after stat_get_open(), which returned rc and set *st.
 * If the directory was removed, sets *st to the attributes that this process last saw, with
 * link count 0.  Returns 0 or -errno; -ESTALE: the directory was removed, and this program has
 * not seen its attributes.
 */
int dir_stat(struct file *f, int rc, struct stat *st);

#endif
