/* SPDX-License-Identifier: BSD-2-Clause */
/* log_pace.h - limits lines that others can cause repeatedly to one per second. */
#ifndef LOG_PACE_H
#define LOG_PACE_H

#include <stdbool.h>

#include "common/util/clock.h"

#define LOG_PACE_MS 1000u

/* True: a line may be written now. *at: clock_now() of the last one; 0: none yet. */
static inline bool log_pace(uint64_t *at)
{
	uint64_t now = clock_now();

	if (*at && now - *at < LOG_PACE_MS * CLOCK_NS_PER_MS)
		return false;
	*at = now;
	return true;
}

#endif
