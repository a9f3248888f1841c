/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_rows.c - rows (handle, session, owner, space, start) -> (end, type). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/db_int.h"
#include "mgr/db/lock_index.h"

struct lock_row {
	uint64_t end;
	uint32_t type;
	uint32_t version;
};
_Static_assert(sizeof(struct lock_row) == 16, "lock record");

#define KEY_LEN 40u
#define LOCKS_MAX (1u << 22)
#define DAMAGED_MAX 10u /* records that are logged */

static void make_key(const struct lock_rec *rec, uint8_t key[KEY_LEN])
{
	void *p = key_u64(key_u64(key, rec->handle), rec->session);

	key_u64(key_u64(key_u64(p, rec->owner), rec->space), rec->start);
}

int lock_put(struct store *st, const struct lock_rec *rec, uint32_t uid)
{
	struct lock_row r = { .end = htole64(rec->end),
			      .type = htole32(rec->type),
			      .version = htole32(1) };
	uint8_t key[KEY_LEN];
	int rc = lock_index_put(st->locks, rec, uid);

	if (rc)
		return rc;
	make_key(rec, key);
	return store_put(st, STORE_LOCKS, key, sizeof(key), &r, sizeof(r));
}

int lock_del(struct store *st, const struct lock_rec *rec)
{
	uint8_t key[KEY_LEN];

	lock_index_del(st->locks, rec);
	make_key(rec, key);
	return store_del(st, STORE_LOCKS, key, sizeof(key));
}

int lock_cursor_open(struct store *st, uint64_t handle, uint64_t session,
		     uint64_t owner, struct lock_cursor *it)
{
	struct lock_rec from = { .handle = handle,
				 .session = session,
				 .owner = owner };
	uint8_t key[KEY_LEN];

	make_key(&from, key);
	it->handle = handle;
	return store_cursor_open(st, STORE_LOCKS, key, sizeof(key), &it->it);
}

int lock_find(struct store *st, const struct lock_rec *want,
	      struct lock_rec *rec)
{
	const struct lock_rec *found;
	unsigned int steps = 0;

	found = lock_index_find(st->locks, want, &steps);
	st->work += steps;
	if (!found)
		return -ENOENT;
	*rec = *found;
	return 0;
}

int lock_reserve(struct store *st, const struct lock_rec *rec, uint32_t uid,
		 struct lock_node **out)
{
	return lock_index_reserve(st->locks, rec, uid, out);
}

void lock_release(struct store *st, struct lock_node *node)
{
	lock_index_release(st->locks, node);
}

void lock_set_listener(struct store *st, lock_removed_fn *gone, void *arg)
{
	lock_index_set_listener(st->locks, gone, arg);
}

static bool is_valid_row(const struct store_cursor *it,
			 const struct lock_row *r)
{
	uint32_t type = le32toh(r->type);

	return it->klen == KEY_LEN && it->len == sizeof(*r) &&
	       le32toh(r->version) == 1 && type && type <= LOCK_EXCLUSIVE &&
	       key_get_u64(it->key + 32) < le64toh(r->end);
}

static int lock_row_decode(const struct store_cursor *it, struct lock_rec *rec)
{
	const uint8_t *key = it->key;
	struct lock_row r = { 0 };

	if (it->len == sizeof(r))
		memcpy(&r, it->val, sizeof(r));
	if (!is_valid_row(it, &r)) {
		log_error(store_log(it->st),
			  "lock of file %llu: damaged record",
			  it->klen < 8 ? 0ull
				       : (unsigned long long)handle_external(
						 it->st, key_get_u64(key)));
		return -EIO;
	}
	*rec = (struct lock_rec){ .handle = key_get_u64(key),
				  .session = key_get_u64(key + 8),
				  .owner = key_get_u64(key + 16),
				  .start = key_get_u64(key + 32),
				  .end = le64toh(r.end),
				  .type = le32toh(r.type),
				  .space = (uint32_t)key_get_u64(key + 24) };
	return 0;
}

static int decode_of(const struct lock_cursor *it, struct lock_rec *rec)
{
	int rc = lock_row_decode(&it->it, rec);

	return rc ? rc : rec->handle == it->handle ? 0 : -ENOENT;
}

int lock_cursor_next(struct lock_cursor *it, struct lock_rec *rec)
{
	int rc = store_cursor_next(&it->it);

	return rc ? rc : decode_of(it, rec);
}

/* Calls fn for each row.  Damaged rows are logged, and -EIO is returned at the end. */
static int walk_rows(struct store *st,
		     int (*fn)(struct store *st, const struct lock_rec *rec))
{
	unsigned int damaged = 0;
	struct store_cursor it;
	struct lock_rec rec;
	uint8_t key[1] = { 0 };
	int rc = store_cursor_open(st, STORE_LOCKS, key, sizeof(key), &it);

	if (rc)
		return rc;
	while (damaged < DAMAGED_MAX && !(rc = store_cursor_next(&it))) {
		if (lock_row_decode(&it, &rec))
			damaged++;
		else if ((rc = fn(st, &rec)))
			break;
	}
	store_cursor_close(&it);
	if (damaged)
		log_error(store_log(st),
			  "the table locks has damaged records: restore the "
			  "folder from a backup");
	if (damaged)
		return -EIO;
	return rc == -ENOENT ? 0 : rc;
}

static int load_row(struct store *st, const struct lock_rec *rec)
{
	return lock_index_load(st->locks, rec);
}

int lock_rows_open(struct store *st)
{
	int rc = lock_index_open(st->hash_key[0] ^ st->hash_key[1], LOCKS_MAX,
				 &st->locks);

	return rc ? rc : walk_rows(st, load_row);
}

static int ignore_row(struct store *st, const struct lock_rec *rec)
{
	return 0;
}

int lock_rows_check(struct store *st)
{
	return walk_rows(st, ignore_row);
}

static bool reaches_start(const struct lock_rec *rec, const struct lock_rec *at)
{
	return lock_same_holder(rec, at) && rec->space == at->space &&
	       rec->end >= at->start;
}

int lock_cursor_seek(struct lock_cursor *it, const struct lock_rec *at,
		     struct lock_rec *rec)
{
	uint8_t key[KEY_LEN];
	int rc;

	make_key(at, key);
	rc = store_cursor_floor(&it->it, key, sizeof(key));
	if (!rc)
		rc = decode_of(it, rec);
	if (rc ? rc != -ENOENT : reaches_start(rec, at))
		return rc;
	store_cursor_seek(&it->it, key, sizeof(key));
	return lock_cursor_next(it, rec);
}

void lock_cursor_close(struct lock_cursor *it)
{
	store_cursor_close(&it->it);
}

static void locker_key(uint64_t session, uint64_t handle, uint8_t key[16])
{
	key_u64(key_u64(key, session), handle);
}

int locker_put(struct store *st, uint64_t session, uint64_t handle,
	       uint32_t locks)
{
	uint32_t le = htole32(locks);
	uint8_t key[16];

	locker_key(session, handle, key);
	return store_put(st, STORE_LOCKERS, key, sizeof(key), &le, sizeof(le));
}

int locker_get(struct store *st, uint64_t session, uint64_t handle,
	       uint32_t *locks)
{
	uint32_t le = 0;
	uint8_t key[16];
	int rc;

	locker_key(session, handle, key);
	rc = store_get(st, STORE_LOCKERS, key, sizeof(key), &le, sizeof(le),
		       NULL);
	if (!rc)
		*locks = le32toh(le);
	return rc;
}

int locker_del(struct store *st, uint64_t session, uint64_t handle)
{
	uint8_t key[16];

	locker_key(session, handle, key);
	return store_del(st, STORE_LOCKERS, key, sizeof(key));
}

int locker_any(struct store *st, uint64_t session, uint64_t *handle)
{
	struct store_cursor it;
	uint8_t key[16];
	int rc;

	locker_key(session, 0, key);
	rc = store_get_first(st, STORE_LOCKERS, key, sizeof(key), &it);
	if (rc)
		return rc;
	if (it.klen != sizeof(key) || key_get_u64(it.key) != session)
		return -ENOENT;
	*handle = key_get_u64(it.key + 8);
	return 0;
}

int locker_count(struct store *st, uint64_t session, uint32_t max,
		 uint32_t *locks)
{
	struct store_cursor it;
	uint8_t key[16];
	uint32_t n = 0, le;
	int rc;

	*locks = 0;
	locker_key(session, 0, key);
	rc = store_cursor_open(st, STORE_LOCKERS, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (n++ < max && !(rc = store_cursor_next(&it)) &&
	       it.klen == sizeof(key) && key_get_u64(it.key) == session) {
		le = 0;
		memcpy(&le, it.val, it.len < sizeof(le) ? it.len : sizeof(le));
		*locks += le32toh(le);
	}
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
