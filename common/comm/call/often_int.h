/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * often_int.h - detects memory that is used repeatedly.  If data is often sent from the same
 * memory, that memory is registered after some copies, and then no longer copied (the short
 * protocol and lazy deregistration of the VIA module for LAM/MPI, section 3).
 */
#ifndef OFTEN_INT_H
#define OFTEN_INT_H

#include <stdbool.h>
#include <stddef.h>

#define OFTEN_RANGES 16u /* number of ranges that are remembered */
#define OFTEN_TIMES 4u /* registering costs about as much as some copies */

/* All zero: no range was seen yet. */
struct often {
	struct often_range {
		const void *addr;
		size_t len;
		unsigned int times;
	} range[OFTEN_RANGES];
	unsigned int next; /* the range to replace next */
};

/*
 * Counts one more use of the range.  Returns true at every OFTEN_TIMES-th use, so that the caller
 * does not try to register at each use a range that cannot stay registered.
 */
bool often_comes(struct often *o, const void *addr, size_t len);

#endif
