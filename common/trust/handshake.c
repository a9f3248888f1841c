/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handshake.c - proofs: challenge and response with a keyed hash, in both
 * directions (after Bellare and Rogaway, "Entity Authentication and Key Distribution", CRYPTO '93:
 * MAP1).
 */
#include "common/trust/handshake_int.h"

#include <errno.h>
#include <string.h>

/* One label per side, so that the proof of one side cannot be sent back by the other. */
const char *const handshake_label[] = {
	[HANDSHAKE_CALLER] = "pvfs hello 1 caller",
	[HANDSHAKE_SERVER] = "pvfs hello 1 server",
};

/* clang-format off */
struct hello_facts {
	le64 fsid, session, boot;
	le32 epoch;
	le32 role, server, index;
	uint8_t nonce[2][WIRE_NONCE_LEN];
};
/* clang-format on */

_Static_assert(sizeof(struct hello_facts) == 64, "no padding");

static struct hello_facts facts_of(const struct handshake *shake)
{
	struct hello_facts facts = {
		.fsid = htole64(shake->fsid),
		.session = htole64(shake->session),
		.boot = htole64(shake->boot),
		.epoch = htole32(shake->epoch),
		.role = htole32((uint32_t)shake->role),
		.server = htole32((uint32_t)shake->server),
		.index = htole32(shake->index),
	};

	memcpy(facts.nonce, shake->nonce, sizeof(facts.nonce));
	return facts;
}

void handshake_facts(const struct handshake *shake,
		     uint8_t out[HANDSHAKE_FACTS])
{
	const struct hello_facts facts = facts_of(shake);

	_Static_assert(sizeof(facts) == HANDSHAKE_FACTS, "all of them");
	memcpy(out, &facts, sizeof(facts));
}

void handshake_mac(const uint8_t key[MAC_KEY_LEN],
		   const struct handshake *shake, enum handshake_side side,
		   const void *msg, size_t len, uint8_t mac[MAC_LEN])
{
	const struct hello_facts facts = facts_of(shake);
	const struct mac_field field[] = { { &facts, sizeof(facts) },
					   { msg, len } };

	mac_make(key, handshake_label[side], field, 2, mac);
}

int handshake_mac_check(const uint8_t key[MAC_KEY_LEN],
			const struct handshake *shake, enum handshake_side side,
			const void *msg, size_t len, const uint8_t mac[MAC_LEN])
{
	uint8_t want[MAC_LEN];
	int rc;

	handshake_mac(key, shake, side, msg, len, want);
	rc = mac_equal(mac, want) ? 0 : -EKEYREJECTED;
	explicit_bzero(want, sizeof(want));
	return rc;
}
