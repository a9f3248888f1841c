/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h - deadlines are absolute CLOCK_MONOTONIC nanoseconds. Deadlines for another process are
 * converted to its clock_boot(): common/comm/call/clock_offset.h.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_MS 1000000ull
#define CLOCK_NEVER UINT64_MAX

static inline uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* ns since the host booted, including time in suspend. */
static inline uint64_t clock_boot(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/*
 * Converts the clock_boot() time `at` to clock_now(). `boot` and `now` are the two clocks at the
 * same moment. Returns `now` if the time `at` has passed.
 */
static inline uint64_t clock_of_boot(uint64_t at, uint64_t boot, uint64_t now)
{
	return at > boot ? now + (at - boot) : now;
}

/* Wall clock, ns since the epoch: only for file times, never for deadlines. */
static inline int64_t clock_wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline uint64_t clock_after_ms(uint64_t ms)
{
	return clock_now() + ms * CLOCK_NS_PER_MS;
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

/*
 * Returns the milliseconds until the deadline for poll(2), rounded up: 0 if the deadline has
 * passed, -1 if it is CLOCK_NEVER.
 */
static inline int clock_left_ms(uint64_t deadline)
{
	uint64_t now, ms;

	if (deadline == CLOCK_NEVER)
		return -1;
	now = clock_now();
	if (now >= deadline)
		return 0;
	ms = (deadline - now + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

#endif
