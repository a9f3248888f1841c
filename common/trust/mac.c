/* SPDX-License-Identifier: BSD-2-Clause */
/* mac.c - see mac.h. */
#include "mac.h"

#include <endian.h>
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

static EVP_MAC_CTX *hmac_new(void)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	EVP_MAC_CTX *ctx = mac ? EVP_MAC_CTX_new(mac) : NULL;

	EVP_MAC_free(mac);
	return ctx;
}

static int hmac_begin(EVP_MAC_CTX *ctx, const uint8_t *key)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest,
						 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_init(ctx, key, MAC_KEY_LEN, params) ? 0 : -ENOMEM;
}

static int hmac_put(EVP_MAC_CTX *ctx, const void *ptr, size_t len)
{
	uint64_t n = htole64(len);

	return EVP_MAC_update(ctx, (const void *)&n, sizeof(n)) &&
			       (!len || EVP_MAC_update(ctx, ptr, len))
		       ? 0
		       : -ENOMEM;
}

static int hmac_end(EVP_MAC_CTX *ctx, uint8_t *out)
{
	uint8_t code[MAC_LEN];
	size_t len;

	if (!EVP_MAC_final(ctx, code, &len, sizeof(code)) || len != MAC_LEN)
		return -ENOMEM;
	memcpy(out, code, MAC_LEN);
	return 0;
}

int mac_make(const uint8_t key[MAC_KEY_LEN], const char *label,
	     const struct mac_field *field, unsigned int n,
	     uint8_t out[MAC_LEN])
{
	EVP_MAC_CTX *ctx = hmac_new();
	int rc = ctx ? hmac_begin(ctx, key) : -ENOMEM;

	if (!rc)
		rc = hmac_put(ctx, label, strlen(label));
	for (unsigned int i = 0; !rc && i < n; i++)
		rc = hmac_put(ctx, field[i].ptr, field[i].len);
	if (!rc)
		rc = hmac_end(ctx, out);
	EVP_MAC_CTX_free(ctx);
	return rc;
}

bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN])
{
	return !CRYPTO_memcmp(a, b, MAC_LEN);
}
