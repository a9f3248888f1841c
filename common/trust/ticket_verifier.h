/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_verifier.h - checks the tickets of clients at a server, with the keys: rpc's struct ticket_hooks. */
#ifndef TICKET_VERIFIER_H
#define TICKET_VERIFIER_H

#include "common/trust/handshake.h"
#include "common/trust/keyring.h"

/* The owner fills it in; it must outlive the server. */
struct ticket_verifier {
	struct keyring *ring;
	/*
	 * Sets *now on the clock of the manager of that term. -ESTALE: the term is not accepted;
	 * -EAGAIN: not known yet. Any thread.
	 */
	int (*clock)(void *arg, uint64_t term, uint64_t *now);
	void *arg;
};

/* Hooks with these keys and that clock. */
struct ticket_hooks ticket_verifier_hooks(struct ticket_verifier *verifier,
					  enum admission admission);

#endif
