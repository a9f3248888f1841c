/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.h - the one instance behind the C interface.  pvfs_open() and the
 * others name no instance, as open(2) does not; so a process has one table
 * of mounts and one of descriptors.  They live in process.c and nowhere else.
 * They are made at the first call, made anew in the child at its first call
 * after fork(), and closed when the program exits.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include "client/lib/file/file.h"
#include "client/lib/names/mounted.h"

bool process_has_mounts(void);
/* The mount of an absolute path and the rest of the path, or NULL. */
struct fs *process_find(const char *path, const char **rest);
/* Mount number i, or NULL. */
const struct mount *process_mount(unsigned int i);

/* A call begins (deadline.h): the file behind a descriptor, the caller's to file_put(), or NULL. */
struct file *process_file(int fd);
/* As fdtable_reserve(). */
int process_reserve(bool cloexec);
/* As fdtable_set(); closes what fd stood for before. */
int process_set(int fd, struct file *f);
/* FD_CLOEXEC of fd was set or taken away. */
void process_cloexec(int fd);

/* The call of the kernel gave that: st_dev becomes libpvfs' own of a file on a mount of
 * PVFS; as mounted_find(). */
void process_show_dev(int dir, const char *path, int flags, struct stat *st);

const struct log *process_log(void);
/* The bound on waiting where no mount says otherwise. */
unsigned int process_timeout_ms(void);
/* Another number in a child than in its parent. */
unsigned int process_forks(void);

#endif
