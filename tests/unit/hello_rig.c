/* SPDX-License-Identifier: BSD-2-Clause */
/* hello_rig.c - see hello_rig.h. */
#include "tests/unit/hello_rig.h"

#include <check.h>
#include <string.h>

size_t hello_rig_ticket(struct keyring *ring, const struct token_limits *limits,
			uint8_t out[TICKET_MAX])
{
	struct ticket t = { .limits = *limits,
			    .uid = 1000,
			    .gid = 100,
			    .ngroups = 3,
			    .groups = { 4, 0, 27 } };
	int len = ticket_seal(ring, &t, out, TICKET_MAX);

	ck_assert_int_gt(len, 0);
	return (size_t)len;
}

void hello_rig_pass(struct keyring *ring, const struct token_limits *limits,
		    struct client_ticket *pass)
{
	uint8_t ticket[TICKET_MAX], secret[MAC_KEY_LEN];
	size_t len = hello_rig_ticket(ring, limits, ticket);

	ck_assert_int_eq(ticket_secret(ring, ticket, len, secret), 0);
	ck_assert_int_eq(client_ticket_set(pass, ticket, len, secret), 0);
}

int hello_rig_say(struct hello_rig *rig, const struct prover *prover,
		  const struct handshake *shake)
{
	struct wire_hello hello = { .uid = htole32(0) };
	uint8_t ticket[WIRE_TICKET_MAX];
	struct wire_shown shown = {
		.len = htole32((uint32_t)prover->ticket(prover->arg, ticket))
	};
	struct wire_hdr *hdr = (void *)rig->buf;
	struct wire_proof proof;
	struct wire_out out;
	int len;

	wire_begin(&out, rig->buf, sizeof(rig->buf));
	wire_put(&out, &hello, sizeof(hello));
	wire_put(&out, &shown, sizeof(shown));
	wire_put(&out, ticket, le32toh(shown.len));
	wire_put(&out, NULL, sizeof(proof));
	len = wire_end(&out, WIRE_HELLO, WIRE_F_PROOF | WIRE_F_TICKET, 0);
	ck_assert_int_gt(len, 0);
	hdr->session = htole64(shake->session);
	rig->len = (size_t)len;
	ck_assert_int_eq(prover->prove(prover->arg, shake, HANDSHAKE_CALLER,
				       hdr, rig->len - sizeof(proof), &proof),
			 0);
	memcpy((uint8_t *)hdr + rig->len - sizeof(proof), &proof,
	       sizeof(proof));
	return wire_parse(rig->buf, rig->len, &rig->msg, NULL);
}
