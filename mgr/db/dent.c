/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dent.c - rows (directory, hash, name) -> (handle, type).  The hash is SipHash-1-3 (Aumasson,
 * Bernstein, 2012) with a key of this file system, so that nobody can make colliding names.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "mgr/db/db_int.h"
#include "mgr/db/dent.h"

/* ---- rows ---- */

#define DENT_KEY_FIXED 16u

struct dent_row {
	uint64_t handle;
	uint32_t mode;
	uint32_t version;
};
_Static_assert(sizeof(struct dent_row) == 16, "dirent record");

static size_t dent_make_key(struct store *st, uint64_t dir, const char *name,
			    size_t len,
			    uint8_t key[DENT_KEY_FIXED + DENT_NAME_MAX])
{
	assert(len <= DENT_NAME_MAX);
	key_u64(key, dir);
	key_u64(key + 8, dent_name_hash(st, name, len));
	memcpy(key + DENT_KEY_FIXED, name, len);
	return DENT_KEY_FIXED + len;
}

static struct dent_row dent_row_encode(const struct dent *dent)
{
	return (struct dent_row){ .handle = htole64(dent->handle),
				  .mode = htole32(dent->mode),
				  .version = htole32(1) };
}

static int dent_row_decode(struct store *st, const void *val, size_t len,
			   struct dent *dent)
{
	struct dent_row r;

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
	uint8_t key[DENT_KEY_FIXED + DENT_NAME_MAX];
	size_t klen = dent_make_key(st, dir, name, len, key), vlen;
	struct dent_row r;
	int rc;

	rc = store_get(st, STORE_DIRENTS, key, klen, &r, sizeof(r), &vlen);
	return rc ? rc : dent_row_decode(st, &r, vlen, dent);
}

int dent_insert(struct store *st, uint64_t dir, const char *name, size_t len,
		const struct dent *dent)
{
	uint8_t key[DENT_KEY_FIXED + DENT_NAME_MAX];
	size_t klen = dent_make_key(st, dir, name, len, key);
	struct dent_row r = dent_row_encode(dent);

	return store_insert(st, STORE_DIRENTS, key, klen, &r, sizeof(r));
}

int dent_put(struct store *st, uint64_t dir, const char *name, size_t len,
	     const struct dent *dent)
{
	uint8_t key[DENT_KEY_FIXED + DENT_NAME_MAX];
	size_t klen = dent_make_key(st, dir, name, len, key);
	struct dent_row r = dent_row_encode(dent);

	return store_put(st, STORE_DIRENTS, key, klen, &r, sizeof(r));
}

int dent_del(struct store *st, uint64_t dir, const char *name, size_t len)
{
	uint8_t key[DENT_KEY_FIXED + DENT_NAME_MAX];
	size_t klen = dent_make_key(st, dir, name, len, key);

	return store_del(st, STORE_DIRENTS, key, klen);
}

int dent_is_empty_dir(struct store *st, uint64_t dir)
{
	struct dent_cursor it;
	int rc;

	rc = dent_cursor_open(st, dir, 0, &it);
	if (rc)
		return rc;
	rc = dent_cursor_next(&it);
	dent_cursor_close(&it);
	return rc == -ENOENT ? 1 : rc;
}

int dent_cursor_open(struct store *st, uint64_t dir, uint64_t cookie,
		     struct dent_cursor *it)
{
	uint8_t key[DENT_KEY_FIXED];

	it->dir = dir;
	key_u64(key, dir);
	key_u64(key + 8, cookie < INT64_MAX ? cookie + 1 : UINT64_MAX);
	return store_cursor_open(st, STORE_DIRENTS, key, sizeof(key), &it->it);
}

int dent_cursor_next(struct dent_cursor *it)
{
	int rc;

	rc = store_cursor_next(&it->it);
	if (rc)
		return rc;
	if (it->it.klen < DENT_KEY_FIXED || key_get_u64(it->it.key) != it->dir)
		return -ENOENT;
	it->hash = key_get_u64(it->it.key + 8);
	it->name = (const char *)it->it.key + DENT_KEY_FIXED;
	it->len = it->it.klen - DENT_KEY_FIXED;
	return dent_row_decode(it->it.st, it->it.val, it->it.len, &it->dent);
}

void dent_cursor_close(struct dent_cursor *it)
{
	store_cursor_close(&it->it);
}

/* ---- the hash of a name ---- */

#define HASH_MIN 3u /* cookies 1 and 2 are "." and ".." */

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate_left_64(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate_left_64(s->v1, 13) ^ s->v0;
	s->v3 = rotate_left_64(s->v3, 16) ^ s->v2;
	s->v0 = rotate_left_64(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotate_left_64(s->v1, 17) ^ s->v2;
	s->v3 = rotate_left_64(s->v3, 21) ^ s->v0;
	s->v2 = rotate_left_64(s->v2, 32);
}

static void sip_block(struct sip *s, uint64_t m)
{
	s->v3 ^= m;
	sip_round(s);
	s->v0 ^= m;
}

static uint64_t sip_load(const uint8_t *p, size_t n)
{
	uint64_t le = 0;

	memcpy(&le, p, n);
	return le64toh(le);
}

static uint64_t sip_hash_13(const uint64_t key[2], const uint8_t *p, size_t len)
{
	struct sip s = { key[0] ^ 0x736f6d6570736575u,
			 key[1] ^ 0x646f72616e646f6du,
			 key[0] ^ 0x6c7967656e657261u,
			 key[1] ^ 0x7465646279746573u };
	size_t i;

	for (i = 0; i + 8 <= len; i += 8)
		sip_block(&s, sip_load(p + i, 8));
	sip_block(&s, sip_load(p + i, len - i) | (uint64_t)len << 56);
	s.v2 ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t dent_name_hash(const struct store *st, const void *name, size_t len)
{
	uint64_t h = sip_hash_13(st->hash_key, name, len) >> 1;

	return h < HASH_MIN ? h + HASH_MIN : h;
}

/* The key is in the byte order of the host that made the store. */
int dent_hash_open(struct store *st)
{
	uint64_t key[2];
	int rc;

	rc = meta_get(st, "hash_key", st->hash_key, sizeof(st->hash_key));
	if (rc != -ENOENT)
		return rc;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -errno;
	rc = store_begin(st);
	if (!rc)
		rc = transaction_end(st, meta_put(st, "hash_key", key,
						  sizeof(key)));
	if (rc)
		return rc;
	memcpy(st->hash_key, key, sizeof(key));
	return 0;
}
