/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * terms.h - the clocks of managers, as they say with each lease: by these the iod knows
 * how old a ticket is.  Managers before had the same clock unless their host was started
 * anew since; then that of the last one counts, too, as long as the iod has heard it
 * itself.  Any thread.
 */
#ifndef TERMS_H
#define TERMS_H

#include <pthread.h>
#include <stdint.h>

struct terms {
	pthread_mutex_t lock;
	struct {
		uint64_t term; /* 0: none */
		uint64_t since; /* the first one with this clock */
		uint64_t ahead; /* of our clock_boot(), modulo 2^64 */
	} known[2]; /* the latest first */
};

void terms_init(struct terms *terms);
void terms_destroy(struct terms *terms);
/* The manager of that term said clock, just now, and that it was the same since the
 * term since. */
void terms_hear(struct terms *terms, uint64_t term, uint64_t since,
		uint64_t clock);
/* struct gatehouse.clock; arg: the terms.  -EAGAIN: the manager of that term, or any,
 * will be heard soon. */
int terms_clock(void *arg, uint64_t term, uint64_t *now);

#endif
