/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bounds.h - for which file system, which session and how long something holds that
 * the manager handed out: tickets and capabilities.
 */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <stdint.h>

/* Times are on the clock of the manager of that term (CLOCK_BOOTTIME), ns. */
struct bounds {
	uint64_t fsid;
	uint64_t session;
	uint64_t term; /* of the manager: it grows with each of its starts */
	uint64_t expiry; /* it holds before that */
};

/* Where something is shown, and when. */
struct bounds_here {
	uint64_t fsid;
	uint64_t session; /* of the connection */
	uint64_t oldest, newest; /* terms that count */
	uint64_t now;
};

/*
 * 0; -ENXIO: of another file system; -EPERM: of another session; -ESTALE: of a
 * term that does not count; -EKEYEXPIRED.
 */
int bounds_check(const struct bounds *bounds, const struct bounds_here *here);

#endif
