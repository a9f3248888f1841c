/* SPDX-License-Identifier: BSD-2-Clause */
/* name_walk.c - walks the tree: each name must have a file, and the number of names of each file
 * must be its link count. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mgr/fsck/fsck.h"

struct walk_file *name_walk_find(struct fsck *f, uint64_t handle)
{
	struct walk_file *k;

	HASH_FIND(hh, f->walk_files, &handle, sizeof(handle), k);
	return k;
}

static void clear_walk(struct fsck *f)
{
	struct walk_file *k, *next;

	HASH_ITER(hh, f->walk_files, k, next) {
		HASH_DEL(f->walk_files, k);
		free(k);
	}
	f->npending = 0;
}

void name_walk_free(struct fsck *f)
{
	clear_walk(f);
	free(f->pending);
	f->pending = NULL;
	f->pending_room = 0;
}

static int add_pending(struct fsck *f, uint64_t dir)
{
	int rc = array_reserve(&f->pending, &f->pending_room, f->npending,
			       sizeof(dir));

	if (!rc)
		f->pending[f->npending++] = dir;
	return rc;
}

/* A directory has one link from its name, one from itself, and one from each subdirectory. */
static int add_file(struct fsck *f, const struct wire_attr *attr,
		    struct walk_file **out)
{
	struct walk_file *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->handle = le64toh(attr->handle);
	HASH_ADD(hh, f->walk_files, handle, sizeof(k->handle), k);
	if (!k->hh.tbl) {
		free(k);
		return -ENOMEM;
	}
	k->ctime = (int64_t)le64toh(attr->ctime);
	k->nlink = le32toh(attr->nlink);
	k->dist = fsck_dist(attr);
	k->dir = S_ISDIR(le32toh(attr->mode));
	k->links = k->dir ? 1 : 0;
	if (k->dir)
		f->dirs++;
	else
		f->files++;
	*out = k;
	return k->dir ? add_pending(f, k->handle) : 0;
}

static int add_dangling(struct fsck *f, uint64_t dir, uint64_t handle,
			const char *name, size_t len)
{
	struct problem p = { .kind = DANGLING, .handle = handle, .dir = dir };

	memcpy(p.name, name, len < sizeof(p.name) ? len : sizeof(p.name) - 1);
	return problem_list_add(&f->problems, &p);
}

static bool is_dots(const char *name, size_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

static int count_name(struct fsck *f, uint64_t dir, const struct wire_dirent *d,
		      const char *name)
{
	uint64_t handle = le64toh(d->handle);
	size_t len = le16toh(d->name_len);
	struct walk_file *k = name_walk_find(f, handle), *parent;
	struct wire_attr attr;
	int rc;

	if (is_dots(name, len))
		return 0;
	if (!k) {
		rc = fsck_get_attr(f, handle, &attr);
		if (rc == -ESTALE || rc == -ENOENT)
			return add_dangling(f, dir, handle, name, len);
		if (rc)
			return rc;
		rc = add_file(f, &attr, &k);
		if (rc)
			return rc;
	}
	k->links++;
	parent = name_walk_find(f, dir);
	if (k->dir && parent)
		parent->links++;
	return 0;
}

/* Counts the names in the arena; *cookie: of the last one. */
static int count_page(struct fsck *f, uint64_t dir, uint32_t bytes,
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
		rc = count_name(f, dir, &d,
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
	struct fsck_bytes b = { &body, sizeof(body) };
	struct wire_readdir_rep rep = { 0 };
	struct fsck_reply reply;
	uint64_t cookie = 0;
	int rc = 0;

	while (!rc && !rep.eof) {
		body.cookie = htole64(cookie);
		rc = fsck_call(f, f->mgr, WIRE_READDIR, &b, NULL, &reply);
		if (rc)
			break;
		memcpy(&rep, reply.body, sizeof(rep));
		if (le32toh(rep.bytes) > FSCK_ARENA)
			return -EPROTO;
		rc = count_page(f, dir, le32toh(rep.bytes), &cookie);
	}
	/* the directory was removed meanwhile */
	return rc == -ESTALE || rc == -ENOENT ? 0 : rc;
}

int name_walk_run(struct fsck *f)
{
	struct wire_attr attr;
	struct walk_file *root;
	int rc;

	clear_walk(f);
	f->files = f->dirs = 0;
	rc = fsck_get_attr(f, 0, &attr);
	if (!rc)
		rc = add_file(f, &attr, &root);
	if (!rc)
		root->links++; /* the root needs no name */
	while (!rc && f->npending)
		rc = read_dir(f, f->pending[--f->npending]);
	return rc;
}

/* The walk can have seen a part of a change that was made during the pass. */
static int check_links(struct fsck *f, const struct walk_file *k)
{
	struct problem p = { .kind = LINKS, .handle = k->handle };
	struct wire_attr attr;
	int rc;

	if (k->links == k->nlink || k->ctime >= f->start_time)
		return 0;
	rc = fsck_get_attr(f, k->handle, &attr);
	if (rc)
		return rc == -ESTALE ? 0 : rc;
	if ((int64_t)le64toh(attr.ctime) >= f->start_time)
		return 0;
	p.found = k->links;
	p.stored = le32toh(attr.nlink);
	return p.found == p.stored ? 0 : problem_list_add(&f->problems, &p);
}

int name_walk_check_links(struct fsck *f)
{
	struct walk_file *k, *next;
	int rc = 0;

	HASH_ITER(hh, f->walk_files, k, next) {
		rc = check_links(f, k);
		if (rc)
			break;
	}
	return rc;
}
