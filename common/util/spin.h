/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spin.h - whether a wait polls before it sleeps, and for how long.
 *
 * Polling pays if work arrives during it, because waking a thread on another CPU may cost more than
 * the work. But polling may keep the CPU from the threads that would do the work: sched_yield()
 * does not yield to threads of another control group. So a wait polls for `near`. It polls longer,
 * up to `far`, if the last waits for a single peer ended within about that time. (Several peers
 * keep the CPUs busy, and keep each other awake.) After a poll without success, the next waits
 * sleep immediately; the number of these waits doubles each time.
 */
#ifndef SPIN_H
#define SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* the largest number of waits without polling between two waits with polling */
#define SPIN_DULL_MAX 63u

/* The expected work of a wait. */
enum spin_for {
	SPIN_NOTHING_SOON, /* sleep immediately */
	SPIN_ANYTHING,
	SPIN_LITTLE, /* short: a wake-up would take longer; polls up to far */
};

struct spin {
	uint64_t near, far; /* ns; near 0: never poll */
	uint64_t reach; /* how long a wait polls now */
	unsigned int crowd; /* remaining waits with several peers */
	/* number of waits that sleep immediately after one that polled without success */
	unsigned int dull;
	unsigned int sleeps; /* how many of those waits remain */
	/* expected work of the current wait */
	enum spin_for what;
	uint64_t begun, seen;
	/* end of the polling of the current wait; 0 if it does not poll */
	uint64_t until;
};

void spin_init(struct spin *s, unsigned int near_us, unsigned int far_us);
void spin_begin(struct spin *s, uint64_t now, enum spin_for what);
/* Call it while there is work for more than one peer. */
void spin_crowd(struct spin *s);
/* Call it if there is no work yet. Returns whether to poll again. */
bool spin_again(struct spin *s, uint64_t now);
/* Call it when work arrives. */
void spin_end(struct spin *s, uint64_t now);

#endif
