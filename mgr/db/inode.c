/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inode.c - the rows of an object.  The record of an inode is little-endian, with a version that
 * determines its length.  The table of symlink targets also has rows (handle, name) -> value: the extended
 * attributes.  The keys of targets are handles alone.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "mgr/db/handle.h"
#include "mgr/db/inode.h"

/* ---- inodes and targets of symlinks ---- */

struct inode_row {
	uint16_t version, flags;
	uint32_t mode, nlink, uid, gid, gen;
	int64_t atime, mtime, ctime, mset;
	uint64_t parent; /* regular files: writer */
	uint32_t base, pcount, ssize;
	uint32_t writers, appenders, holders;
	uint64_t size, end, tail;
	/* since version 2, which earlier releases reject; written for rings other than 0 only */
	uint32_t ring, zero;
};
#define VERSION_1_LEN offsetof(struct inode_row, ring)
_Static_assert(VERSION_1_LEN == 112, "inode record, version 1");
_Static_assert(sizeof(struct inode_row) == 120, "inode record");

/* 0: unknown version. */
static size_t inode_row_len(uint16_t version)
{
	return version == 2   ? sizeof(struct inode_row)
	       : version == 1 ? VERSION_1_LEN
			      : 0;
}

static void inode_row_encode(const struct inode *ino, struct inode_row *r)
{
	*r = (struct inode_row){
		.version = htole16(ino->dist.ring ? 2 : 1),
		.flags = htole16((uint16_t)ino->flags),
		.mode = htole32(ino->mode),
		.nlink = htole32(ino->nlink),
		.uid = htole32(ino->uid),
		.gid = htole32(ino->gid),
		.gen = htole32(ino->gen),
		.atime = (int64_t)htole64((uint64_t)ino->atime),
		.mtime = (int64_t)htole64((uint64_t)ino->mtime),
		.ctime = (int64_t)htole64((uint64_t)ino->ctime),
		.mset = (int64_t)htole64((uint64_t)ino->mset),
		.parent = htole64(S_ISREG(ino->mode) ? ino->writer
						     : ino->parent),
		.base = htole32(ino->dist.base),
		.pcount = htole32(ino->dist.pcount),
		.ssize = htole32(ino->dist.ssize),
		.writers = htole32(ino->writers),
		.appenders = htole32(ino->appenders),
		.holders = htole32(ino->holders),
		.size = htole64(ino->size),
		.end = htole64(ino->end),
		.tail = htole64(ino->tail),
		.ring = htole32(ino->dist.ring),
	};
}

static void inode_row_decode(const struct inode_row *r, uint64_t handle,
			     struct inode *ino)
{
	*ino = (struct inode){
		.handle = handle,
		.mode = le32toh(r->mode),
		.nlink = le32toh(r->nlink),
		.uid = le32toh(r->uid),
		.gid = le32toh(r->gid),
		.atime = (int64_t)le64toh((uint64_t)r->atime),
		.mtime = (int64_t)le64toh((uint64_t)r->mtime),
		.ctime = (int64_t)le64toh((uint64_t)r->ctime),
		.mset = (int64_t)le64toh((uint64_t)r->mset),
		.parent = le64toh(r->parent),
		.dist = { .base = le32toh(r->base),
			  .pcount = le32toh(r->pcount),
			  .ssize = le32toh(r->ssize),
			  .ring = le32toh(r->ring) },
		.flags = le16toh(r->flags),
		.gen = le32toh(r->gen),
		.writers = le32toh(r->writers),
		.appenders = le32toh(r->appenders),
		.holders = le32toh(r->holders),
		.size = le64toh(r->size),
		.end = le64toh(r->end),
		.tail = le64toh(r->tail),
	};
	if (S_ISREG(ino->mode)) {
		ino->writer = ino->parent;
		ino->parent = 0;
	}
}

int inode_get(struct store *st, uint64_t handle, struct inode *ino)
{
	struct inode_row r = { 0 };
	uint8_t key[8];
	size_t len;
	int rc;

	key_u64(key, handle);
	rc = store_get(st, STORE_INODES, key, sizeof(key), &r, sizeof(r), &len);
	if (rc)
		return rc;
	if (len != inode_row_len(le16toh(r.version))) {
		log_error(store_log(st), "inode %llu: damaged record",
			  (unsigned long long)handle_external(st, handle));
		return -EIO;
	}
	inode_row_decode(&r, handle, ino);
	return 0;
}

int inode_put(struct store *st, const struct inode *ino)
{
	struct inode_row r;
	uint8_t key[8];

	key_u64(key, ino->handle);
	inode_row_encode(ino, &r);
	return store_put(st, STORE_INODES, key, sizeof(key), &r,
			 inode_row_len(le16toh(r.version)));
}

int inode_del(struct store *st, uint64_t handle)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_del(st, STORE_INODES, key, sizeof(key));
}

int inode_last(struct store *st, uint64_t *handle)
{
	struct store_cursor it;
	uint8_t key[8];
	int rc = store_cursor_open(st, STORE_INODES, "", 0, &it);

	if (rc)
		return rc;
	key_u64(key, UINT64_MAX);
	rc = store_cursor_floor(&it, key, sizeof(key));
	store_cursor_close(&it);
	if (!rc)
		*handle = key_get_u64(it.key);
	else if (rc == -ENOENT)
		*handle = 0;
	return rc == -ENOENT ? 0 : rc;
}

int inode_count(struct store *st, uint64_t last, unsigned int rows,
		uint64_t *next, uint64_t *count)
{
	struct store_cursor it;
	uint64_t handle = 0, n = 0;
	uint8_t key[8];
	int rc;

	key_u64(key, *next);
	rc = store_cursor_open(st, STORE_INODES, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (n < rows && handle < last && !(rc = store_cursor_next(&it))) {
		handle = key_get_u64(it.key);
		n += handle <= last;
	}
	store_cursor_close(&it);
	if (rc && rc != -ENOENT)
		return rc;
	*count += n;
	*next = rc || handle >= last ? 0 : handle + 1;
	return 0;
}

int symlink_put(struct store *st, uint64_t handle, const void *text, size_t len)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_put(st, STORE_SYMLINKS, key, sizeof(key), text, len);
}

int symlink_get(struct store *st, uint64_t handle, char text[SYMLINK_MAX],
		size_t *len)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_get(st, STORE_SYMLINKS, key, sizeof(key), text,
			 SYMLINK_MAX, len);
}

int symlink_del(struct store *st, uint64_t handle)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_del(st, STORE_SYMLINKS, key, sizeof(key));
}

/* ---- extended attributes ---- */

#define XATTR_KEY_MAX (8 + XATTR_NAME_BYTES)

static size_t xattr_make_key(uint64_t handle, const char *name, size_t nlen,
			     uint8_t key[XATTR_KEY_MAX])
{
	key_u64(key, handle);
	memcpy(key + 8, name, nlen);
	return 8 + nlen;
}

int xattr_get(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      void *value, size_t *len)
{
	uint8_t key[XATTR_KEY_MAX];
	size_t klen = xattr_make_key(handle, name, nlen, key);
	int rc = store_get(st, STORE_SYMLINKS, key, klen, value,
			   XATTR_VALUE_BYTES, len);

	return rc == -ENOENT ? -ENODATA : rc;
}

int xattr_put(struct store *st, uint64_t handle, const char *name, size_t nlen,
	      const void *value, size_t len)
{
	uint8_t key[XATTR_KEY_MAX];
	size_t klen = xattr_make_key(handle, name, nlen, key);

	return store_put(st, STORE_SYMLINKS, key, klen, value, len);
}

int xattr_del(struct store *st, uint64_t handle, const char *name, size_t nlen)
{
	uint8_t key[XATTR_KEY_MAX];
	size_t klen = xattr_make_key(handle, name, nlen, key);
	int rc = store_del(st, STORE_SYMLINKS, key, klen);

	return rc == -ENOENT ? -ENODATA : rc;
}

static bool is_xattr_of(const struct store_cursor *it, uint64_t handle)
{
	return it->klen > 8 && key_get_u64(it->key) == handle;
}

int xattr_walk(struct store *st, uint64_t handle, xattr_fn *fn, void *arg)
{
	struct store_cursor it;
	uint8_t key[9];
	int rc;

	key_u64(key, handle);
	key[8] = 0; /* after the row of a symlink's target */
	rc = store_cursor_open(st, STORE_SYMLINKS, key, sizeof(key), &it);
	if (rc)
		return rc;
	while (!(rc = store_cursor_next(&it)) && is_xattr_of(&it, handle)) {
		rc = fn(arg, (const char *)it.key + 8, it.klen - 8);
		if (rc)
			break;
	}
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

struct xattr_removal {
	struct store *st;
	uint64_t handle;
};

static int xattr_remove_one(void *arg, const char *name, size_t nlen)
{
	const struct xattr_removal *r = arg;

	return xattr_del(r->st, r->handle, name, nlen);
}

int xattr_del_all(struct store *st, uint64_t handle)
{
	struct xattr_removal r = { st, handle };

	return xattr_walk(st, handle, xattr_remove_one, &r);
}
