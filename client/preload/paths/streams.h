/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.h - stdin, stdout and stderr, for when 0, 1 or 2 is a file of ours: libc's own streams
 * make system calls that we do not see, so that others stand in for them.
 */
#ifndef STREAMS_H
#define STREAMS_H

/* What fd stands for is about to change: what is buffered for it is written. */
void streams_leave(int fd);
/* It has changed. */
void streams_look(int fd);

#endif
