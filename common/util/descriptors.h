/* SPDX-License-Identifier: BSD-2-Clause */
/* descriptors.h - how many files a process may have open. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/*
 * Raises the limit to what the system's administrator allows.  The limit then,
 * ULLONG_MAX: none, or not known.
 */
unsigned long long descriptors_raise(void);

#endif
