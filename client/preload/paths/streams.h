/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.h - stdin, stdout and stderr if 0, 1 or 2 is a file of ours.  libc's own
 * streams use system calls that this library does not see.  So others replace them.
 */
#ifndef STREAMS_H
#define STREAMS_H

/* Called before fd gets another file: writes buffered data. */
void streams_leave(int fd);
/* Called after fd got another file. */
void streams_look(int fd);

#endif
