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

/* Makes a client ticket that holds no ticket yet. Returns 0 or -ENOMEM. */
int client_ticket_new(struct client_ticket **ticket);
/* Wipes and frees it. ticket may be NULL. */
void client_ticket_free(struct client_ticket *ticket);
/*
 * Sets the ticket to use from now on: len bytes at sealed. Returns 0, or -EMSGSIZE if len is above
 * WIRE_TICKET_MAX.
 */
int client_ticket_set(struct client_ticket *ticket, const void *sealed,
		      size_t len, const uint8_t secret[MAC_KEY_LEN]);
/* The prover lives as long as the client ticket. */
const struct prover *client_ticket_prover(const struct client_ticket *ticket);

#endif
