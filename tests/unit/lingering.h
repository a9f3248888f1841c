/* SPDX-License-Identifier: BSD-2-Clause */
/* lingering.h - a descriptor whose close takes long, and a count of open descriptors. */
#ifndef LINGERING_H
#define LINGERING_H

/*
 * Returns a socket whose last close blocks until *reader is closed; nothing is read from *reader.
 */
int lingering(int *reader);
/* Number of open descriptors of this process, or a few more: only for comparisons. */
unsigned int count_fds(void);
unsigned int count_threads(void);

#endif
