/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readdir.c - READDIR and READDIRPLUS.  The cookie is the hash of the last name, so new
 * or removed names elsewhere do not move it.  Names with the same hash are returned
 * together.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "mgr/ns/ns_int.h"

#define COOKIE_NAMES 3u /* cookies from here on are hashes of names */

struct dir_fill {
	struct ns_op *op;
	uint8_t *buf;
	size_t cap;
	size_t fixed; /* bytes of a record before the name */
	bool plus; /* attributes are wanted */
	bool searches; /* the client may search the directory */
	uint64_t until; /* value of ns_work() at which the budget is used up */
	size_t len, count;
	/*
	 * up to the last entry whose hash is complete: entries with one hash are returned together
	 */
	size_t whole, whole_count;
	uint64_t hash; /* hash of the entries that are being written */
};

struct dir_entry {
	const char *name;
	size_t len;
	uint64_t cookie;
	struct dent dent;
};

/* 0 with attr.handle 0: the manager does not know the attributes. */
static int fill_attr(const struct dir_fill *f, uint64_t handle,
		     struct wire_attr *attr)
{
	struct inode ino;
	int rc = inode_get(f->op->ns->st, handle, &ino);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (!S_ISREG(ino.mode) || !(ino.flags & (INODE_ASK | INODE_HOLES)))
		ns_fill_attr(f->op, &ino, attr);
	return 0;
}

/*
 * The inode number of an entry.  If the client has no search permission on the directory,
 * it must not get the handle, with which it could open the file.  It gets another number
 * instead, which is always the same for a file.
 */
static uint64_t number_of(const struct dir_fill *f, uint64_t handle)
{
	const struct store *st = f->op->ns->st;
	uint64_t number = handle_to_wire(st, handle);

	return f->searches ? number : handle_to_wire(st, le64toh(number));
}

static void write_record(struct dir_fill *f, const struct dir_entry *e,
			 size_t reclen, const struct wire_attr *attr)
{
	const struct wire_direntplus d = {
		.ent = { .handle = number_of(f, e->dent.handle),
			 .cookie = htole64(e->cookie),
			 .reclen = htole16((uint16_t)reclen),
			 .name_len = htole16((uint16_t)e->len),
			 .mode = htole32(e->dent.mode & S_IFMT) },
		.attr = *attr,
	};

	memset(f->buf + f->len, 0, reclen);
	memcpy(f->buf + f->len, &d, f->fixed);
	memcpy(f->buf + f->len + f->fixed, e->name, e->len);
	f->len += reclen;
	f->count++;
}

/* Only at the end of a complete hash, because its names are returned together. */
static bool is_used_up(const struct dir_fill *f)
{
	return f->whole_count && ns_work(f->op->ns) >= f->until;
}

/* 1: the buffer is full, or the budget of the turn is used up. */
static int emit_entry(struct dir_fill *f, const struct dir_entry *e)
{
	size_t reclen = wire_pad(f->fixed + e->len + 1);
	struct wire_attr attr = { 0 };
	int rc = 0;

	if (e->cookie != f->hash) {
		f->whole = f->len;
		f->whole_count = f->count;
		f->hash = e->cookie;
		if (is_used_up(f))
			return 1;
	}
	if (reclen > f->cap - f->len)
		return 1;
	if (f->plus && f->searches && e->cookie >= COOKIE_NAMES)
		rc = fill_attr(f, e->dent.handle, &attr);
	if (!rc)
		write_record(f, e, reclen, &attr);
	return rc;
}

static int emit_dots(const struct inode *dir, uint64_t cookie,
		     struct dir_fill *f)
{
	const struct dir_entry dots[] = {
		{ ".", 1, 1, { dir->handle, S_IFDIR } },
		{ "..", 2, 2, { dir->parent, S_IFDIR } },
	};
	int rc = 0;

	for (size_t i = 0; i < 2 && !rc; i++)
		if (cookie < dots[i].cookie)
			rc = emit_entry(f, &dots[i]);
	return rc;
}

static int emit_names(const struct inode *dir, uint64_t cookie,
		      struct dir_fill *f)
{
	struct dent_cursor it;
	int rc;

	rc = dent_cursor_open(f->op->ns->st, dir->handle,
			      cookie < COOKIE_NAMES ? COOKIE_NAMES - 1 : cookie,
			      &it);
	if (rc)
		return rc;
	while (!(rc = dent_cursor_next(&it))) {
		const struct dir_entry e = { it.name, it.len, it.hash,
					     it.dent };

		rc = emit_entry(f, &e);
		if (rc)
			break;
	}
	dent_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

static int find_dir(struct ns_op *op, uint64_t handle, struct inode *dir)
{
	int rc = inode_get(op->ns->st, handle ? handle : op->ns->root, dir);

	if (rc)
		return rc == -ENOENT ? -ESTALE : rc;
	if (!inode_is_dir(dir))
		return -ENOTDIR;
	return ns_may(op, dir, R_OK);
}

static struct dir_fill start_fill(struct ns_op *op,
				  const struct ns_readdir_args *args,
				  const struct inode *dir)
{
	return (struct dir_fill){
		.op = op,
		.buf = args->buf,
		.cap = args->cap,
		.fixed = args->plus ? sizeof(struct wire_direntplus)
				    : sizeof(struct wire_dirent),
		.plus = args->plus,
		.searches = !ns_may(op, dir, X_OK),
		.until = op->pause ? ns_work(op->ns) + NS_TURN_STEPS
				   : UINT64_MAX,
	};
}

int ns_readdir(struct ns_op *op, const struct ns_readdir_args *args,
	       struct ns_listing *list)
{
	struct inode dir;
	struct dir_fill f;
	int rc;

	rc = find_dir(op, args->dir, &dir);
	if (rc)
		return rc;
	f = start_fill(op, args, &dir);
	rc = emit_dots(&dir, args->cookie, &f);
	if (!rc)
		rc = emit_names(&dir, args->cookie, &f);
	if (rc < 0)
		return rc;
	if (rc) {
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
