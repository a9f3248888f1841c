/* SPDX-License-Identifier: BSD-2-Clause */
/* pact.c - see pact.h. */
#include "common/trust/pact.h"

#include <errno.h>
#include <string.h>

#include "common/wire/wire.h"

/* clang-format off */
#define SEALS 0x100u /* or-ed to the mode */
#define HERE 16 /* shift of this value */
struct facts {
	le64 fsid, session, boot;
	le32 epoch, mode;
	uint8_t key[2][WIRE_KEY_LEN];
	uint8_t nonce[2][WIRE_KEY_LEN];
};
/* clang-format on */

_Static_assert(sizeof(struct facts) == 160, "no padding");

/* Nothing is secret here: with a public key, the code is a digest. */
static const uint8_t no_key[MAC_KEY_LEN];

static const char *const word_label[] = {
	[HANDSHAKE_CALLER] = "pvfs auth 1 caller",
	[HANDSHAKE_SERVER] = "pvfs auth 1 server",
};

static struct facts facts_of(const struct pact *pact)
{
	struct facts facts = {
		.fsid = htole64(pact->fsid),
		.session = htole64(pact->session),
		.boot = htole64(pact->boot),
		.epoch = htole32(pact->epoch),
		.mode = htole32(pact->mode | (pact->seals ? SEALS : 0) |
				pact->here << HERE),
	};

	memcpy(facts.key, pact->key, sizeof(facts.key));
	memcpy(facts.nonce, pact->nonce, sizeof(facts.nonce));
	return facts;
}

void pact_caller(const struct pact *pact, uint8_t out[PACT_LEN])
{
	const struct facts facts = facts_of(pact);
	const uint32_t uid = htole32(pact->uid);
	const struct mac_field field[] = { { &facts, sizeof(facts) },
					   { &uid, sizeof(uid) } };

	mac_make(no_key, "pvfs pact 1 caller", field, pact->here ? 2 : 1, out);
}

void pact_server(const struct pact *pact, const struct pact_answer *answer,
		 uint8_t out[PACT_LEN])
{
	const struct facts facts = facts_of(pact);
	const struct mac_field field[] = { { &facts, sizeof(facts) },
					   { answer->ticket, answer->len },
					   { answer->secret, WIRE_KEY_LEN } };

	mac_make(no_key, "pvfs pact 1 server", field, 3, out);
}

void pact_word(const uint8_t secret[MAC_KEY_LEN], const uint8_t seen[PACT_LEN],
	       uint8_t word[MAC_LEN])
{
	const struct mac_field field = { seen, PACT_LEN };

	mac_make(secret, "pvfs pact 1 word", &field, 1, word);
}

void pact_hide(const struct pact *pact, const uint8_t shared[EXCHANGE_LEN],
	       const uint8_t secret[MAC_KEY_LEN], uint8_t out[MAC_KEY_LEN])
{
	const struct facts facts = facts_of(pact);
	const struct mac_field field = { &facts, sizeof(facts) };
	uint8_t pad[MAC_LEN];

	mac_make(shared, "pvfs pact 1 secret", &field, 1, pad);
	for (unsigned int i = 0; i < MAC_KEY_LEN; i++)
		out[i] = secret[i] ^ pad[i];
	explicit_bzero(pad, sizeof(pad));
}

void pact_sign(struct keyring *ring, enum handshake_side side,
	       const uint8_t seen[PACT_LEN], struct wire_proof *word)
{
	const struct mac_field field = { seen, PACT_LEN };
	struct wire_proof w = { 0 };
	uint32_t id;

	keyring_mac(ring, word_label[side], &field, 1, &id, w.mac);
	w.key = htole32(id);
	*word = w;
}

int pact_check(struct keyring *ring, enum handshake_side side,
	       const uint8_t seen[PACT_LEN], const void *word, size_t len)
{
	const struct mac_field field = { seen, PACT_LEN };
	struct wire_proof w;

	if (len != sizeof(w))
		return -EBADMSG;
	memcpy(&w, word, sizeof(w));
	return w.zero ? -EBADMSG
		      : keyring_check(ring, le32toh(w.key), word_label[side],
				      &field, 1, w.mac);
}
