/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - the state of the library in a process: one table of mounts and one of
 * descriptors, which only process.c contains.  pvfs_open(), like open(2), has no parameter that
 * names them.  The first call of the library creates the tables, in a child after fork() again.
 * They are closed when the program exits.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include "client/lib/file/file.h"
#include "client/lib/names/mounted.h"

bool process_has_mounts(void);
/* Returns the mount of an absolute path, or NULL; *rest is the rest of the path. */
struct fs *process_find(const char *path, const char **rest);
/* Returns mount number i, or NULL. */
const struct mount *process_mount(unsigned int i);

/*
 * Starts the deadline of a call (call_context.h).  Returns the file that fd has open, or NULL.
 * The caller releases it with file_put().
 */
struct file *process_file(int fd);
/* See fdtable_reserve(). */
int process_reserve(bool cloexec);
/* Calls fdtable_set(), and file_put() for the previous file of fd.  Returns 0 or -ENOMEM. */
int process_set(int fd, struct file *f);
/* Called after FD_CLOEXEC of fd was set or cleared. */
void process_cloexec(int fd);

/*
 * If the file is on a mount of PVFS, replaces st_dev in *st, which fstatat(2) filled, with that
 * of libpvfs.  Parameters: see mounted_find().
 */
void process_show_dev(int dir, const char *path, int flags, struct stat *st);

const struct log *process_log(void);
/* The timeout in ms for mounts that set none. */
unsigned int process_timeout_ms(void);
/* Returns a number that differs between a child after fork() and its parent. */
unsigned int process_forks(void);

#endif
