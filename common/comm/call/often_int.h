/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * often_int.h - which memory keeps coming back: what is sent from the same place again
 * and again is registered after some copies, and not copied any more (the short
 * protocol and lazy deregistration of the VIA module for LAM/MPI, section 3).
 */
#ifndef OFTEN_INT_H
#define OFTEN_INT_H

#include <stdbool.h>
#include <stddef.h>

#define OFTEN_RANGES 16u /* that are remembered */
#define OFTEN_TIMES 4u /* registering costs about as much as some copies */

/* All zero: nothing came yet. */
struct often {
	struct often_range {
		const void *addr;
		size_t len;
		unsigned int times;
	} range[OFTEN_RANGES];
	unsigned int next; /* to be forgotten for another */
};

/*
 * The range came once more.  True at each OFTEN_TIMES-th time: so who cannot be kept
 * is not tried each time.
 */
bool often_comes(struct often *o, const void *addr, size_t len);

#endif
