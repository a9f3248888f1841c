/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_file.c - one file: open both ends, cut into pieces, finish. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"

static struct copy_file *new_file(struct copy *c, const char *from,
				  const char *to, const struct stat *st,
				  uint64_t tag)
{
	struct copy_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->copy = c;
	f->st = *st;
	f->tag = tag;
	f->in = f->out = -1;
	f->from = strdup(from);
	f->to = strdup(to);
	atomic_init(&f->pieces, 0);
	if (f->from && f->to)
		return f;
	free(f->from);
	free(f->to);
	free(f);
	return NULL;
}

static void free_file(struct copy_file *f)
{
	if (f->out >= 0)
		pvfs_close(f->out);
	if (f->in >= 0)
		pvfs_close(f->in);
	free(f->from);
	free(f->to);
	free(f);
}

/* A link that is replaced, and not followed, is another file than the one that it names. */
static bool same_file(const struct copy_file *f)
{
	struct stat a, b;

	if (pvfs_fstat(f->in, &a) ||
	    (f->copy->opt.nofollow ? pvfs_lstat(f->to, &b)
				   : pvfs_stat(f->to, &b)))
		return false;
	return tool_same_file(&a, &b);
}

static int create(struct copy_file *f, int flags)
{
	struct pvfs_filestat meta = f->copy->opt.meta;
	mode_t mode = f->st.st_mode & 0777;

	if (pvfs_is_pvfs(f->to))
		return pvfs_open(f->to, flags | O_META, mode, &meta);
	return pvfs_open(f->to, flags, mode);
}

/* Read access serves --verify. */
static int open_target(struct copy_file *f)
{
	const struct copy_opts *o = &f->copy->opt;
	int flags = O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, fd;

	if (o->no_clobber || o->nofollow)
		flags |= O_EXCL;
	fd = create(f, flags);
	if (fd >= 0 || errno != EEXIST || !o->nofollow || pvfs_unlink(f->to))
		return fd;
	return create(f, flags);
}

static void target_failed(const struct copy_file *f)
{
	const struct pvfs_filestat *meta = &f->copy->opt.meta;
	bool striped = meta->base > 0 || meta->pcount > 0 || meta->ssize > 0;
	int err = errno, n;

	copy_failed(f->copy, f->to);
	if (err != EINVAL || !striped || !pvfs_is_pvfs(f->to))
		return;
	n = pvfs_servers(f->to, NULL, 0) - 1;
	if (n < 1)
		return;
	tool_say(f->copy->tool,
		 "%s: there are %d iods: want -n up to %d, -b up to %d, "
		 "-s 64 to 1G",
		 f->to, n, n, n - 1);
}

static int open_file(struct copy_file *f)
{
	int flags = O_RDONLY | O_CLOEXEC;

	if (f->copy->opt.nofollow)
		flags |= O_NOFOLLOW | O_NONBLOCK; /* a pipe is not waited for */
	f->in = pvfs_open(f->from, flags);
	if (f->in < 0) {
		copy_failed(f->copy, f->from);
		return -1;
	}
	if (same_file(f)) {
		copy_same(f->copy, f->from, f->to);
		return -1;
	}
	f->out = open_target(f);
	if (f->out >= 0)
		return 0;
	if (!(f->copy->opt.no_clobber && errno == EEXIST))
		target_failed(f);
	return -1;
}

/* Size first: what stays unwritten is a hole up to it. */
static bool prepare(struct copy_file *f)
{
	if (open_file(f))
		return false;
	return !f->st.st_size || !copy_set_size(f, (uint64_t)f->st.st_size);
}

static void queue_piece(struct copy_file *f, uint64_t off)
{
	uint64_t left = (uint64_t)f->st.st_size - off;
	struct copy_job *job = malloc(sizeof(*job));

	if (!job) {
		copy_failed(f->copy, f->from);
		copy_file_piece_done(f, false);
		return;
	}
	job->file = f;
	job->off = off;
	job->len = left < COPY_PIECE ? left : COPY_PIECE;
	copy_queue_put(f->copy->queue, job);
}

/*
 * A file of one piece is opened by the thread that copies it, so that the
 * walk does not wait for servers; a bigger one here, before its pieces go
 * to several threads.
 */
int copy_file_start(struct copy *c, const char *from, const char *to,
		    const struct stat *st, uint64_t tag)
{
	uint64_t size = (uint64_t)st->st_size;
	uint64_t n = size / COPY_PIECE + (size % COPY_PIECE != 0 || !size);
	struct copy_file *f = new_file(c, from, to, st, tag);

	if (!f) {
		copy_failed(c, from);
		return -1;
	}
	atomic_fetch_add(&c->files_found, 1);
	atomic_fetch_add(&c->bytes_found, size);
	if (n > 1 && !prepare(f)) {
		free_file(f);
		return -1;
	}
	atomic_store(&f->pieces, (unsigned int)n);
	for (uint64_t i = 0; i < n; i++)
		queue_piece(f, i * COPY_PIECE);
	return 0;
}

/* Closed before the times are set: close may tell the servers of a write. */
static bool finish(struct copy_file *f)
{
	struct copy *c = f->copy;

	pvfs_close(f->in);
	f->in = -1;
	if (pvfs_close(f->out)) {
		f->out = -1;
		copy_failed(c, f->to);
		return false;
	}
	f->out = -1;
	if (copy_attrs(c, f->from, f->to, &f->st)) {
		copy_failed(c, f->to);
		return false;
	}
	atomic_fetch_add(&c->files, 1);
	if (c->opt.verbose)
		tool_line(stdout, "%s -> %s\n", f->from, f->to);
	return true;
}

void copy_file_piece_done(struct copy_file *f, bool ok)
{
	struct copy *c = f->copy;

	if (!ok)
		atomic_store(&f->failed, true);
	if (atomic_fetch_sub(&f->pieces, 1) != 1)
		return;
	ok = !atomic_load(&f->failed) && finish(f);
	if (c->ended)
		c->ended(c->arg, f, ok);
	free_file(f);
}

void copy_file_piece(struct copy_file *f, uint64_t off, uint64_t len, char *buf)
{
	bool ok = !patience_over(&f->copy->patience) &&
		  !atomic_load(&f->failed) && (f->in >= 0 || prepare(f));

	if (ok && !len && !pvfs_is_pvfs_fd(f->in))
		ok = !copy_unsized(f, buf);
	else
		ok = ok && !copy_piece(f, off, len, buf);
	copy_file_piece_done(f, ok);
}
