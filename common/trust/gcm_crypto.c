/* SPDX-License-Identifier: BSD-2-Clause */
/* gcm_crypto.c - AES-256-GCM with libcrypto: see gcm_engine.h. */
#include "common/trust/gcm_engine.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>

static int set_key(EVP_CIPHER_CTX *ctx, const uint8_t key[MAC_KEY_LEN],
		   bool out)
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
	rc = set_key(ctx, key, out);
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

static int cipher_update(EVP_CIPHER_CTX *ctx, const void *from, void *to,
			 size_t len)
{
	int n;

	return len <= INT_MAX && EVP_CipherUpdate(ctx, to, &n, from, (int)len)
		       ? 0
		       : -ENOMEM;
}

/* Starts a record: nonce and head. */
static int start_record(EVP_CIPHER_CTX *ctx, const struct gcm_record *r)
{
	if (crypto_is_gone())
		return -ECANCELED;
	if (!EVP_CipherInit_ex(ctx, NULL, NULL, NULL, r->nonce, -1))
		return -ENOMEM;
	return cipher_update(ctx, r->head, NULL, r->head_len);
}

static int encipher_pieces(EVP_CIPHER_CTX *ctx, const struct gcm_record *r)
{
	const struct iovec *from = r->from;
	char *to = r->data;
	int rc = 0;

	for (unsigned int n = r->n; n && !rc; to += from->iov_len, from++, n--)
		rc = cipher_update(ctx, from->iov_base, to, from->iov_len);
	return rc;
}

/* SEAL_AUTH copies the data first, because the pieces may change. */
static int cover_data(EVP_CIPHER_CTX *ctx, const struct gcm_record *r)
{
	gcm_gather(r);
	return cipher_update(ctx, r->data, NULL, r->len);
}

static int finish_record(EVP_CIPHER_CTX *ctx)
{
	uint8_t none[16];
	int n;

	return EVP_CipherFinal_ex(ctx, none, &n) ? 0 : -EBADMSG;
}

static int pass_tag(EVP_CIPHER_CTX *ctx, int what, uint8_t *tag)
{
	return EVP_CIPHER_CTX_ctrl(ctx, what, SEALER_TAG_LEN, tag) ? 0
								   : -ENOMEM;
}

static int way_seal(void *way, const struct gcm_record *r)
{
	int rc = start_record(way, r);

	if (!rc)
		rc = r->enciphers ? encipher_pieces(way, r)
				  : cover_data(way, r);
	if (!rc && finish_record(way))
		rc = -ENOMEM;
	return rc ? rc : pass_tag(way, EVP_CTRL_AEAD_GET_TAG, r->tag);
}

static int way_unseal(void *way, const struct gcm_record *r)
{
	int rc = start_record(way, r);

	if (!rc)
		rc = cipher_update(way, r->data, r->enciphers ? r->data : NULL,
				   r->len);
	if (!rc)
		rc = pass_tag(way, EVP_CTRL_AEAD_SET_TAG, r->tag);
	return rc ? rc : finish_record(way);
}

const struct gcm_engine gcm_crypto = { way_open, way_close, way_seal,
				       way_unseal };

/* ---- the end of the program ---- */

/* libcrypto registers no cleanup here. The program may have made it register one before. */
static void init_without_cleanup(void)
{
	OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

void crypto_keep(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_without_cleanup);
}

/* Without options, OPENSSL_init_crypto() returns 0 after the cleanup, and otherwise only 1. */
bool crypto_is_gone(void)
{
	return !OPENSSL_init_crypto(0, NULL);
}
