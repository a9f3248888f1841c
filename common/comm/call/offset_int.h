/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offset_int.h - how far another host's CLOCK_BOOTTIME is ahead of ours: at least so
 * much.  Every reply says when it was sent; it arrived later than that, so the
 * stamp minus our own time at the receipt is below the truth by one transit.  The
 * best of these is kept, less what the two clocks may have drifted apart since.
 *
 * A deadline told with it is never later than ours on the other clock, and earlier
 * by the shortest transit that was seen, and drift.
 */
#ifndef OFFSET_INT_H
#define OFFSET_INT_H

#include <stdbool.h>
#include <stdint.h>

/* Of one clock against the other: 500 ppm. */
#define OFFSET_DRIFT 2000u

#define OFFSET_FRESH_MS 10000u /* by when 5 ms are lost */

/* All zero: nothing is known. */
struct offset {
	bool known;
	uint64_t at; /* our clock_boot() at the receipt, ns */
	uint64_t ahead; /* stamp - at, modulo 2^64 */
};

/* A stamp of the other clock, ns, that was here when ours said now, or before. */
void offset_note(struct offset *o, uint64_t stamp, uint64_t now);
/*
 * A moment of our clock, not before the last note, on the other one: not later
 * than it truly is.  0: nothing is known, or it is before the other clock began.
 */
uint64_t offset_tell(const struct offset *o, uint64_t when);
/* Its best note is younger than OFFSET_FRESH_MS at now: it can do without another. */
bool offset_fresh(const struct offset *o, uint64_t now);

#endif
