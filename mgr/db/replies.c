/* SPDX-License-Identifier: BSD-2-Clause */
/* replies.c - rows (session, slot) -> the last reply. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/sessions.h"

struct record {
	uint64_t seq;
	uint64_t job; /* or opened */
	uint16_t version, kind;
	uint32_t len;
	uint8_t bytes[REPLY_MAX];
};
#define FIXED offsetof(struct record, bytes)
_Static_assert(FIXED == 24, "reply record");

static void make_key(uint64_t session, unsigned int slot, uint8_t key[10])
{
	uint8_t *p = key_u64(key, session);

	p[0] = (uint8_t)(slot >> 8);
	p[1] = (uint8_t)slot;
}

static int decode(struct store *st, const void *val, size_t len,
		  struct reply_rec *rec)
{
	struct record r;

	if (len >= FIXED && len <= sizeof(r))
		memcpy(&r, val, len);
	if (len < FIXED || len > sizeof(r) || le16toh(r.version) != 1 ||
	    le32toh(r.len) != len - FIXED) {
		log_error(store_log(st), "kept reply: damaged record");
		return -EIO;
	}
	rec->seq = le64toh(r.seq);
	rec->job = le64toh(r.job);
	rec->kind = le16toh(r.kind);
	rec->len = len - FIXED;
	memcpy(rec->bytes, r.bytes, rec->len);
	return 0;
}

int reply_get(struct store *st, uint64_t session, unsigned int slot,
	      struct reply_rec *rec)
{
	struct record r;
	uint8_t key[10];
	size_t len;
	int rc;

	make_key(session, slot, key);
	rc = store_get(st, STORE_REPLIES, key, sizeof(key), &r, sizeof(r),
		       &len);
	return rc ? rc : decode(st, &r, len, rec);
}

int reply_put(struct store *st, uint64_t session, unsigned int slot,
	      const struct reply_rec *rec)
{
	struct record r = { .seq = htole64(rec->seq),
			    .job = htole64(rec->job),
			    .version = htole16(1),
			    .kind = htole16((uint16_t)rec->kind),
			    .len = htole32((uint32_t)rec->len) };
	uint8_t key[10];

	if (rec->len > REPLY_MAX)
		return -EMSGSIZE;
	memcpy(r.bytes, rec->bytes, rec->len);
	make_key(session, slot, key);
	return store_put(st, STORE_REPLIES, key, sizeof(key), &r,
			 FIXED + rec->len);
}

int reply_walk(struct store *st, uint64_t session,
	       int (*fn)(void *arg, unsigned int slot,
			 const struct reply_rec *rec),
	       void *arg)
{
	struct store_iter it;
	struct reply_rec rec;
	uint8_t key[10];
	int rc;

	make_key(session, 0, key);
	rc = store_iter_open(st, STORE_REPLIES, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (!(rc = store_iter_next(&it))) {
		if (it.klen != sizeof(key) || key_get_u64(it.key) != session)
			break;
		rc = decode(st, it.val, it.len, &rec);
		if (!rc)
			rc = fn(arg, (unsigned int)(it.key[8] << 8 | it.key[9]),
				&rec);
		if (rc)
			break;
	}
	store_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
