/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse.h - saying no.  What is not handled for files of PVFS without a mount fails with
 * an error and a line that says what to do, for a bounded number of lines.
 */
#ifndef REFUSE_H
#define REFUSE_H

/* Sets errno to error; -1. */
int refuse_path(const char *call, const char *path, int error);
int refuse_fd(const char *call, int fd, int error);
/* The same for a descriptor that the program before had. */
int refuse_lost(const char *call, int fd);

#endif
