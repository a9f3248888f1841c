/* SPDX-License-Identifier: BSD-2-Clause */
/* descriptors.h - how many files a process may open, and their descriptor numbers. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>

/* Raises the limit to the hard limit. Returns the new limit; ULLONG_MAX: none, or unknown. */
unsigned long long descriptors_raise(void);
/*
 * Whether, apart from the promised ones, fewer descriptors are free than spare, or than an eighth
 * of the limit if that is less. fd: any open descriptor.
 */
bool descriptors_short(int fd, unsigned int spare, unsigned int promised);
/*
 * Half of those that are kept free so is a reserve, which few may use: how many that are, and
 * whether nothing of it is left.
 */
unsigned int descriptors_reserve(unsigned int spare);
bool descriptors_reserve_gone(int fd, unsigned int spare);

/*
 * Moves an open file to the first free number from `from` on, away from the numbers that programs
 * expect to use. Sets close-on-exec and closes fd. Returns fd itself if no number is free.
 */
int descriptor_apart(int fd, int from);

#endif
