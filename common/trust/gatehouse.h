/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gatehouse.h - a server's look at tickets: the doorkeeper of rpc, with the keys.
 */
#ifndef GATEHOUSE_H
#define GATEHOUSE_H

#include "common/trust/handshake.h"
#include "common/trust/keyring.h"

/* Set by who has it; outlives the server. */
struct gatehouse {
	struct keyring *ring;
	/* Now, on the clock of the manager of that term; -ESTALE: it does not
	 * count; -EAGAIN: that is not known yet.  From any thread. */
	int (*clock)(void *arg, uint64_t term, uint64_t *now);
	void *arg;
};

/* Of these keys and that clock. */
struct doorkeeper gatehouse_keeper(struct gatehouse *house,
				   enum admission admission);

#endif
