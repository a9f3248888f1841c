/* SPDX-License-Identifier: BSD-2-Clause */
/* key_pair.c - see key_pair.h. */
#include "common/trust/key_pair.h"

#include <errno.h>
#include <sodium/core.h>
#include <sodium/crypto_scalarmult_curve25519.h>
#include <string.h>

#include "common/util/random_id.h"

_Static_assert(KEY_PAIR_LEN == crypto_scalarmult_curve25519_BYTES &&
		       KEY_PAIR_LEN == crypto_scalarmult_curve25519_SCALARBYTES,
	       "as it has them");

/* libsodium chooses the code for this CPU. Any thread may call it, repeatedly. */
static int init_sodium(void)
{
	return sodium_init() < 0 ? -EIO : 0;
}

int key_pair_make(struct key_pair *x)
{
	struct key_pair made;
	int rc = init_sodium();

	if (!rc)
		rc = random_bytes(made.own, sizeof(made.own));
	if (rc)
		return rc;
	crypto_scalarmult_curve25519_base(made.public, made.own);
	*x = made;
	explicit_bzero(&made, sizeof(made));
	return 0;
}

int key_pair_secret(const struct key_pair *x,
		    const uint8_t theirs[KEY_PAIR_LEN],
		    uint8_t out[KEY_PAIR_LEN])
{
	uint8_t secret[KEY_PAIR_LEN];
	int rc = init_sodium();

	/* a key of small order makes the secret zero, so anybody knows it */
	if (!rc && crypto_scalarmult_curve25519(secret, x->own, theirs))
		rc = -EINVAL;
	if (!rc)
		memcpy(out, secret, sizeof(secret));
	explicit_bzero(secret, sizeof(secret));
	return rc;
}
