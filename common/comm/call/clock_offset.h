/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock_offset.h - a lower bound of how far another host's CLOCK_BOOTTIME is ahead of ours.  Every
 * reply carries its sending time and arrives later.  So the stamp minus our time at the receipt
 * is below the true offset by one transit time.  The best such value is kept.  It is reduced by
 * what the two clocks may have drifted apart since then.
 *
 * A deadline converted with it is never later than ours on the other clock.  It is earlier by the
 * shortest transit time seen, plus the drift.
 */
#ifndef OFFSET_INT_H
#define OFFSET_INT_H

#include <stdbool.h>
#include <stdint.h>

/* Of one clock relative to the other: 1/2000, or 500 ppm. */
#define CLOCK_OFFSET_DRIFT 2000u

#define CLOCK_OFFSET_FRESH_MS                                                  \
	10000u /* after that time, the drift amounts to 5 ms */

/* All zero: nothing is known. */
struct clock_offset {
	bool known;
	uint64_t at; /* our clock_boot() at the receipt, ns */
	uint64_t ahead; /* stamp - at, modulo 2^64 */
};

/* stamp: a time of the other clock, in ns, from before our clock showed now. */
void clock_offset_add(struct clock_offset *o, uint64_t stamp, uint64_t now);
/*
 * Converts a time of our clock, not before the last note, to the other clock.  The result is
 * never later than the true time there.  0: nothing is known, or the time is before the other
 * clock began.
 */
uint64_t clock_offset_convert(const struct clock_offset *o, uint64_t when);
/* The best note is younger than CLOCK_OFFSET_FRESH_MS at now, so no new one is needed. */
bool clock_offset_is_fresh(const struct clock_offset *o, uint64_t now);

#endif
