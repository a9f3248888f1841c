/* SPDX-License-Identifier: BSD-2-Clause */
/* dent.c - rows (directory, hash, name) -> (handle, type). */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/dent.h"

#define KEY_FIXED 16u

struct record {
	uint64_t handle;
	uint32_t mode;
	uint32_t version;
};
_Static_assert(sizeof(struct record) == 16, "dirent record");

static size_t make_key(struct store *st, uint64_t dir, const char *name,
		       size_t len, uint8_t key[KEY_FIXED + DENT_NAME_MAX])
{
	assert(len <= DENT_NAME_MAX);
	key_u64(key, dir);
	key_u64(key + 8, store_hash(st, name, len));
	memcpy(key + KEY_FIXED, name, len);
	return KEY_FIXED + len;
}

static struct record encode(const struct dent *dent)
{
	return (struct record){ .handle = htole64(dent->handle),
				.mode = htole32(dent->mode),
				.version = htole32(1) };
}

static int decode(struct store *st, const void *val, size_t len,
		  struct dent *dent)
{
	struct record r;

	if (len == sizeof(r))
		memcpy(&r, val, sizeof(r));
	if (len != sizeof(r) || le32toh(r.version) != 1) {
		log_error(store_log(st), "directory entry: damaged record");
		return -EIO;
	}
	dent->handle = le64toh(r.handle);
	dent->mode = le32toh(r.mode);
	return 0;
}

int dent_get(struct store *st, uint64_t dir, const char *name, size_t len,
	     struct dent *dent)
{
	uint8_t key[KEY_FIXED + DENT_NAME_MAX];
	size_t klen = make_key(st, dir, name, len, key), vlen;
	struct record r;
	int rc;

	rc = store_get(st, STORE_DIRENTS, key, klen, &r, sizeof(r), &vlen);
	return rc ? rc : decode(st, &r, vlen, dent);
}

int dent_insert(struct store *st, uint64_t dir, const char *name, size_t len,
		const struct dent *dent)
{
	uint8_t key[KEY_FIXED + DENT_NAME_MAX];
	size_t klen = make_key(st, dir, name, len, key);
	struct record r = encode(dent);

	return store_insert(st, STORE_DIRENTS, key, klen, &r, sizeof(r));
}

int dent_put(struct store *st, uint64_t dir, const char *name, size_t len,
	     const struct dent *dent)
{
	uint8_t key[KEY_FIXED + DENT_NAME_MAX];
	size_t klen = make_key(st, dir, name, len, key);
	struct record r = encode(dent);

	return store_put(st, STORE_DIRENTS, key, klen, &r, sizeof(r));
}

int dent_del(struct store *st, uint64_t dir, const char *name, size_t len)
{
	uint8_t key[KEY_FIXED + DENT_NAME_MAX];
	size_t klen = make_key(st, dir, name, len, key);

	return store_del(st, STORE_DIRENTS, key, klen);
}

int dent_none(struct store *st, uint64_t dir)
{
	struct dent_iter it;
	int rc;

	rc = dent_iter_open(st, dir, 0, &it);
	if (rc)
		return rc;
	rc = dent_iter_next(&it);
	dent_iter_close(&it);
	return rc == -ENOENT ? 1 : rc;
}

int dent_iter_open(struct store *st, uint64_t dir, uint64_t cookie,
		   struct dent_iter *it)
{
	uint8_t key[KEY_FIXED];

	it->dir = dir;
	key_u64(key, dir);
	key_u64(key + 8, cookie < INT64_MAX ? cookie + 1 : UINT64_MAX);
	return store_iter_open(st, STORE_DIRENTS, key, sizeof(key), &it->it);
}

int dent_iter_next(struct dent_iter *it)
{
	int rc;

	rc = store_iter_next(&it->it);
	if (rc)
		return rc;
	if (it->it.klen < KEY_FIXED || key_get_u64(it->it.key) != it->dir)
		return -ENOENT;
	it->hash = key_get_u64(it->it.key + 8);
	it->name = (const char *)it->it.key + KEY_FIXED;
	it->len = it->it.klen - KEY_FIXED;
	return decode(it->it.st, it->it.val, it->it.len, &it->dent);
}

void dent_iter_close(struct dent_iter *it)
{
	store_iter_close(&it->it);
}
