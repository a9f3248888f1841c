/* SPDX-License-Identifier: BSD-2-Clause */
/* sealing.c - see sealing.h. */
#include "common/trust/sealing.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "common/trust/key_pair.h"
#include "common/trust/gcm.h"
#include "common/trust/handshake_int.h"
#include "common/trust/secret.h"

static const char *const key_label[] = {
	[HANDSHAKE_CALLER] = "pvfs seal 1 caller",
	[HANDSHAKE_SERVER] = "pvfs seal 1 server",
};

_Static_assert(KEY_PAIR_LEN == WIRE_KEY_LEN, "keys as on the wire");

void sealing_unpair(struct seal_agreement *agreement)
{
	secret_free(agreement, sizeof(*agreement));
}

int sealing_pair(void *arg, enum handshake_side side,
		 struct seal_agreement **out)
{
	struct seal_agreement *agreement = secret_new(sizeof(*agreement));
	struct key_pair x;
	int rc = agreement ? key_pair_make(&x) : -ENOMEM;

	if (rc) {
		sealing_unpair(agreement);
		return rc;
	}
	memcpy(agreement->own, x.own, sizeof(agreement->own));
	memcpy(agreement->public[side], x.public, WIRE_KEY_LEN);
	explicit_bzero(&x, sizeof(x));
	*out = agreement;
	return 0;
}

int sealing_seeds(const struct handshake *shake, enum handshake_side side,
		  const struct seal_agreement *agreement,
		  struct sealing_seeds *seeds)
{
	struct key_pair x;
	int rc;

	memcpy(x.own, agreement->own, sizeof(x.own));
	memcpy(x.public, agreement->public[side], sizeof(x.public));
	rc = key_pair_secret(&x, agreement->public[!side], seeds -> shared);
	explicit_bzero(&x, sizeof(x));
	handshake_facts(shake, seeds->facts);
	seeds->mode = htole32(agreement->mode);
	seeds->field[0] = (struct mac_field){ seeds->facts, HANDSHAKE_FACTS };
	seeds->field[1] = (struct mac_field){ &seeds->mode,
					      sizeof(seeds->mode) };
	seeds->field[2] = (struct mac_field){ agreement->public[0],
					      WIRE_KEY_LEN };
	seeds->field[3] = (struct mac_field){ agreement->public[1],
					      WIRE_KEY_LEN };
	seeds->field[4] = (struct mac_field){ seeds->shared, KEY_PAIR_LEN };
	return rc;
}

int sealing_by_base(const uint8_t base[MAC_KEY_LEN], enum handshake_side side,
		    uint32_t mode, struct sealer **sealer)
{
	uint8_t key[2][MAC_KEY_LEN];
	int rc;

	mac_make(base, key_label[0], NULL, 0, key[0]);
	mac_make(base, key_label[1], NULL, 0, key[1]);
	rc = gcm_sealer((enum seal_mode)mode, key[side], key[!side], NULL,
			sealer);
	explicit_bzero(key, sizeof(key));
	return rc;
}

int sealing_by_secret(const uint8_t secret[MAC_KEY_LEN],
		      const struct handshake *shake, enum handshake_side side,
		      const struct seal_agreement *agreement,
		      struct sealer **sealer)
{
	struct sealing_seeds seeds;
	uint8_t base[MAC_KEY_LEN];
	int rc = sealing_seeds(shake, side, agreement, &seeds);

	if (!rc) {
		mac_make(secret, SEALING_LABEL, seeds.field, SEALING_SEEDS,
			 base);
		rc = sealing_by_base(base, side, agreement->mode, sealer);
	}
	explicit_bzero(&seeds, sizeof(seeds));
	explicit_bzero(base, sizeof(base));
	return rc;
}

/* ---- sealing in place ---- */

/* Nothing is secret here: the code is a digest. */
static const uint8_t no_key[MAC_KEY_LEN];

_Static_assert(TRANSCRIPT_LEN == MAC_LEN, "a sum is a code");

void transcript_extend(uint8_t sum[TRANSCRIPT_LEN], const void *msg, size_t len)
{
	const struct mac_field field[] = { { sum, TRANSCRIPT_LEN },
					   { msg, len } };

	mac_make(no_key, "pvfs heard 1", field, 2, sum);
}

void sealing_root(const uint8_t secret[MAC_KEY_LEN],
		  const uint8_t shared[WIRE_KEY_LEN], uint8_t root[MAC_KEY_LEN])
{
	const struct mac_field field = { shared, WIRE_KEY_LEN };

	mac_make(secret, "pvfs seal 1 root", &field, 1, root);
}

int sealing_in_place(const uint8_t root[MAC_KEY_LEN],
		     const uint8_t digest[MAC_LEN],
		     const struct transcript *transcript,
		     enum handshake_side side, uint32_t mode,
		     struct sealer **sealer)
{
	const uint32_t how = htole32(mode);
	const struct mac_field field[] = {
		{ digest, MAC_LEN },
		{ &how, sizeof(how) },
		{ transcript->sum[0], TRANSCRIPT_LEN },
		{ transcript->sum[1], TRANSCRIPT_LEN }
	};
	uint8_t base[MAC_KEY_LEN];
	int rc;

	mac_make(root, "pvfs seal 1 here", field, 4, base);
	rc = sealing_by_base(base, side, mode, sealer);
	explicit_bzero(base, sizeof(base));
	return rc;
}
