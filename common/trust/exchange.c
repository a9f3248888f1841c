/* SPDX-License-Identifier: BSD-2-Clause */
/* exchange.c - see exchange.h. */
#include "exchange.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

static EVP_PKEY *make(void)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, NULL);
	EVP_PKEY *key = NULL;

	if (ctx && EVP_PKEY_keygen_init(ctx) > 0 &&
	    EVP_PKEY_keygen(ctx, &key) <= 0)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	return key;
}

int exchange_make(struct exchange *x)
{
	size_t own = EXCHANGE_LEN, public = EXCHANGE_LEN;
	EVP_PKEY *key = make();
	struct exchange made;
	int rc = -ENOMEM;

	if (key && EVP_PKEY_get_raw_private_key(key, made.own, &own) > 0 &&
	    EVP_PKEY_get_raw_public_key(key, made.public, &public) > 0) {
		*x = made;
		rc = 0;
	}
	EVP_PKEY_free(key);
	explicit_bzero(&made, sizeof(made));
	return rc;
}

static int derive(EVP_PKEY *own, EVP_PKEY *theirs, uint8_t *out)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(own, NULL);
	uint8_t secret[EXCHANGE_LEN];
	size_t len = sizeof(secret);
	int rc = -ENOMEM;

	/* a key of small order fails here */
	if (ctx && EVP_PKEY_derive_init(ctx) > 0 &&
	    EVP_PKEY_derive_set_peer(ctx, theirs) > 0)
		rc = EVP_PKEY_derive(ctx, secret, &len) > 0 &&
				     len == sizeof(secret)
			     ? 0
			     : -EINVAL;
	if (!rc)
		memcpy(out, secret, sizeof(secret));
	explicit_bzero(secret, sizeof(secret));
	EVP_PKEY_CTX_free(ctx);
	return rc;
}

int exchange_secret(const struct exchange *x,
		    const uint8_t theirs[EXCHANGE_LEN],
		    uint8_t out[EXCHANGE_LEN])
{
	EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL,
						     x->own, EXCHANGE_LEN);
	EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL,
						     theirs, EXCHANGE_LEN);
	int rc = own && peer ? derive(own, peer, out) : -ENOMEM;

	EVP_PKEY_free(own);
	EVP_PKEY_free(peer);
	return rc;
}
