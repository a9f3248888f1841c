/* SPDX-License-Identifier: BSD-2-Clause */
/* gatehouse.h - a server's ticket verifier: implements rpc's struct doorkeeper with the keys. */
#ifndef GATEHOUSE_H
#define GATEHOUSE_H

#include "common/trust/handshake.h"
#include "common/trust/keyring.h"

/* The owner fills it in; it must outlive the server. */
struct gatehouse {
	struct keyring *ring;
	/*
	 * Sets *now on the clock of the manager of that term. -ESTALE: the term is not accepted;
	 * -EAGAIN: not known yet. Any thread.
	 */
	int (*clock)(void *arg, uint64_t term, uint64_t *now);
	void *arg;
};

/* A doorkeeper with these keys and that clock. */
struct doorkeeper gatehouse_keeper(struct gatehouse *house,
				   enum admission admission);

#endif
