/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readdir.c - READDIR.  The cookie is the hash of the last name: names that
 * come or go elsewhere do not move it.  Names of one hash go out together.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ns_impl.h"

struct fill {
	const struct store *st;
	uint8_t *buf;
	size_t cap;
	size_t len, count;
	size_t whole, whole_count; /* up to the last complete hash */
	uint64_t hash; /* of the group being written */
};

static bool emit(struct fill *f, const char *name, size_t len, uint64_t cookie,
		 uint64_t handle, uint32_t mode)
{
	struct wire_dirent d;
	size_t reclen = wire_pad(sizeof(d) + len + 1);

	if (cookie != f->hash) {
		f->whole = f->len;
		f->whole_count = f->count;
		f->hash = cookie;
	}
	if (reclen > f->cap - f->len)
		return false;
	d = (struct wire_dirent){ .handle = handle_to_wire(f->st, handle),
				  .cookie = htole64(cookie),
				  .reclen = htole16((uint16_t)reclen),
				  .name_len = htole16((uint16_t)len),
				  .mode = htole32(mode & S_IFMT) };
	memset(f->buf + f->len, 0, reclen);
	memcpy(f->buf + f->len, &d, sizeof(d));
	memcpy(f->buf + f->len + sizeof(d), name, len);
	f->len += reclen;
	f->count++;
	return true;
}

/* 1: no more room; 0: all entries are out. */
static int emit_all(struct ns_op *op, const struct inode *dir, uint64_t cookie,
		    struct fill *f)
{
	struct dent_iter it;
	int rc;

	if (cookie < 1 && !emit(f, ".", 1, 1, dir->handle, S_IFDIR))
		return 1;
	if (cookie < 2 && !emit(f, "..", 2, 2, dir->parent, S_IFDIR))
		return 1;
	rc = dent_iter_open(op->ns->st, dir->handle, cookie < 3 ? 2 : cookie,
			    &it);
	if (rc)
		return rc;
	while (!(rc = dent_iter_next(&it)))
		if (!emit(f, it.name, it.len, it.hash, it.dent.handle,
			  it.dent.mode))
			break;
	dent_iter_close(&it);
	return rc == -ENOENT ? 0 : rc ? rc : 1;
}

int ns_readdir(struct ns_op *op, uint64_t handle, uint64_t cookie, void *buf,
	       size_t cap, struct ns_listing *list)
{
	struct fill f = { .st = op->ns->st, .buf = buf, .cap = cap };
	struct inode dir;
	int rc;

	rc = inode_get(op->ns->st, handle ? handle : op->ns->root, &dir);
	if (rc)
		return rc == -ENOENT ? -ESTALE : rc;
	if (!inode_is_dir(&dir))
		return -ENOTDIR;
	rc = ns_may(op->cred, &dir, R_OK);
	if (rc)
		return rc;
	rc = emit_all(op, &dir, cookie, &f);
	if (rc < 0)
		return rc;
	if (rc == 1) {
		f.len = f.whole;
		f.count = f.whole_count;
		if (!f.count)
			return -EINVAL;
	}
	*list = (struct ns_listing){ .bytes = (uint32_t)f.len,
				     .count = (uint32_t)f.count,
				     .eof = rc == 0 };
	return 0;
}
