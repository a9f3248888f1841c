/* SPDX-License-Identifier: BSD-2-Clause */
/* tombs.c - rows seq -> (session, when it was ended, whether by EVICT). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/tombs.h"

/* In flags, which earlier releases set to 0 and did not read. */
#define EVICTED 0x1u

struct record {
	uint64_t session;
	uint64_t ended;
	uint32_t version, flags;
};
_Static_assert(sizeof(struct record) == 24, "tombstone");

static int decode(const struct store_iter *it, struct record *r)
{
	if (it->len == sizeof(*r))
		memcpy(r, it->val, sizeof(*r));
	if (it->len != sizeof(*r) || it->klen != 8 ||
	    le32toh(r->version) != 1) {
		log_error(store_log(it->st), "ended session: damaged record");
		return -EIO;
	}
	return 0;
}

static int put(struct store *st, uint64_t seq, const struct tomb *tomb)
{
	struct record r = { .session = htole64(tomb->session),
			    .ended = htole64((uint64_t)tomb->ended),
			    .version = htole32(1),
			    .flags = htole32(tomb->evicted ? EVICTED : 0) };
	uint8_t key[8];

	key_u64(key, seq);
	return store_put(st, STORE_TOMBS, key, sizeof(key), &r, sizeof(r));
}

/* The key of the oldest tombstone, if it is beyond the limit; -ENOENT: it is not. */
static int find_old(struct store *st, uint64_t seq, int64_t now,
		    const struct tomb_limit *limit, uint8_t key[8])
{
	struct store_iter it;
	struct record r;
	int rc;

	rc = store_first(st, STORE_TOMBS, "", 0, &it);
	if (!rc)
		rc = decode(&it, &r);
	if (rc)
		return rc;
	if (key_get_u64(it.key) + limit->max > seq &&
	    now - (int64_t)le64toh(r.ended) <= limit->keep)
		return -ENOENT;
	memcpy(key, it.key, 8);
	return 0;
}

int tomb_add(struct store *st, uint64_t seq, const struct tomb *tomb,
	     const struct tomb_limit *limit)
{
	uint8_t key[8];
	int rc;

	rc = put(st, seq, tomb);
	for (int i = 0; !rc && i < 2; i++) {
		rc = find_old(st, seq, tomb->ended, limit, key);
		if (!rc)
			rc = store_del(st, STORE_TOMBS, key, sizeof(key));
	}
	return rc == -ENOENT ? 0 : rc;
}

static struct tomb tomb_of(const struct record *r)
{
	return (struct tomb){ .session = le64toh(r->session),
			      .ended = (int64_t)le64toh(r->ended),
			      .evicted = le32toh(r->flags) & EVICTED };
}

int tomb_walk(struct store *st, int (*fn)(void *arg, const struct tomb *tomb),
	      void *arg, uint64_t *last)
{
	struct store_iter it;
	struct record r;
	struct tomb tomb;
	uint64_t seq = 0;
	int rc;

	rc = store_iter_open(st, STORE_TOMBS, "", 0, &it);
	if (rc)
		return rc;
	while (!(rc = store_iter_next(&it))) {
		rc = decode(&it, &r);
		if (rc)
			break;
		tomb = tomb_of(&r);
		rc = fn(arg, &tomb);
		if (rc)
			break;
		seq = key_get_u64(it.key);
	}
	store_iter_close(&it);
	if (rc != -ENOENT)
		return rc;
	*last = seq;
	return 0;
}
