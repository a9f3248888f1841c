/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sessions.c - rows of sessions: session -> (uid, gid, flags, name); (session, slot) -> the last
 * reply; (session, open id) -> (handle, flags).
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/sessions.h"

/* ---- replies ---- */

struct reply_row {
	uint64_t seq;
	uint64_t job; /* or opened */
	uint16_t version, kind;
	uint32_t len;
	uint8_t bytes[REPLY_MAX];
};
#define REPLY_ROW_FIXED offsetof(struct reply_row, bytes)
_Static_assert(REPLY_ROW_FIXED == 24, "reply record");

static void reply_make_key(uint64_t session, unsigned int slot, uint8_t key[10])
{
	uint8_t *p = key_u64(key, session);

	p[0] = (uint8_t)(slot >> 8);
	p[1] = (uint8_t)slot;
}

static int reply_row_decode(struct store *st, const void *val, size_t len,
			    struct reply_rec *rec)
{
	struct reply_row r;

	if (len >= REPLY_ROW_FIXED && len <= sizeof(r))
		memcpy(&r, val, len);
	if (len < REPLY_ROW_FIXED || len > sizeof(r) ||
	    le16toh(r.version) != 1 ||
	    le32toh(r.len) != len - REPLY_ROW_FIXED) {
		log_error(store_log(st), "kept reply: damaged record");
		return -EIO;
	}
	rec->seq = le64toh(r.seq);
	rec->job = le64toh(r.job);
	rec->kind = le16toh(r.kind);
	rec->len = len - REPLY_ROW_FIXED;
	memcpy(rec->bytes, r.bytes, rec->len);
	return 0;
}

int reply_get(struct store *st, uint64_t session, unsigned int slot,
	      struct reply_rec *rec)
{
	struct reply_row r;
	uint8_t key[10];
	size_t len;
	int rc;

	reply_make_key(session, slot, key);
	rc = store_get(st, STORE_REPLIES, key, sizeof(key), &r, sizeof(r),
		       &len);
	return rc ? rc : reply_row_decode(st, &r, len, rec);
}

int reply_put(struct store *st, uint64_t session, unsigned int slot,
	      const struct reply_rec *rec)
{
	struct reply_row r = { .seq = htole64(rec->seq),
			       .job = htole64(rec->job),
			       .version = htole16(1),
			       .kind = htole16((uint16_t)rec->kind),
			       .len = htole32((uint32_t)rec->len) };
	uint8_t key[10];

	if (rec->len > REPLY_MAX)
		return -EMSGSIZE;
	memcpy(r.bytes, rec->bytes, rec->len);
	reply_make_key(session, slot, key);
	return store_put(st, STORE_REPLIES, key, sizeof(key), &r,
			 REPLY_ROW_FIXED + rec->len);
}

int reply_walk(struct store *st, uint64_t session,
	       int (*fn)(void *arg, unsigned int slot,
			 const struct reply_rec *rec),
	       void *arg)
{
	struct store_cursor it;
	struct reply_rec rec;
	uint8_t key[10];
	int rc;

	reply_make_key(session, 0, key);
	rc = store_cursor_open(st, STORE_REPLIES, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (!(rc = store_cursor_next(&it))) {
		if (it.klen != sizeof(key) || key_get_u64(it.key) != session)
			break;
		rc = reply_row_decode(st, it.val, it.len, &rec);
		if (!rc)
			rc = fn(arg, (unsigned int)(it.key[8] << 8 | it.key[9]),
				&rec);
		if (rc)
			break;
	}
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

/* ---- sessions ---- */

struct session_row {
	uint32_t version, flags;
	uint32_t uid, gid;
	char name[64];
};
_Static_assert(sizeof(struct session_row) == 80, "session record");

static int session_row_decode(struct store *st, const void *val, size_t len,
			      struct session_rec *rec)
{
	struct session_row r;

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
	struct session_row r;
	uint8_t key[8];
	size_t len;
	int rc;

	key_u64(key, id);
	rc = store_get(st, STORE_SESSIONS, key, sizeof(key), &r, sizeof(r),
		       &len);
	rec->id = id;
	return rc ? rc : session_row_decode(st, &r, len, rec);
}

int session_put(struct store *st, const struct session_rec *rec)
{
	struct session_row r = { .version = htole32(1),
				 .flags = htole32(rec->flags),
				 .uid = htole32(rec->uid),
				 .gid = htole32(rec->gid) };
	uint8_t key[8];

	memcpy(r.name, rec->name, sizeof(r.name));
	key_u64(key, rec->id);
	return store_put(st, STORE_SESSIONS, key, sizeof(key), &r, sizeof(r));
}

static int find_reply_slot(void *arg, unsigned int slot,
			   const struct reply_rec *rec)
{
	unsigned int *found = arg;

	*found = slot;
	return 1;
}

static int reply_del_all(struct store *st, uint64_t id)
{
	unsigned int slot;
	uint8_t key[10];
	int rc;

	while ((rc = reply_walk(st, id, find_reply_slot, &slot)) == 1) {
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

	rc = reply_del_all(st, id);
	if (rc)
		return rc;
	key_u64(key, id);
	return store_del(st, STORE_SESSIONS, key, sizeof(key));
}

int session_walk(struct store *st,
		 int (*fn)(void *arg, const struct session_rec *rec), void *arg)
{
	struct store_cursor it;
	struct session_rec rec;
	int rc;

	rc = store_cursor_open(st, STORE_SESSIONS, "", 0, &it);
	if (rc)
		return rc;
	while (!(rc = store_cursor_next(&it))) {
		rec.id = key_get_u64(it.key);
		rc = session_row_decode(st, it.val, it.len, &rec);
		if (!rc)
			rc = fn(arg, &rec);
		if (rc)
			break;
	}
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

/* ---- open records ---- */

struct open_row {
	uint64_t handle;
	uint32_t flags;
	uint32_t version;
};
_Static_assert(sizeof(struct open_row) == 16, "open record");

static void open_make_key(uint64_t session, uint64_t open, uint8_t key[16])
{
	key_u64(key_u64(key, session), open);
}

static int open_row_decode(struct store *st, const void *val, size_t len,
			   struct open_rec *rec)
{
	struct open_row r;

	if (len == sizeof(r))
		memcpy(&r, val, sizeof(r));
	if (len != sizeof(r) || le32toh(r.version) != 1) {
		log_error(store_log(st), "open file: damaged record");
		return -EIO;
	}
	rec->handle = le64toh(r.handle);
	rec->flags = le32toh(r.flags);
	return 0;
}

int open_get(struct store *st, uint64_t session, uint64_t open,
	     struct open_rec *rec)
{
	struct open_row r;
	uint8_t key[16];
	size_t len;
	int rc;

	open_make_key(session, open, key);
	rc = store_get(st, STORE_OPENS, key, sizeof(key), &r, sizeof(r), &len);
	if (rc)
		return rc;
	rec->session = session;
	rec->open = open;
	return open_row_decode(st, &r, len, rec);
}

int open_put(struct store *st, const struct open_rec *rec)
{
	struct open_row r = { .handle = htole64(rec->handle),
			      .flags = htole32(rec->flags),
			      .version = htole32(1) };
	uint8_t key[16];

	open_make_key(rec->session, rec->open, key);
	return store_put(st, STORE_OPENS, key, sizeof(key), &r, sizeof(r));
}

int open_del(struct store *st, uint64_t session, uint64_t open)
{
	uint8_t key[16];

	open_make_key(session, open, key);
	return store_del(st, STORE_OPENS, key, sizeof(key));
}

int open_any(struct store *st, uint64_t session, struct open_rec *rec)
{
	struct store_cursor it;
	uint8_t key[16];
	int rc;

	open_make_key(session, 0, key);
	rc = store_get_first(st, STORE_OPENS, key, sizeof(key), &it);
	if (rc)
		return rc;
	if (it.klen != sizeof(key) || key_get_u64(it.key) != session)
		return -ENOENT;
	rec->session = session;
	rec->open = key_get_u64(it.key + 8);
	return open_row_decode(st, it.val, it.len, rec);
}

int open_count(struct store *st, uint64_t session, uint32_t max, uint32_t *n)
{
	struct store_cursor it;
	uint8_t key[16];
	int rc;

	*n = 0;
	open_make_key(session, 0, key);
	rc = store_cursor_open(st, STORE_OPENS, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (*n < max && !(rc = store_cursor_next(&it)) &&
	       it.klen == sizeof(key) && key_get_u64(it.key) == session)
		++*n;
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
