/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turns.h - the clock, the median and the error message of programs that measure two things in
 * turns.
 */
#ifndef TURNS_H
#define TURNS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void turns_die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	exit(1);
}

/* Returns the time in microseconds. */
static inline double turns_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static inline int turns_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns the median, and sorts v. */
static inline double turns_median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), turns_compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

#endif
