/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.h - stdio streams on files that this library serves.  libc's own streams make system
 * calls that this library cannot replace.  So while descriptor 0, 1 or 2 is such a file, another
 * stream replaces stdin, stdout or stderr.
 */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdbool.h>
#include <stdio.h>

#define STREAMS_STANDARD 3

/* fd is a file of ours, mode a valid mode of fopen(3).  NULL: no memory; fd stays open. */
FILE *streams_open(int fd, const char *mode);

/* stdin, stdout or stderr, for 0 <= fd < STREAMS_STANDARD. */
FILE **streams_standard(int fd);
/* Whether the standard stream of fd was replaced by a stream of this library. */
bool streams_is_replaced(int fd);
/* Called before fd, any number, gets another file: writes buffered data. */
void streams_flush(int fd);
/* Called after fd, any number or -1, got another file.  Returns fd. */
int streams_follow(int fd);

#endif
