/* SPDX-License-Identifier: BSD-2-Clause */
/* dir.h - entries of an open directory, fetched many at a time. */
#ifndef DIR_H
#define DIR_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct file;
/* In memory of malloc(); the file frees it with free(). */
struct dir_entries;

/*
 * The caller holds f->pos_lock.  Returns the bytes of struct dirent records, 0 at the
 * end, -errno.  A removed directory has no entries.
 */
ssize_t dir_fill(struct file *f, void *buf, size_t len);
/* Gets one entry without advancing; dir_pass() advances.  Returns 1, 0 at the end, -errno. */
int dir_look(struct file *f, struct dirent *d);
void dir_pass(struct file *f);
/*
 * Drops buffered entries, so that the next one comes from the manager.  Called after
 * f->pos was set.
 */
void dirbuf_reset(struct dir_entries *b);
/*
 * Completes fstat(2), where rc and *st are the result of stat_get_open().  If the
 * directory was removed, sets *st to the attributes last seen, with link count 0.
 * Returns 0 or -errno: -ESTALE if they were not seen since exec(2).
 */
int dir_stat(struct file *f, int rc, struct stat *st);

#endif
