/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - the single instance that the C interface uses.  Like open(2), pvfs_open()
 * names no instance.  So a process has one table of mounts and one of descriptors, in
 * process.c only.  The first call creates them.  In a child after fork(), the first call
 * recreates them.  They are closed when the program exits.
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
 * Starts the deadline of a call (call_context.h).  Returns the file of a descriptor, with a
 * reference for file_put(), or NULL.
 */
struct file *process_file(int fd);
/* See fdtable_reserve(). */
int process_reserve(bool cloexec);
/* As fdtable_set(); also releases the previous file of fd. */
int process_set(int fd, struct file *f);
/* Called after FD_CLOEXEC of fd was set or cleared. */
void process_cloexec(int fd);

/*
 * Changes st, a result of the kernel: for a file on a mount of PVFS, st_dev becomes that
 * of libpvfs; see mounted_find().
 */
void process_show_dev(int dir, const char *path, int flags, struct stat *st);

const struct log *process_log(void);
/* The timeout in ms for mounts that set none. */
unsigned int process_timeout_ms(void);
/* Differs between a child and its parent. */
unsigned int process_forks(void);

#endif
