/* SPDX-License-Identifier: BSD-2-Clause */
/* descriptors.h - how many files a process may have open. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>

/*
 * Raises the limit to what the system's administrator allows.  The limit then,
 * ULLONG_MAX: none, or not known.
 */
unsigned long long descriptors_raise(void);
/*
 * Besides those that are promised, fewer than spare are left to open, or than an
 * eighth of all.  fd: any that is open.
 */
bool descriptors_short(int fd, unsigned int spare, unsigned int promised);

#endif
