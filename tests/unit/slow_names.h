/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slow_names.h - a resolver of the test: names that end in ".test" are looked up only when the test
 * permits it.
 */
#ifndef SLOW_NAMES_H
#define SLOW_NAMES_H

/* From now on, look-ups of such names wait.  Resets the counters. */
void slow_names_hold(void);
/* Continues them; they find the numeric address host, or nothing if it is NULL. */
void slow_names_go(const char *host);
/* Number of look-ups that began, and that wait. */
unsigned int slow_names_asked(void);
unsigned int slow_names_waiting(void);
/* Returns when n look-ups have begun. */
void slow_names_until_asked(unsigned int n);
/* Returns when no look-up is in progress. */
void slow_names_until_over(void);

#endif
