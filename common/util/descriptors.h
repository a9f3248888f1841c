/* SPDX-License-Identifier: BSD-2-Clause */
/* descriptors.h - how many files a process may have open, and under which numbers. */
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
/*
 * Half of those that are kept free so is a reserve, which few may use: how many that are, and
 * whether nothing of it is left.
 */
unsigned int descriptors_reserve(unsigned int spare);
bool descriptors_reserve_gone(int fd, unsigned int spare);

/*
 * The same open file, closed on exec, under the first free number from that one on, apart from
 * those that programs count on; fd itself is closed then.  fd, if there is none.
 */
int descriptor_apart(int fd, int from);

#endif
