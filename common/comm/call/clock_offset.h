/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock_offset.h - a lower bound of the offset between another host's CLOCK_BOOTTIME and ours.
 * Every reply contains the time at which it was sent.  That time minus our time at the receipt is
 * less than the true offset by the transit time.  The module stores the largest such value, and
 * subtracts what the two clocks may have drifted apart since.
 *
 * A deadline of ours, converted to the other clock, may be early, but never late.  The error is the
 * shortest transit time seen, plus the drift.
 */
#ifndef CLOCK_OFFSET_H
#define CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

/* The drift of one clock relative to the other: 1/2000, or 500 ppm. */
#define CLOCK_OFFSET_DRIFT 2000u

#define CLOCK_OFFSET_FRESH_MS                                                  \
	10000u /* after that time, the drift amounts to 5 ms */

/* All zero if nothing is known about the other clock. */
struct clock_offset {
	bool known;
	/* our clock_boot() when the largest value was received, ns */
	uint64_t at;
	uint64_t ahead; /* stamp - at, modulo 2^64 */
};

/* stamp is a time of the other clock, in ns, from before our clock showed now. */
void clock_offset_add(struct clock_offset *o, uint64_t stamp, uint64_t now);
/*
 * Converts when, a time of our clock after the last clock_offset_add(), to the other clock.  The
 * result may be early, but never late.  Returns 0 if the offset is unknown, or if the other clock
 * began after when.
 */
uint64_t clock_offset_convert(const struct clock_offset *o, uint64_t when);
/* Returns true if the stored value is younger than CLOCK_OFFSET_FRESH_MS at our time now. */
bool clock_offset_is_fresh(const struct clock_offset *o, uint64_t now);

#endif
