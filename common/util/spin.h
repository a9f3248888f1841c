/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spin.h - whether a wait polls before it sleeps, and for how long.
 *
 * Polling pays where work comes meanwhile: waking a thread on another processor
 * may cost more than the work.  Where it was in vain it kept the processor from
 * those who could do the work: sched_yield() gives way to nobody in another
 * control group.  So it polls for `near`; longer, up to `far`, where the last
 * waits for one peer alone ended about within that (several keep the processors
 * busy, and each other awake); and where it was in vain the next
 * waits sleep at once, each time twice as many.
 */
#ifndef SPIN_H
#define SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define SPIN_DULL_MAX 63u /* waits without polling, between two with it */

/* What a wait is for. */
enum spin_for {
	SPIN_NOTHING_SOON, /* sleep at once */
	SPIN_ANYTHING,
	SPIN_LITTLE, /* a wake-up would take longer: up to far */
};

struct spin {
	uint64_t near, far; /* ns; near 0: never */
	uint64_t reach; /* what a wait polls now */
	unsigned int crowd; /* waits left that are not for one alone */
	unsigned int dull; /* waits that sleep at once, after one that polls */
	unsigned int sleeps; /* of them left */
	/* of this wait */
	enum spin_for what;
	uint64_t begun, seen;
	uint64_t until; /* 0: it does not poll, or no more */
};

void spin_init(struct spin *s, unsigned int near_us, unsigned int far_us);
void spin_begin(struct spin *s, uint64_t now, enum spin_for what);
/* There is more than one for whom work is done. */
void spin_crowd(struct spin *s);
/* Nothing yet: whether to poll again. */
bool spin_again(struct spin *s, uint64_t now);
/* Work came. */
void spin_end(struct spin *s, uint64_t now);

#endif
