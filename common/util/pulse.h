/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pulse.h - the watchdog's signs of life.  They come from the loops that serve: each
 * beats in every turn, and the one that completes the round sends the sign.  So there
 * is none any more when one loop hangs, whatever else still runs.
 *
 *	loop 0   x   x       x         x - hangs
 *	loop 1     x     x x       x     x       x       x
 *	sign       ^     ^         ^     ^  none any more
 *
 * Until pulse_ready() they say that the start goes on, and extend its time.
 */
#ifndef PULSE_H
#define PULSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/sd_notify.h"

#define PULSE_LOOPS_MAX 64u

struct pulse {
	/* private */
	const struct notify *notify;
	uint64_t every; /* ns; 0: no signs are asked for */
	uint64_t all; /* a bit for each loop */
	_Atomic uint64_t beaten; /* since the last sign */
	_Atomic uint64_t due; /* the next one, clock_now() */
	atomic_bool ready;
};

/* n outlives the pulse.  One loop, until pulse_loops(). */
void pulse_init(struct pulse *p, const struct notify *n);
/* How many loops there are, 1 to PULSE_LOOPS_MAX; before any of them beats. */
void pulse_loops(struct pulse *p, unsigned int loops);
/*
 * Of one turn of a loop, on its thread.  Never waits.  When the next one is due at the
 * latest, clock_now(); CLOCK_NEVER: there need be none.  p may be NULL.
 */
uint64_t pulse_beat(struct pulse *p, unsigned int loop);
/* It serves from now on.  Any thread; 0, or of notify_say(). */
int pulse_ready(struct pulse *p);
bool pulse_is_ready(const struct pulse *p);

#endif
