/* SPDX-License-Identifier: BSD-2-Clause */
/* gcm.c - see gcm.h. */
#include "common/trust/gcm.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/container.h"
#include "common/trust/gcm_engine.h"
#include "common/trust/secret.h"

/* Secret memory for both directions. */
struct secrets {
	struct {
		uint8_t room[GCM_ROOM], key[MAC_KEY_LEN];
	} way[2];
};

_Static_assert(!((GCM_ROOM + MAC_KEY_LEN) % 16), "aligned, both");

struct way {
	const struct gcm_engine *engine;
	void *ctx; /* of the engine */
	bool out;
	uint8_t *room, *key; /* in secrets */
	uint64_t number; /* of the next record */
	uint64_t bytes, records; /* sealed with this key */
	uint64_t all; /* all bytes of this direction */
	bool broken;
};

struct gcm {
	struct sealer sealer;
	bool enciphers;
	struct gcm_limits limits;
	struct way out, in;
	struct secrets *secrets;
};

/* ---- one direction ---- */

static void way_close(struct way *way)
{
	if (way->engine)
		way->engine->close(way->ctx);
	way->engine = NULL;
}

/* Opens the direction with its current key. */
static int way_open(struct way *way, const struct gcm_engine *engine)
{
	int rc = engine ? engine->open(way->room, way->key, way->out, &way->ctx)
			: -ENOMEM;

	if (!rc)
		way->engine = engine;
	return rc;
}

static int way_change(struct way *way, const struct gcm_engine *engine)
{
	way_close(way);
	return way_open(way, engine);
}

/* Counts a record. Both ends change the key after the same record. */
static int count_record(const struct gcm *gcm, struct way *way, size_t len)
{
	way->number++;
	way->records++;
	way->bytes += len;
	way->all += len;
	if (way->records < gcm->limits.records &&
	    way->bytes < gcm->limits.bytes)
		return 0;
	way->records = way->bytes = 0;
	mac_make(way->key, "pvfs seal 1 next key", NULL, 0, way->key);
	return way_change(way, way->engine);
}

/* Makes the nonce of the next record, and changes the engine if another one is due. */
static int start_record(struct way *way, uint8_t nonce[GCM_NONCE_LEN])
{
	const struct gcm_engine *engine = gcm_engine(way->all);
	uint64_t number = htobe64(way->number);

	memset(nonce, 0, GCM_NONCE_LEN - sizeof(number));
	memcpy(nonce + GCM_NONCE_LEN - sizeof(number), &number, sizeof(number));
	if (way->broken)
		return -ECANCELED;
	return engine == way->engine ? 0 : way_change(way, engine);
}

/* ---- the sealer ---- */

static size_t total_len(const struct iovec *piece, unsigned int n)
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
	uint8_t nonce[GCM_NONCE_LEN];
	const struct gcm_record r = { nonce,
				      head,
				      head_len,
				      from,
				      n,
				      data,
				      total_len(from, n),
				      tag,
				      gcm->enciphers };
	int rc = start_record(way, nonce);

	if (!rc)
		rc = way->engine->seal(way->ctx, &r);
	if (!rc)
		rc = count_record(gcm, way, r.len);
	way->broken = rc;
	return rc;
}

static int gcm_open(struct sealer *s, const void *head, size_t head_len,
		    void *data, size_t len, const uint8_t tag[SEALER_TAG_LEN])
{
	struct gcm *gcm = container_of(s, struct gcm, sealer);
	struct way *way = &gcm->in;
	uint8_t nonce[GCM_NONCE_LEN], shown[SEALER_TAG_LEN];
	const struct gcm_record r = { .nonce = nonce,
				      .head = head,
				      .head_len = head_len,
				      .data = data,
				      .len = len,
				      .tag = shown,
				      .enciphers = gcm->enciphers };
	int rc = start_record(way, nonce);

	memcpy(shown, tag, sizeof(shown));
	if (!rc)
		rc = way->engine->unseal(way->ctx, &r);
	if (!rc)
		rc = count_record(gcm, way, len);
	way->broken = rc;
	return rc;
}

static void gcm_free(struct sealer *s)
{
	struct gcm *gcm = container_of(s, struct gcm, sealer);

	way_close(&gcm->out);
	way_close(&gcm->in);
	secret_free(gcm->secrets, sizeof(*gcm->secrets));
	free(gcm);
}

static int way_init(struct gcm *gcm, struct way *way,
		    const uint8_t key[MAC_KEY_LEN])
{
	way->out = way == &gcm->out;
	way->room = gcm->secrets->way[way->out].room;
	way->key = gcm->secrets->way[way->out].key;
	memcpy(way->key, key, MAC_KEY_LEN);
	return way_open(way, gcm_engine(0));
}

static int gcm_init(struct gcm *gcm, const uint8_t *out, const uint8_t *in)
{
	int rc;

	gcm->secrets = secret_new(sizeof(*gcm->secrets));
	if (!gcm->secrets)
		return -ENOMEM;
	rc = way_init(gcm, &gcm->out, out);
	return rc ? rc : way_init(gcm, &gcm->in, in);
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
