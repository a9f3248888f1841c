/* SPDX-License-Identifier: BSD-2-Clause */
/* intents.c - rows (kind, id) -> pending work. */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "mgr/db/intents.h"

struct intent_row {
	uint64_t handle;
	uint32_t version;
	uint32_t base, pcount, ssize;
	uint64_t size;
	uint64_t session;
	uint64_t seq;
	uint32_t slot;
	uint32_t op;
	uint64_t expiry; /* since version 2 */
	uint64_t clock;
	uint64_t born; /* since version 3 */
	/* since version 4, which earlier releases reject; written for rings other than 0 only */
	uint32_t ring, zero;
};
#define VERSION_1_LEN offsetof(struct intent_row, expiry)
#define VERSION_2_LEN offsetof(struct intent_row, born)
#define VERSION_3_LEN offsetof(struct intent_row, ring)
_Static_assert(VERSION_1_LEN == 56, "intent record, version 1");
_Static_assert(VERSION_2_LEN == 72, "intent record, version 2");
_Static_assert(VERSION_3_LEN == 80, "intent record, version 3");
_Static_assert(sizeof(struct intent_row) == 88, "intent record");

static void make_key(enum intent_kind kind, uint64_t id, uint8_t key[9])
{
	key[0] = (uint8_t)kind;
	key_u64(key + 1, id);
}

/* 0: unknown version. */
static size_t intent_row_len(uint32_t version)
{
	return version == 4   ? sizeof(struct intent_row)
	       : version == 3 ? VERSION_3_LEN
	       : version == 2 ? VERSION_2_LEN
	       : version == 1 ? VERSION_1_LEN
			      : 0;
}

/*
 * An intent of version 1 has no deadline and counts as late.  One of version 2 gets the
 * greatest possible age.
 */
static int intent_row_decode(struct store *st, const struct store_cursor *it,
			     struct intent *in)
{
	struct intent_row r = { 0 };

	if (it->len <= sizeof(r))
		memcpy(&r, it->val, it->len);
	if (it->len != intent_row_len(le32toh(r.version))) {
		log_error(store_log(st), "intent: damaged record");
		return -EIO;
	}
	*in = (struct intent){
		.kind = it->key[0],
		.id = key_get_u64(it->key + 1),
		.handle = le64toh(r.handle),
		.dist = { .base = le32toh(r.base),
			  .pcount = le32toh(r.pcount),
			  .ssize = le32toh(r.ssize),
			  .ring = le32toh(r.ring) },
		.size = le64toh(r.size),
		.session = le64toh(r.session),
		.seq = le64toh(r.seq),
		.slot = le32toh(r.slot),
		.op = le32toh(r.op),
		.expiry = le64toh(r.expiry),
		.clock = le64toh(r.clock),
		.born = le64toh(r.born),
	};
	return 0;
}

int intent_put(struct store *st, const struct intent *in)
{
	struct intent_row r = {
		.handle = htole64(in->handle),
		.version = htole32(in->dist.ring ? 4 : 3),
		.base = htole32(in->dist.base),
		.pcount = htole32(in->dist.pcount),
		.ssize = htole32(in->dist.ssize),
		.size = htole64(in->size),
		.session = htole64(in->session),
		.seq = htole64(in->seq),
		.slot = htole32(in->slot),
		.op = htole32(in->op),
		.expiry = htole64(in->expiry),
		.clock = htole64(in->clock),
		.born = htole64(in->born),
		.ring = htole32(in->dist.ring),
	};
	uint8_t key[9];

	make_key(in->kind, in->id, key);
	return store_put(st, STORE_INTENTS, key, sizeof(key), &r,
			 intent_row_len(le32toh(r.version)));
}

int intent_del(struct store *st, enum intent_kind kind, uint64_t id)
{
	uint8_t key[9];

	make_key(kind, id, key);
	return store_del(st, STORE_INTENTS, key, sizeof(key));
}

int intent_read(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in, unsigned int n)
{
	struct store_cursor it;
	uint8_t key[9];
	unsigned int got = 0;
	int rc;

	if (after == UINT64_MAX)
		return 0;
	make_key(kind, after + 1, key);
	rc = store_cursor_open(st, STORE_INTENTS, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (got < n && !(rc = store_cursor_next(&it))) {
		if (it.key[0] != (uint8_t)kind)
			break;
		rc = intent_row_decode(st, &it, &in[got]);
		if (rc)
			break;
		got++;
	}
	store_cursor_close(&it);
	return rc && rc != -ENOENT ? rc : (int)got;
}

int intent_next(struct store *st, enum intent_kind kind, uint64_t after,
		struct intent *in)
{
	int n = intent_read(st, kind, after, in, 1);

	return n < 0 ? n : n ? 0 : -ENOENT;
}
