/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_ticket.h - a client's ticket with its secret: what the client shows to servers, and how it
 * proves that the ticket is its own.  Any thread.
 */
#ifndef CLIENT_TICKET_H
#define CLIENT_TICKET_H

#include "common/trust/handshake.h"
#include "common/trust/mac.h"

struct client_ticket;

/* Makes one without a ticket. -ENOMEM. */
int client_ticket_new(struct client_ticket **ticket);
/* Wipes and frees. NULL is allowed. */
void client_ticket_free(struct client_ticket *ticket);
/*
 * Sets the ticket to use from now on. sealed, len: the ticket; len: at most WIRE_TICKET_MAX, else
 * -EMSGSIZE.
 */
int client_ticket_set(struct client_ticket *ticket, const void *sealed,
		      size_t len, const uint8_t secret[MAC_KEY_LEN]);
/* Lives as long as the client ticket. */
const struct prover *client_ticket_prover(const struct client_ticket *ticket);

#endif
