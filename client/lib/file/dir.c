/* SPDX-License-Identifier: BSD-2-Clause */
/* dir.c - READDIR into a buffer, and conversion to struct dirent. */
#include "client/lib/file/dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/file/file.h"
#include "client/lib/file/handover.h"

#define DIRBUF_BYTES 65536u

struct dir_entries {
	uint32_t len, at;
	bool eof; /* no entries after these */
	struct wire_dirent rec[DIRBUF_BYTES / sizeof(struct wire_dirent)];
};

void dirbuf_reset(struct dir_entries *b)
{
	if (!b)
		return;
	b->len = 0;
	b->at = 0;
	b->eof = false;
}

static int dirbuf_fetch(struct session *s, const struct target *t, void *arg)
{
	struct file *f = arg;
	struct dir_entries *b = f->dirbuf;
	struct mgr_listing l;
	int rc;

	rc = mgr_readdir(s, t->handle, f->pos, b->rec, sizeof(b->rec), &l);
	if (rc)
		return rc;
	if (!l.bytes && !l.eof)
		return -EPROTO;
	b->len = l.bytes;
	b->at = 0;
	b->eof = l.eof;
	return 0;
}

static const char *record_name(const struct wire_dirent *d)
{
	return (const char *)(d + 1);
}

/* Returns 1 and sets *d to the next record; 0: end of the directory; -errno. */
static int dirbuf_next(struct file *f, const struct wire_dirent **d)
{
	struct dir_entries *b = f->dirbuf;
	int rc;

	if (b->at == b->len) {
		if (b->eof)
			return 0;
		rc = file_run(f, dirbuf_fetch, f);
		if (rc == -ESTALE && fs_has_removed(f->fs, f->handle, f->fsid))
			return 0;
		if (rc)
			return rc;
		if (!b->len)
			return 0;
	}
	*d = (const void *)((const char *)b->rec + b->at);
	if (!wire_dirent_ok(*d, b->len - b->at, sizeof(**d)) ||
	    le64toh((*d)->cookie) < f->pos) {
		log_error(f->fs->log,
			  "%s: protocol error in the entries of directory "
			  "%016llx",
			  f->fs->mount->dir, (unsigned long long)f->handle);
		return -EPROTO;
	}
	return 1;
}

static size_t dirent_len(size_t name_len)
{
	size_t len = offsetof(struct dirent, d_name) + name_len + 1;

	return (len + 7) & ~(size_t)7;
}

static size_t dirent_put(char *buf, const struct wire_dirent *d)
{
	size_t name_len = le16toh(d->name_len), len = dirent_len(name_len);
	struct dirent *ent = (struct dirent *)buf;

	memset(buf, 0, len);
	ent->d_ino = le64toh(d->handle);
	ent->d_off = (off_t)le64toh(d->cookie);
	ent->d_reclen = (unsigned short)len;
	ent->d_type = IFTODT(le32toh(d->mode));
	memcpy(buf + offsetof(struct dirent, d_name), record_name(d), name_len);
	return len;
}

static bool make_buf(struct file *f)
{
	if (!f->dirbuf)
		f->dirbuf = calloc(1, sizeof(*f->dirbuf));
	return f->dirbuf;
}

static void dirbuf_pass(struct file *f, const struct wire_dirent *d)
{
	f->pos = le64toh(d->cookie);
	handover_update_pos(f);
	f->dirbuf->at += le16toh(d->reclen);
}

ssize_t dir_fill(struct file *f, void *buf, size_t len)
{
	const struct wire_dirent *d = NULL;
	size_t done = 0;
	int rc;

	if (!make_buf(f))
		return -ENOMEM;
	while ((rc = dirbuf_next(f, &d)) > 0) {
		if (dirent_len(le16toh(d->name_len)) > len - done)
			return done ? (ssize_t)done : -EINVAL;
		done += dirent_put((char *)buf + done, d);
		dirbuf_pass(f, d);
	}
	return done ? (ssize_t)done : rc;
}

int dir_look(struct file *f, struct dirent *ent)
{
	const struct wire_dirent *d = NULL;
	int rc = make_buf(f) ? dirbuf_next(f, &d) : -ENOMEM;

	if (rc > 0)
		dirent_put((char *)ent, d);
	return rc;
}

void dir_pass(struct file *f)
{
	const struct dir_entries *b = f->dirbuf;

	dirbuf_pass(f, (const void *)((const char *)b->rec + b->at));
}

int dir_stat(struct file *f, int rc, struct stat *st)
{
	bool removed = rc == -ESTALE &&
		       fs_has_removed(f->fs, f->handle, f->fsid);

	pthread_mutex_lock(&f->lock);
	if (!rc) {
		f->seen = *st;
	} else if (removed && f->seen.st_ino) {
		f->seen.st_nlink = 0;
		*st = f->seen;
		rc = 0;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}
