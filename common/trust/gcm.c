/* SPDX-License-Identifier: BSD-2-Clause */
/* gcm.c - see gcm.h. */
#include "gcm.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "crypto_end.h"
#include "secret.h"

#define NONCE_LEN 12 /* zeros, then the number */

struct way {
	EVP_CIPHER_CTX *ctx;
	uint8_t *key; /* of keys */
	uint64_t number; /* of the next record */
	uint64_t bytes, records; /* under this key */
	bool broken;
};

struct gcm {
	struct sealer sealer;
	bool enciphers;
	struct gcm_limits limits;
	struct way out, in;
	uint8_t (*keys)[MAC_KEY_LEN]; /* two; secret memory */
};

static int set_key(struct way *way, bool out)
{
	return EVP_CipherInit_ex(way->ctx, NULL, NULL, way->key, NULL, out)
		       ? 0
		       : -ENOMEM;
}

static int way_init(struct way *way, const EVP_CIPHER *cipher, uint8_t *key,
		    bool out)
{
	way->key = key;
	way->ctx = EVP_CIPHER_CTX_new();
	if (!way->ctx ||
	    !EVP_CipherInit_ex(way->ctx, cipher, NULL, NULL, NULL, out))
		return -ENOMEM;
	return set_key(way, out);
}

/* Both ends come to this after the same record. */
static int count(const struct gcm *gcm, struct way *way, size_t len, bool out)
{
	way->number++;
	way->records++;
	way->bytes += len;
	if (way->records < gcm->limits.records &&
	    way->bytes < gcm->limits.bytes)
		return 0;
	way->records = way->bytes = 0;
	mac_make(way->key, "pvfs seal 1 next key", NULL, 0, way->key);
	return set_key(way, out);
}

static int begin(struct way *way, const void *head, size_t head_len)
{
	uint8_t nonce[NONCE_LEN] = { 0 };
	uint64_t number = htobe64(way->number);
	int n;

	memcpy(nonce + NONCE_LEN - sizeof(number), &number, sizeof(number));
	return EVP_CipherInit_ex(way->ctx, NULL, NULL, NULL, nonce, -1) &&
			       EVP_CipherUpdate(way->ctx, NULL, &n, head,
						(int)head_len)
		       ? 0
		       : -ENOMEM;
}

/* Without a place for what it becomes, data is what the tag is about alone. */
static int update(const struct gcm *gcm, struct way *way, const void *from,
		  void *to, size_t len)
{
	int n;

	return len <= INT_MAX && EVP_CipherUpdate(way->ctx,
						  gcm->enciphers ? to : NULL,
						  &n, from, (int)len)
		       ? 0
		       : -ENOMEM;
}

/* What only authenticates takes a copy first: pieces may change. */
static int copy(const struct gcm *gcm, struct way *way,
		const struct iovec *from, unsigned int n, char *to)
{
	size_t len = 0;

	for (; n; len += from->iov_len, from++, n--)
		if (from->iov_base != to + len)
			memcpy(to + len, from->iov_base, from->iov_len);
	return update(gcm, way, to, to, len);
}

static int encipher(const struct gcm *gcm, struct way *way,
		    const struct iovec *from, unsigned int n, char *to)
{
	int rc = 0;

	for (; n && !rc; to += from->iov_len, from++, n--)
		rc = update(gcm, way, from->iov_base, to, from->iov_len);
	return rc;
}

/* Before the data of the next record. */
static int start(struct way *way, const void *head, size_t head_len)
{
	if (way->broken || crypto_is_gone())
		return -ECANCELED;
	return begin(way, head, head_len);
}

static int finish(struct way *way)
{
	uint8_t none[16];
	int n;

	return EVP_CipherFinal_ex(way->ctx, none, &n) ? 0 : -EBADMSG;
}

static int get_tag(struct way *way, uint8_t *tag)
{
	return EVP_CIPHER_CTX_ctrl(way->ctx, EVP_CTRL_AEAD_GET_TAG,
				   SEALER_TAG_LEN, tag)
		       ? 0
		       : -ENOMEM;
}

static int set_tag(struct way *way, const uint8_t *tag)
{
	return EVP_CIPHER_CTX_ctrl(way->ctx, EVP_CTRL_AEAD_SET_TAG,
				   SEALER_TAG_LEN, (void *)(uintptr_t)tag)
		       ? 0
		       : -ENOMEM;
}

static size_t length(const struct iovec *piece, unsigned int n)
{
	size_t len = 0;

	for (; n; piece++, n--)
		len += piece->iov_len;
	return len;
}

static int gcm_seal(struct sealer *s, const void *head, size_t head_len,
		    const struct iovec *from, unsigned int n, void *data,
		    uint8_t tag[SEALER_TAG_LEN])
{
	struct gcm *gcm = container_of(s, struct gcm, sealer);
	struct way *way = &gcm->out;
	int rc = start(way, head, head_len);

	if (!rc)
		rc = gcm->enciphers ? encipher(gcm, way, from, n, data)
				    : copy(gcm, way, from, n, data);
	if (!rc && finish(way))
		rc = -ENOMEM;
	if (!rc)
		rc = get_tag(way, tag);
	if (!rc)
		rc = count(gcm, way, length(from, n), true);
	way->broken = rc;
	return rc;
}

static int gcm_open(struct sealer *s, const void *head, size_t head_len,
		    void *data, size_t len, const uint8_t tag[SEALER_TAG_LEN])
{
	struct gcm *gcm = container_of(s, struct gcm, sealer);
	struct way *way = &gcm->in;
	int rc = start(way, head, head_len);

	if (!rc)
		rc = update(gcm, way, data, data, len);
	if (!rc)
		rc = set_tag(way, tag);
	if (!rc)
		rc = finish(way);
	if (!rc)
		rc = count(gcm, way, len, false);
	way->broken = rc;
	return rc;
}

static void gcm_free(struct sealer *s)
{
	struct gcm *gcm = container_of(s, struct gcm, sealer);

	if (!crypto_is_gone()) {
		EVP_CIPHER_CTX_free(gcm->out.ctx);
		EVP_CIPHER_CTX_free(gcm->in.ctx);
	}
	secret_free(gcm->keys, 2 * MAC_KEY_LEN);
	free(gcm);
}

static int gcm_init(struct gcm *gcm, const uint8_t *out, const uint8_t *in)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	int rc = cipher ? 0 : -ENOMEM;

	gcm->keys = secret_new(2 * MAC_KEY_LEN);
	if (!gcm->keys)
		rc = -ENOMEM;
	if (!rc) {
		memcpy(gcm->keys[0], out, MAC_KEY_LEN);
		memcpy(gcm->keys[1], in, MAC_KEY_LEN);
		rc = way_init(&gcm->out, cipher, gcm->keys[0], true);
	}
	if (!rc)
		rc = way_init(&gcm->in, cipher, gcm->keys[1], false);
	EVP_CIPHER_free(cipher);
	return rc;
}

int gcm_sealer(enum seal_mode mode, const uint8_t out[MAC_KEY_LEN],
	       const uint8_t in[MAC_KEY_LEN], const struct gcm_limits *limits,
	       struct sealer **sealer)
{
	struct gcm *gcm;
	int rc;

	if (mode != SEAL_AUTH && mode != SEAL_ENCRYPT)
		return -EINVAL;
	gcm = calloc(1, sizeof(*gcm));
	if (!gcm)
		return -ENOMEM;
	gcm->sealer = (struct sealer){ gcm_seal, gcm_open, gcm_free };
	gcm->enciphers = mode == SEAL_ENCRYPT;
	gcm->limits.bytes = limits && limits->bytes ? limits->bytes : GCM_BYTES;
	gcm->limits.records = limits && limits->records ? limits->records
							: GCM_RECORDS;
	rc = gcm_init(gcm, out, in);
	if (rc)
		gcm_free(&gcm->sealer);
	else
		*sealer = &gcm->sealer;
	return rc;
}
