/* SPDX-License-Identifier: BSD-2-Clause */
/* inode.c - the record of an inode: little-endian, of fixed length, with a version. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/inode.h"

#define RECORD_VERSION 1u

struct record {
	uint16_t version, flags;
	uint32_t mode, nlink, uid, gid, gen;
	int64_t atime, mtime, ctime, mset;
	uint64_t parent; /* regular files: writer */
	uint32_t base, pcount, ssize;
	uint32_t writers, appenders, holders;
	uint64_t size, end, tail;
};
_Static_assert(sizeof(struct record) == 112, "inode record");

static void encode(const struct inode *ino, struct record *r)
{
	*r = (struct record){
		.version = htole16(RECORD_VERSION),
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
		.base = htole32(ino->base),
		.pcount = htole32(ino->pcount),
		.ssize = htole32(ino->ssize),
		.writers = htole32(ino->writers),
		.appenders = htole32(ino->appenders),
		.holders = htole32(ino->holders),
		.size = htole64(ino->size),
		.end = htole64(ino->end),
		.tail = htole64(ino->tail),
	};
}

static void decode(const struct record *r, uint64_t handle, struct inode *ino)
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
		.base = le32toh(r->base),
		.pcount = le32toh(r->pcount),
		.ssize = le32toh(r->ssize),
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
	struct record r;
	uint8_t key[8];
	size_t len;
	int rc;

	key_u64(key, handle);
	rc = store_get(st, STORE_INODES, key, sizeof(key), &r, sizeof(r), &len);
	if (rc)
		return rc;
	if (len != sizeof(r) || le16toh(r.version) != RECORD_VERSION) {
		log_error(store_log(st), "inode %llu: damaged record",
			  (unsigned long long)handle);
		return -EIO;
	}
	decode(&r, handle, ino);
	return 0;
}

int inode_put(struct store *st, const struct inode *ino)
{
	struct record r;
	uint8_t key[8];

	key_u64(key, ino->handle);
	encode(ino, &r);
	return store_put(st, STORE_INODES, key, sizeof(key), &r, sizeof(r));
}

int inode_del(struct store *st, uint64_t handle)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_del(st, STORE_INODES, key, sizeof(key));
}

int inode_count(struct store *st, uint64_t *count)
{
	struct store_iter it;
	uint64_t n = 0;
	int rc;

	rc = store_iter_open(st, STORE_INODES, "", 0, &it);
	if (rc)
		return rc;
	while (!(rc = store_iter_next(&it)))
		n++;
	store_iter_close(&it);
	if (rc != -ENOENT)
		return rc;
	*count = n;
	return 0;
}

int target_put(struct store *st, uint64_t handle, const void *text, size_t len)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_put(st, STORE_SYMLINKS, key, sizeof(key), text, len);
}

int target_get(struct store *st, uint64_t handle, char text[TARGET_MAX],
	       size_t *len)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_get(st, STORE_SYMLINKS, key, sizeof(key), text, TARGET_MAX,
			 len);
}

int target_del(struct store *st, uint64_t handle)
{
	uint8_t key[8];

	key_u64(key, handle);
	return store_del(st, STORE_SYMLINKS, key, sizeof(key));
}
