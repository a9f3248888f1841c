/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_exchange.c - see auth_exchange.h. */
#include "common/trust/auth_exchange.h"

#include <errno.h>
#include <string.h>

#include "common/wire/wire.h"

/* clang-format off */
#define SEALS_BIT 0x100u /* or-ed to the mode */
#define IN_PLACE_SHIFT 16 /* shift of this value */
struct auth_facts {
	le64 fsid, session, boot;
	le32 epoch, mode;
	uint8_t key[2][WIRE_KEY_LEN];
	uint8_t nonce[2][WIRE_KEY_LEN];
};
/* clang-format on */

_Static_assert(sizeof(struct auth_facts) == 160, "no padding");

/* Nothing is secret here: with a public key, the code is a digest. */
static const uint8_t no_key[MAC_KEY_LEN];

static const char *const word_label[] = {
	[HANDSHAKE_CALLER] = "pvfs auth 1 caller",
	[HANDSHAKE_SERVER] = "pvfs auth 1 server",
};

static struct auth_facts facts_of(const struct auth_exchange *x)
{
	struct auth_facts facts = {
		.fsid = htole64(x->fsid),
		.session = htole64(x->session),
		.boot = htole64(x->boot),
		.epoch = htole32(x->epoch),
		.mode = htole32(x->mode | (x->seals ? SEALS_BIT : 0) |
				x->seal_in_place << IN_PLACE_SHIFT),
	};

	memcpy(facts.key, x->key, sizeof(facts.key));
	memcpy(facts.nonce, x->nonce, sizeof(facts.nonce));
	return facts;
}

void auth_exchange_caller(const struct auth_exchange *x,
			  uint8_t out[AUTH_EXCHANGE_LEN])
{
	const struct auth_facts facts = facts_of(x);
	const uint32_t uid = htole32(x->uid);
	const struct mac_field field[] = { { &facts, sizeof(facts) },
					   { &uid, sizeof(uid) } };

	mac_make(no_key, "pvfs pact 1 caller", field, x->seal_in_place ? 2 : 1,
		 out);
}

void auth_exchange_server(const struct auth_exchange *x,
			  const struct auth_answer *answer,
			  uint8_t out[AUTH_EXCHANGE_LEN])
{
	const struct auth_facts facts = facts_of(x);
	const struct mac_field field[] = { { &facts, sizeof(facts) },
					   { answer->ticket, answer->len },
					   { answer->secret, WIRE_KEY_LEN } };

	mac_make(no_key, "pvfs pact 1 server", field, 3, out);
}

void auth_exchange_word(const uint8_t secret[MAC_KEY_LEN],
			const uint8_t digest[AUTH_EXCHANGE_LEN],
			uint8_t word[MAC_LEN])
{
	const struct mac_field field = { digest, AUTH_EXCHANGE_LEN };

	mac_make(secret, "pvfs pact 1 word", &field, 1, word);
}

void auth_exchange_hide(const struct auth_exchange *x,
			const uint8_t shared[KEY_PAIR_LEN],
			const uint8_t secret[MAC_KEY_LEN],
			uint8_t out[MAC_KEY_LEN])
{
	const struct auth_facts facts = facts_of(x);
	const struct mac_field field = { &facts, sizeof(facts) };
	uint8_t pad[MAC_LEN];

	mac_make(shared, "pvfs pact 1 secret", &field, 1, pad);
	for (unsigned int i = 0; i < MAC_KEY_LEN; i++)
		out[i] = secret[i] ^ pad[i];
	explicit_bzero(pad, sizeof(pad));
}

void auth_exchange_sign(struct keyring *ring, enum handshake_side side,
			const uint8_t digest[AUTH_EXCHANGE_LEN],
			struct wire_proof *word)
{
	const struct mac_field field = { digest, AUTH_EXCHANGE_LEN };
	struct wire_proof w = { 0 };
	uint32_t id;

	keyring_mac(ring, word_label[side], &field, 1, &id, w.mac);
	w.key = htole32(id);
	*word = w;
}

int auth_exchange_check(struct keyring *ring, enum handshake_side side,
			const uint8_t digest[AUTH_EXCHANGE_LEN],
			const void *word, size_t len)
{
	const struct mac_field field = { digest, AUTH_EXCHANGE_LEN };
	struct wire_proof w;

	if (len != sizeof(w))
		return -EBADMSG;
	memcpy(&w, word, sizeof(w));
	return w.zero ? -EBADMSG
		      : keyring_check(ring, le32toh(w.key), word_label[side],
				      &field, 1, w.mac);
}
