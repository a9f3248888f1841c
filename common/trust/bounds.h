/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bounds.h - the validity of what the manager issues (tickets and capabilities): for which file
 * system, which session and how long.
 */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <stdint.h>

/* Times are on the clock (CLOCK_BOOTTIME) of the manager of that term, in ns. */
struct bounds {
	uint64_t fsid;
	uint64_t session;
	uint64_t term; /* of the manager; grows with each of its starts */
	uint64_t expiry; /* valid before this time */
};

/* Where and when something is presented. */
struct bounds_here {
	uint64_t fsid;
	uint64_t session; /* of the connection */
	uint64_t oldest, newest; /* range of accepted terms */
	uint64_t now;
};

/*
 * 0; -ENXIO: for another file system; -EPERM: for another session; -ESTALE: the term is not
 * accepted; -EKEYEXPIRED.
 */
int bounds_check(const struct bounds *bounds, const struct bounds_here *here);

#endif
