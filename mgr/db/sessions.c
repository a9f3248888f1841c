/* SPDX-License-Identifier: BSD-2-Clause */
/* sessions.c - rows session -> (uid, gid, flags, name). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/sessions.h"

struct record {
	uint32_t version, flags;
	uint32_t uid, gid;
	char name[64];
};
_Static_assert(sizeof(struct record) == 80, "session record");

static int decode(struct store *st, const void *val, size_t len,
		  struct session_rec *rec)
{
	struct record r;

	if (len == sizeof(r))
		memcpy(&r, val, sizeof(r));
	if (len != sizeof(r) || le32toh(r.version) != 1) {
		log_error(store_log(st), "session: damaged record");
		return -EIO;
	}
	rec->flags = le32toh(r.flags);
	rec->uid = le32toh(r.uid);
	rec->gid = le32toh(r.gid);
	memcpy(rec->name, r.name, sizeof(rec->name));
	rec->name[sizeof(rec->name) - 1] = '\0';
	return 0;
}

int session_get(struct store *st, uint64_t id, struct session_rec *rec)
{
	struct record r;
	uint8_t key[8];
	size_t len;
	int rc;

	key_u64(key, id);
	rc = store_get(st, STORE_SESSIONS, key, sizeof(key), &r, sizeof(r),
		       &len);
	rec->id = id;
	return rc ? rc : decode(st, &r, len, rec);
}

int session_put(struct store *st, const struct session_rec *rec)
{
	struct record r = { .version = htole32(1),
			    .flags = htole32(rec->flags),
			    .uid = htole32(rec->uid),
			    .gid = htole32(rec->gid) };
	uint8_t key[8];

	memcpy(r.name, rec->name, sizeof(r.name));
	key_u64(key, rec->id);
	return store_put(st, STORE_SESSIONS, key, sizeof(key), &r, sizeof(r));
}

static int drop_reply(void *arg, unsigned int slot, const struct reply_rec *rec)
{
	unsigned int *found = arg;

	*found = slot;
	return 1;
}

static int drop_replies(struct store *st, uint64_t id)
{
	unsigned int slot;
	uint8_t key[10];
	int rc;

	while ((rc = reply_walk(st, id, drop_reply, &slot)) == 1) {
		key_u64(key, id);
		key[8] = (uint8_t)(slot >> 8);
		key[9] = (uint8_t)slot;
		rc = store_del(st, STORE_REPLIES, key, sizeof(key));
		if (rc)
			break;
	}
	return rc;
}

int session_del(struct store *st, uint64_t id)
{
	uint8_t key[8];
	int rc;

	rc = drop_replies(st, id);
	if (rc)
		return rc;
	key_u64(key, id);
	return store_del(st, STORE_SESSIONS, key, sizeof(key));
}

int session_walk(struct store *st,
		 int (*fn)(void *arg, const struct session_rec *rec), void *arg)
{
	struct store_iter it;
	struct session_rec rec;
	int rc;

	rc = store_iter_open(st, STORE_SESSIONS, "", 0, &it);
	if (rc)
		return rc;
	while (!(rc = store_iter_next(&it))) {
		rec.id = key_get_u64(it.key);
		rc = decode(st, it.val, it.len, &rec);
		if (!rc)
			rc = fn(arg, &rec);
		if (rc)
			break;
	}
	store_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
