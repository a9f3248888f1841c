/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - walks the tree: each name must have its file, each file its
 * number of names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mgr/fsck/fsck.h"

struct known *known_find(struct fsck *f, uint64_t handle)
{
	struct known *k;

	HASH_FIND(hh, f->known, &handle, sizeof(handle), k);
	return k;
}

void names_forget(struct fsck *f)
{
	struct known *k, *next;

	HASH_ITER(hh, f->known, k, next) {
		HASH_DEL(f->known, k);
		free(k);
	}
	f->npending = 0;
}

static int read_later(struct fsck *f, uint64_t dir)
{
	int rc = fsck_grow(&f->pending, &f->pending_room, f->npending,
			   sizeof(dir));

	if (!rc)
		f->pending[f->npending++] = dir;
	return rc;
}

/* A directory has a link in itself beside its name; its subdirectories have
 * one in it. */
static int known_add(struct fsck *f, const struct wire_attr *attr,
		     struct known **out)
{
	struct known *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->handle = le64toh(attr->handle);
	HASH_ADD(hh, f->known, handle, sizeof(k->handle), k);
	if (!k->hh.tbl) {
		free(k);
		return -ENOMEM;
	}
	k->ctime = (int64_t)le64toh(attr->ctime);
	k->nlink = le32toh(attr->nlink);
	k->base = le32toh(attr->dist.base);
	k->pcount = le32toh(attr->dist.pcount);
	k->dir = S_ISDIR(le32toh(attr->mode));
	k->links = k->dir ? 1 : 0;
	if (k->dir)
		f->dirs++;
	else
		f->files++;
	*out = k;
	return k->dir ? read_later(f, k->handle) : 0;
}

static int dangling(struct fsck *f, uint64_t dir, uint64_t handle,
		    const char *name, size_t len)
{
	struct problem p = { .kind = DANGLING, .handle = handle, .dir = dir };

	memcpy(p.name, name, len < sizeof(p.name) ? len : sizeof(p.name) - 1);
	return fsck_found(f, &p);
}

static bool is_dots(const char *name, size_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

static int take_name(struct fsck *f, uint64_t dir, const struct wire_dirent *d,
		     const char *name)
{
	uint64_t handle = le64toh(d->handle);
	size_t len = le16toh(d->name_len);
	struct known *k = known_find(f, handle), *parent;
	struct wire_attr attr;
	int rc;

	if (is_dots(name, len))
		return 0;
	if (!k) {
		rc = fsck_attr(f, handle, &attr);
		if (rc == -ESTALE || rc == -ENOENT)
			return dangling(f, dir, handle, name, len);
		if (rc)
			return rc;
		rc = known_add(f, &attr, &k);
		if (rc)
			return rc;
	}
	k->links++;
	parent = known_find(f, dir);
	if (k->dir && parent)
		parent->links++;
	return 0;
}

/* The records in the arena; *cookie: of the last. */
static int take_page(struct fsck *f, uint64_t dir, uint32_t bytes,
		     uint64_t *cookie)
{
	struct wire_dirent d;
	uint32_t at = 0, reclen;
	int rc = 0;

	while (!rc && at < bytes) {
		if (bytes - at < sizeof(d))
			return -EPROTO;
		memcpy(&d, f->arena + at, sizeof(d));
		reclen = le16toh(d.reclen);
		if (reclen > bytes - at ||
		    reclen < sizeof(d) + le16toh(d.name_len) + 1)
			return -EPROTO;
		*cookie = le64toh(d.cookie);
		rc = take_name(f, dir, &d,
			       (const char *)f->arena + at + sizeof(d));
		at += reclen;
	}
	return rc;
}

static int read_dir(struct fsck *f, uint64_t dir)
{
	struct wire_readdir body = {
		.dir = htole64(dir),
		.mem = { .addr = htole64((uintptr_t)f->arena),
			 .len = htole32(FSCK_ARENA) },
	};
	struct piece b = { &body, sizeof(body) };
	struct wire_readdir_rep rep = { 0 };
	struct answer answer;
	uint64_t cookie = 0;
	int rc = 0;

	while (!rc && !rep.eof) {
		body.cookie = htole64(cookie);
		rc = fsck_ask(f, f->mgr, WIRE_READDIR, &b, NULL, &answer);
		if (rc)
			break;
		memcpy(&rep, answer.body, sizeof(rep));
		if (le32toh(rep.bytes) > FSCK_ARENA)
			return -EPROTO;
		rc = take_page(f, dir, le32toh(rep.bytes), &cookie);
	}
	/* removed meanwhile */
	return rc == -ESTALE || rc == -ENOENT ? 0 : rc;
}

int names_read(struct fsck *f)
{
	struct wire_attr attr;
	struct known *root;
	int rc;

	names_forget(f);
	f->files = f->dirs = 0;
	rc = fsck_attr(f, 0, &attr);
	if (!rc)
		rc = known_add(f, &attr, &root);
	if (!rc)
		root->links++; /* it needs no name */
	while (!rc && f->npending)
		rc = read_dir(f, f->pending[--f->npending]);
	return rc;
}

/* What changed since the pass began may have been seen half. */
static int judge(struct fsck *f, const struct known *k)
{
	struct problem p = { .kind = LINKS, .handle = k->handle };
	struct wire_attr attr;
	int rc;

	if (k->links == k->nlink || k->ctime >= f->started)
		return 0;
	rc = fsck_attr(f, k->handle, &attr);
	if (rc)
		return rc == -ESTALE ? 0 : rc;
	if ((int64_t)le64toh(attr.ctime) >= f->started)
		return 0;
	p.found = k->links;
	p.stored = le32toh(attr.nlink);
	return p.found == p.stored ? 0 : fsck_found(f, &p);
}

int names_judge(struct fsck *f)
{
	struct known *k, *next;
	int rc = 0;

	HASH_ITER(hh, f->known, k, next) {
		rc = judge(f, k);
		if (rc)
			break;
	}
	return rc;
}
