/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xattr.c - rows (handle, name) -> value, in the table of symlink targets.  The keys of
 * targets are handles alone, so existing databases need no conversion.
 */
#include <errno.h>
#include <string.h>

#include "mgr/db/xattr.h"

#define KEY_MAX (8 + XATTR_NAME_MAX)

static size_t make_key(uint64_t handle, const char *name, size_t nlen,
		       uint8_t key[KEY_MAX])
{
	key_u64(key, handle);
	memcpy(key + 8, name, nlen);
	return 8 + nlen;
}

int xattr_get(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      void *value, size_t *len)
{
	uint8_t key[KEY_MAX];
	size_t klen = make_key(handle, name, nlen, key);
	int rc = store_get(st, STORE_SYMLINKS, key, klen, value,
			   XATTR_VALUE_MAX, len);

	return rc == -ENOENT ? -ENODATA : rc;
}

int xattr_put(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      const void *value, size_t len)
{
	uint8_t key[KEY_MAX];
	size_t klen = make_key(handle, name, nlen, key);

	return store_put(st, STORE_SYMLINKS, key, klen, value, len);
}

int xattr_del(struct store *st, uint64_t handle, const char *name, size_t nlen)
{
	uint8_t key[KEY_MAX];
	size_t klen = make_key(handle, name, nlen, key);
	int rc = store_del(st, STORE_SYMLINKS, key, klen);

	return rc == -ENOENT ? -ENODATA : rc;
}

static bool is_of(const struct store_iter *it, uint64_t handle)
{
	return it->klen > 8 && key_get_u64(it->key) == handle;
}

int xattr_walk(struct store *st, uint64_t handle, xattr_fn *fn, void *arg)
{
	struct store_iter it;
	uint8_t key[9];
	int rc;

	key_u64(key, handle);
	key[8] = 0; /* after the row of a symlink's target */
	rc = store_iter_open(st, STORE_SYMLINKS, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (!(rc = store_iter_next(&it)) && is_of(&it, handle)) {
		rc = fn(arg, (const char *)it.key + 8, it.klen - 8);
		if (rc)
			break;
	}
	store_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

struct removal {
	struct store *st;
	uint64_t handle;
};

static int remove_one(void *arg, const char *name, size_t nlen)
{
	const struct removal *r = arg;

	return xattr_del(r->st, r->handle, name, nlen);
}

int xattr_del_all(struct store *st, uint64_t handle)
{
	struct removal r = { st, handle };

	return xattr_walk(st, handle, remove_one, &r);
}
