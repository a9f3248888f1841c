/* SPDX-License-Identifier: BSD-2-Clause */
/* hello_rig.h - tickets, and HELLOs that show them. */
#ifndef HELLO_RIG_H
#define HELLO_RIG_H

#include "common/trust/ticket.h"
#include "common/trust/client_ticket.h"

#define HELLO_RIG_MAX 1024

struct hello_rig {
	uint64_t buf[HELLO_RIG_MAX / 8];
	size_t len;
	struct wire_msg msg; /* points into buf */
};

/*
 * Seals a ticket with ring, for this session and term, until expiry; its uid is 1000.  Returns its
 * length.
 */
size_t hello_rig_ticket(struct keyring *ring, const struct token_limits *limits,
			uint8_t out[TICKET_MAX]);
/* Gives the pass such a ticket. */
void hello_rig_pass(struct keyring *ring, const struct token_limits *limits,
		    struct client_ticket *pass);
/* Builds a HELLO with the pass and parses it.  Returns 0, or -errno of wire_parse(). */
int hello_rig_say(struct hello_rig *rig, const struct prover *prover,
		  const struct handshake *shake);

#endif
