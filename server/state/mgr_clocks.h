/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_clocks.h - the clocks of managers.  Each lease brings the time of the manager's clock.
 * With it the iod computes how old a ticket of that manager is.  Managers of earlier terms had
 * the same clock, unless the manager's host was rebooted, or another host, between the terms.
 * The iod also keeps the clock before the present one, if it got a lease by it.  All functions
 * except mgr_clocks_init() and mgr_clocks_destroy() may be called from any thread.
 */
#ifndef MGR_CLOCKS_H
#define MGR_CLOCKS_H

#include <pthread.h>
#include <stdint.h>

struct mgr_clocks {
	pthread_mutex_t lock;
	struct {
		uint64_t term; /* the latest term with this clock; 0: no clock */
		uint64_t since; /* the first term with this clock */
		/* its clock minus our clock_boot(), modulo 2^64 */
		uint64_t ahead;
	} known[2]; /* the latest clock first */
};

void mgr_clocks_init(struct mgr_clocks *clocks);
void mgr_clocks_destroy(struct mgr_clocks *clocks);
/*
 * The manager of this term has just sent `clock`, the time of its clock in ns.  The clock is the
 * same in all terms from `since` to `term`.
 */
void mgr_clocks_update(struct mgr_clocks *clocks, uint64_t term, uint64_t since,
		       uint64_t clock);
/*
 * For ticket_verifier.clock; arg: the struct mgr_clocks.  Sets *now to the present time of the
 * clock of this term.  -EAGAIN: no lease of this term or a later one has arrived yet.  -ESTALE:
 * the clock of this term is not known any more.
 */
int mgr_clocks_read(void *arg, uint64_t term, uint64_t *now);

#endif
