/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_names.h - a resolver of the test's own, in place of the system's: names
 * that end in ".test" are looked up only when the test lets them.
 */
#ifndef SLOW_NAMES_H
#define SLOW_NAMES_H

/* From now on look-ups of such names wait; resets the counters. */
void slow_names_hold(void);
/* They go on, and find what host says (numeric), or nothing: NULL. */
void slow_names_go(const char *host);
/* How many were begun; how many wait. */
unsigned int slow_names_asked(void);
unsigned int slow_names_waiting(void);
/* Returns when so many were begun. */
void slow_names_until_asked(unsigned int n);
/* Returns when none is under way any more. */
void slow_names_until_over(void);

#endif
