/* SPDX-License-Identifier: BSD-2-Clause */
/* gcm_crypto.c - AES-256-GCM with libcrypto: see gcm_engine.h. */
#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>

#include "common/trust/crypto_end.h"
#include "common/trust/gcm_engine.h"

static int begin(EVP_CIPHER_CTX *ctx, const uint8_t key[MAC_KEY_LEN], bool out)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	int rc = cipher && ctx &&
				 EVP_CipherInit_ex(ctx, cipher, NULL, key, NULL,
						   out)
			 ? 0
			 : -ENOMEM;

	EVP_CIPHER_free(cipher);
	return rc;
}

static int way_open(void *room, const uint8_t key[MAC_KEY_LEN], bool out,
		    void **way)
{
	EVP_CIPHER_CTX *ctx;
	int rc;

	(void)room;
	if (crypto_is_gone())
		return -ECANCELED;
	ctx = EVP_CIPHER_CTX_new();
	rc = begin(ctx, key, out);
	if (rc)
		EVP_CIPHER_CTX_free(ctx);
	else
		*way = ctx;
	return rc;
}

static void way_close(void *way)
{
	if (!crypto_is_gone())
		EVP_CIPHER_CTX_free(way);
}

static int update(EVP_CIPHER_CTX *ctx, const void *from, void *to, size_t len)
{
	int n;

	return len <= INT_MAX && EVP_CipherUpdate(ctx, to, &n, from, (int)len)
		       ? 0
		       : -ENOMEM;
}

/* Starts a record: nonce and head. */
static int start(EVP_CIPHER_CTX *ctx, const struct gcm_record *r)
{
	if (crypto_is_gone())
		return -ECANCELED;
	if (!EVP_CipherInit_ex(ctx, NULL, NULL, NULL, r->nonce, -1))
		return -ENOMEM;
	return update(ctx, r->head, NULL, r->head_len);
}

static int encipher(EVP_CIPHER_CTX *ctx, const struct gcm_record *r)
{
	const struct iovec *from = r->from;
	char *to = r->data;
	int rc = 0;

	for (unsigned int n = r->n; n && !rc; to += from->iov_len, from++, n--)
		rc = update(ctx, from->iov_base, to, from->iov_len);
	return rc;
}

/* SEAL_AUTH copies the data first, because the pieces may change. */
static int cover(EVP_CIPHER_CTX *ctx, const struct gcm_record *r)
{
	gcm_gather(r);
	return update(ctx, r->data, NULL, r->len);
}

static int finish(EVP_CIPHER_CTX *ctx)
{
	uint8_t none[16];
	int n;

	return EVP_CipherFinal_ex(ctx, none, &n) ? 0 : -EBADMSG;
}

static int tag(EVP_CIPHER_CTX *ctx, int what, uint8_t *tag)
{
	return EVP_CIPHER_CTX_ctrl(ctx, what, SEALER_TAG_LEN, tag) ? 0
								   : -ENOMEM;
}

static int way_seal(void *way, const struct gcm_record *r)
{
	int rc = start(way, r);

	if (!rc)
		rc = r->enciphers ? encipher(way, r) : cover(way, r);
	if (!rc && finish(way))
		rc = -ENOMEM;
	return rc ? rc : tag(way, EVP_CTRL_AEAD_GET_TAG, r->tag);
}

static int way_unseal(void *way, const struct gcm_record *r)
{
	int rc = start(way, r);

	if (!rc)
		rc = update(way, r->data, r->enciphers ? r->data : NULL,
			    r->len);
	if (!rc)
		rc = tag(way, EVP_CTRL_AEAD_SET_TAG, r->tag);
	return rc ? rc : finish(way);
}

const struct gcm_engine gcm_crypto = { way_open, way_close, way_seal,
				       way_unseal };
