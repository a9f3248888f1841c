/* SPDX-License-Identifier: BSD-2-Clause */
/* exchange.c - see exchange.h. */
#include "common/trust/exchange.h"

#include <errno.h>
#include <sodium/core.h>
#include <sodium/crypto_scalarmult_curve25519.h>
#include <string.h>

#include "common/util/random_id.h"

_Static_assert(EXCHANGE_LEN == crypto_scalarmult_curve25519_BYTES &&
		       EXCHANGE_LEN == crypto_scalarmult_curve25519_SCALARBYTES,
	       "as it has them");

/* libsodium chooses the code for this CPU. Any thread may call it, repeatedly. */
static int init_sodium(void)
{
	return sodium_init() < 0 ? -EIO : 0;
}

int exchange_make(struct exchange *x)
{
	struct exchange made;
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

int exchange_secret(const struct exchange *x,
		    const uint8_t theirs[EXCHANGE_LEN],
		    uint8_t out[EXCHANGE_LEN])
{
	uint8_t secret[EXCHANGE_LEN];
	int rc = init_sodium();

	/* a key of small order makes the secret zero, so anybody knows it */
	if (!rc && crypto_scalarmult_curve25519(secret, x->own, theirs))
		rc = -EINVAL;
	if (!rc)
		memcpy(out, secret, sizeof(secret));
	explicit_bzero(secret, sizeof(secret));
	return rc;
}
