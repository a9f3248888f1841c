/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_clocks.h - the clocks of managers, which come with each lease.  With them the iod tells how
 * old a ticket is.  Managers of earlier terms had the same clock, unless the host rebooted in
 * between.  Then the clock of the previous host boot counts, too, if the iod itself has heard
 * it.  All functions except mgr_clocks_init() and mgr_clocks_destroy() may be called from any
 * thread.
 */
#ifndef MGR_CLOCKS_H
#define MGR_CLOCKS_H

#include <pthread.h>
#include <stdint.h>

struct mgr_clocks {
	pthread_mutex_t lock;
	struct {
		uint64_t term; /* the latest with this clock; 0: none */
		uint64_t since; /* the first term with this clock */
		/* its clock minus our clock_boot(), modulo 2^64 */
		uint64_t ahead;
	} known[2]; /* the latest clock first */
};

void mgr_clocks_init(struct mgr_clocks *clocks);
void mgr_clocks_destroy(struct mgr_clocks *clocks);
/* The manager of that term has just sent the time of its clock.  The clock is the same in all
 * terms from `since` on. */
void mgr_clocks_update(struct mgr_clocks *clocks, uint64_t term, uint64_t since,
		       uint64_t clock);
/* ticket_verifier.clock; arg: the terms.  -EAGAIN: this term, or any, is not known yet, and will be
 * soon.  -ESTALE: the clock of this term is not known. */
int mgr_clocks_read(void *arg, uint64_t term, uint64_t *now);

#endif
