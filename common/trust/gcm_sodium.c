/* SPDX-License-Identifier: BSD-2-Clause */
/* gcm_sodium.c - AES-256-GCM with libsodium: see gcm_engine.h. */
#include <errno.h>
#include <sodium/core.h>
#include <sodium/crypto_aead_aes256gcm.h>

#include "common/trust/gcm_engine.h"

typedef crypto_aead_aes256gcm_state state;

_Static_assert(sizeof(state) <= GCM_ROOM && _Alignof(state) <= 16, "has room");
_Static_assert(crypto_aead_aes256gcm_KEYBYTES == MAC_KEY_LEN,
	       "a code is a key");
_Static_assert(crypto_aead_aes256gcm_NPUBBYTES == GCM_NONCE_LEN, "the same");
_Static_assert(crypto_aead_aes256gcm_ABYTES == SEALER_TAG_LEN, "the same");

static int sodium_open(void *room, const uint8_t key[MAC_KEY_LEN], bool out,
		       void **way)
{
	(void)out;
	if (crypto_aead_aes256gcm_beforenm(room, key))
		return -ENOMEM;
	*way = room;
	return 0;
}

static void sodium_close(void *way)
{
	explicit_bzero(way, sizeof(state));
}

/* SEAL_AUTH passes the data as additional authenticated data, after the head. */
static int sodium_seal(void *way, const struct gcm_record *r)
{
	int rc;

	gcm_gather(r);
	if (r->enciphers)
		rc = crypto_aead_aes256gcm_encrypt_detached_afternm(
			r->data, r->tag, NULL, r->data, r->len, r->head,
			r->head_len, NULL, r->nonce, way);
	else
		rc = crypto_aead_aes256gcm_encrypt_detached_afternm(
			r->data, r->tag, NULL, NULL, 0,
			r->head_len ? r->head : r->data, r->head_len + r->len,
			NULL, r->nonce, way);
	return rc ? -ENOMEM : 0;
}

static int sodium_unseal(void *way, const struct gcm_record *r)
{
	int rc;

	if (r->enciphers)
		rc = crypto_aead_aes256gcm_decrypt_detached_afternm(
			r->data, NULL, r->data, r->len, r->tag, r->head,
			r->head_len, r->nonce, way);
	else
		rc = crypto_aead_aes256gcm_decrypt_detached_afternm(
			NULL, NULL, r->data, 0, r->tag,
			r->head_len ? r->head : r->data, r->head_len + r->len,
			r->nonce, way);
	return rc ? -EBADMSG : 0;
}

const struct gcm_engine *gcm_sodium(void)
{
	static const struct gcm_engine engine = { sodium_open, sodium_close,
						  sodium_seal, sodium_unseal };

	return sodium_init() < 0 || !crypto_aead_aes256gcm_is_available()
		       ? NULL
		       : &engine;
}
