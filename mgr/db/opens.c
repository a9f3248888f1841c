/* SPDX-License-Identifier: BSD-2-Clause */
/* opens.c - rows (session, open id) -> (handle, flags). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/opens.h"

struct record {
	uint64_t handle;
	uint32_t flags;
	uint32_t version;
};
_Static_assert(sizeof(struct record) == 16, "open record");

static void make_key(uint64_t session, uint64_t open, uint8_t key[16])
{
	key_u64(key_u64(key, session), open);
}

static int decode(struct store *st, const void *val, size_t len,
		  struct open_rec *rec)
{
	struct record r;

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
	struct record r;
	uint8_t key[16];
	size_t len;
	int rc;

	make_key(session, open, key);
	rc = store_get(st, STORE_OPENS, key, sizeof(key), &r, sizeof(r), &len);
	if (rc)
		return rc;
	rec->session = session;
	rec->open = open;
	return decode(st, &r, len, rec);
}

int open_put(struct store *st, const struct open_rec *rec)
{
	struct record r = { .handle = htole64(rec->handle),
			    .flags = htole32(rec->flags),
			    .version = htole32(1) };
	uint8_t key[16];

	make_key(rec->session, rec->open, key);
	return store_put(st, STORE_OPENS, key, sizeof(key), &r, sizeof(r));
}

int open_del(struct store *st, uint64_t session, uint64_t open)
{
	uint8_t key[16];

	make_key(session, open, key);
	return store_del(st, STORE_OPENS, key, sizeof(key));
}

int open_any(struct store *st, uint64_t session, struct open_rec *rec)
{
	struct store_iter it;
	uint8_t key[16];
	int rc;

	make_key(session, 0, key);
	rc = store_first(st, STORE_OPENS, key, sizeof(key), &it);
	if (rc)
		return rc;
	if (it.klen != sizeof(key) || key_get_u64(it.key) != session)
		return -ENOENT;
	rec->session = session;
	rec->open = key_get_u64(it.key + 8);
	return decode(st, it.val, it.len, rec);
}

int open_count(struct store *st, uint64_t session, uint32_t max, uint32_t *n)
{
	struct store_iter it;
	uint8_t key[16];
	int rc;

	*n = 0;
	make_key(session, 0, key);
	rc = store_iter_open(st, STORE_OPENS, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (*n < max && !(rc = store_iter_next(&it)) &&
	       it.klen == sizeof(key) && key_get_u64(it.key) == session)
		++*n;
	store_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
