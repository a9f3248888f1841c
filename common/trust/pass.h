/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pass.h - a client's ticket with its secret: what the client shows to servers, and how it proves
 * that the ticket is its own. Any thread.
 */
#ifndef PASS_H
#define PASS_H

#include "common/trust/handshake.h"
#include "common/trust/mac.h"

struct pass;

/* Makes a pass without a ticket. -ENOMEM. */
int pass_new(struct pass **pass);
/* Wipes and frees. NULL is allowed. */
void pass_free(struct pass *pass);
/* Sets the ticket to use from now on. len: at most WIRE_TICKET_MAX, else -EMSGSIZE. */
int pass_set(struct pass *pass, const void *ticket, size_t len,
	     const uint8_t secret[MAC_KEY_LEN]);
/* Lives as long as the pass. */
const struct prover *pass_prover(const struct pass *pass);

#endif
