/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse.h - rejecting calls.  A call that is not supported for files of PVFS without a
 * mount fails with an error.  A line on standard error says what to do; the number of
 * lines is limited.
 */
#ifndef REFUSE_H
#define REFUSE_H

/*
 * call is the name of the call, with its conditions.  error is what errno becomes.  Return
 * -1.  PVFS_LOG=none suppresses the line.
 */
int refuse_path(const char *call, const char *path, int error);
int refuse_fd(const char *call, int fd, int error);
/* The same for a descriptor that the previous program had open. */
int refuse_lost(const char *call, int fd);

#endif
