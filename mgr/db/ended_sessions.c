/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ended_sessions.c - rows seq -> (session, when it was ended, whether by EVICT).  Ends without a
 * fence are named values: "parted" and a position in the ring -> number and session.  A store of
 * an earlier release has no table for them.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/ended_sessions.h"

/* ---- ended sessions ---- */

/* In flags, which earlier releases set to 0 and did not read. */
#define ENDED_ROW_EVICTED 0x1u

struct ended_row {
	uint64_t session;
	uint64_t ended;
	uint32_t version, flags;
};
_Static_assert(sizeof(struct ended_row) == 24, "row of an ended session");

static int ended_row_decode(const struct store_cursor *it, struct ended_row *r)
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

static int ended_row_put(struct store *st, uint64_t seq,
			 const struct ended_session *ended_session)
{
	struct ended_row r = {
		.session = htole64(ended_session->session),
		.ended = htole64((uint64_t)ended_session->ended),
		.version = htole32(1),
		.flags = htole32(ended_session->evicted ? ENDED_ROW_EVICTED : 0)
	};
	uint8_t key[8];

	key_u64(key, seq);
	return store_put(st, STORE_ENDED_SESSIONS, key, sizeof(key), &r,
			 sizeof(r));
}

/* The key of the oldest record, if there are more than max; -ENOENT: there are not. */
static int find_surplus(struct store *st, uint64_t seq, uint64_t max,
			uint8_t key[8])
{
	struct store_cursor it;
	int rc = store_get_first(st, STORE_ENDED_SESSIONS, "", 0, &it);

	if (rc)
		return rc;
	if (it.klen != 8) {
		log_error(store_log(st), "ended session: damaged record");
		return -EIO;
	}
	if (key_get_u64(it.key) + max > seq)
		return -ENOENT;
	memcpy(key, it.key, 8);
	return 0;
}

int ended_session_add(struct store *st, uint64_t seq,
		      const struct ended_session *ended_session, uint64_t max)
{
	uint8_t key[8];
	int rc;

	rc = ended_row_put(st, seq, ended_session);
	for (int i = 0; !rc && i < 2; i++) {
		rc = find_surplus(st, seq, max, key);
		if (!rc)
			rc = store_del(st, STORE_ENDED_SESSIONS, key,
				       sizeof(key));
	}
	return rc == -ENOENT ? 0 : rc;
}

static struct ended_session ended_session_of_row(const struct ended_row *r)
{
	return (struct ended_session){ .session = le64toh(r->session),
				       .ended = (int64_t)le64toh(r->ended),
				       .evicted = le32toh(r->flags) &
						  ENDED_ROW_EVICTED };
}

int ended_session_walk(struct store *st,
		       int (*fn)(void *arg,
				 const struct ended_session *ended_session),
		       void *arg, uint64_t *last)
{
	struct store_cursor it;
	struct ended_row r;
	struct ended_session ended_session;
	uint64_t seq = 0;
	int rc;

	rc = store_cursor_open(st, STORE_ENDED_SESSIONS, "", 0, &it);
	if (rc)
		return rc;
	while (!(rc = store_cursor_next(&it))) {
		rc = ended_row_decode(&it, &r);
		if (rc)
			break;
		ended_session = ended_session_of_row(&r);
		rc = fn(arg, &ended_session);
		if (rc)
			break;
		seq = key_get_u64(it.key);
	}
	store_cursor_close(&it);
	if (rc != -ENOENT)
		return rc;
	*last = seq;
	return 0;
}

/* ---- ends without a fence ---- */

#define UNFENCED_NAME "parted"
#define UNFENCED_NAME_LEN (sizeof(UNFENCED_NAME) - 1)

struct unfenced_row {
	uint64_t n;
	uint64_t session, until, term, life;
	uint32_t version, zero;
};
_Static_assert(sizeof(struct unfenced_row) == 48,
	       "row of an end without a fence");

int unfenced_end_put(struct store *st, uint64_t n,
		     const struct unfenced_end *unfenced_end)
{
	const struct unfenced_row r = { .n = htole64(n),
					.session = htole64(
						unfenced_end->session),
					.until = htole64(unfenced_end->until),
					.term = htole64(unfenced_end->term),
					.life = htole64(unfenced_end->life),
					.version = htole32(1) };
	uint8_t key[UNFENCED_NAME_LEN + 8] = UNFENCED_NAME;

	key_u64(key + UNFENCED_NAME_LEN, n % UNFENCED_ENDS_MAX);
	return store_put(st, STORE_META, key, sizeof(key), &r, sizeof(r));
}

static bool is_unfenced_row(const struct store_cursor *it)
{
	return it->klen == UNFENCED_NAME_LEN + 8 &&
	       !memcmp(it->key, UNFENCED_NAME, UNFENCED_NAME_LEN);
}

static int unfenced_row_decode(const struct store_cursor *it, uint64_t *n,
			       struct unfenced_end *unfenced_end)
{
	struct unfenced_row r;

	if (!is_unfenced_row(it))
		return -ENOENT;
	if (it->len == sizeof(r))
		memcpy(&r, it->val, sizeof(r));
	if (it->len != sizeof(r) || le32toh(r.version) != 1 ||
	    le64toh(r.n) % UNFENCED_ENDS_MAX !=
		    key_get_u64(it->key + UNFENCED_NAME_LEN)) {
		log_error(store_log(it->st),
			  "end of a session: damaged record");
		return -EIO;
	}
	*n = le64toh(r.n);
	*unfenced_end = (struct unfenced_end){ .session = le64toh(r.session),
					       .until = le64toh(r.until),
					       .term = le64toh(r.term),
					       .life = le64toh(r.life) };
	return 0;
}

int unfenced_end_walk(struct store *st,
		      int (*fn)(void *arg, uint64_t n,
				const struct unfenced_end *unfenced_end),
		      void *arg)
{
	struct unfenced_end unfenced_end;
	struct store_cursor it;
	uint64_t n;
	int rc = store_cursor_open(st, STORE_META, UNFENCED_NAME,
				   UNFENCED_NAME_LEN, &it);

	if (rc)
		return rc;
	while (!(rc = store_cursor_next(&it))) {
		rc = unfenced_row_decode(&it, &n, &unfenced_end);
		if (!rc)
			rc = fn(arg, n, &unfenced_end);
		if (rc)
			break;
	}
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
