/* SPDX-License-Identifier: BSD-2-Clause */
/* lingering.h - a descriptor whose close lasts, and what a process has. */
#ifndef LINGERING_H
#define LINGERING_H

/* A socket whose last close lasts, until *reader is closed, which never reads. */
int lingering(int *reader);
/* Of this process, and some more: to be compared. */
unsigned int count_fds(void);
unsigned int count_threads(void);

#endif
