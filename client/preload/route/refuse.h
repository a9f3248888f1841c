/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse.h - rejects calls that this library does not support for files of PVFS without a mount.
 * Such a call fails with an error, and a line on standard error says what to do.  The number of
 * lines is limited.
 */
#ifndef REFUSE_H
#define REFUSE_H

/*
 * Write the line, unless PVFS_LOG is none, set errno to error, and return -1.  call is the name of
 * the function, with the condition under which it is rejected.
 */
int refuse_path(const char *call, const char *path, int error);
int refuse_fd(const char *call, int fd, int error);
/* As refuse_fd(), for a descriptor that the previous program had open and did not hand over. */
int refuse_lost(const char *call, int fd);

#endif
