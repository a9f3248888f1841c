/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_file.c - one file: opens both ends, splits it into pieces, finishes it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/files/copy/copy.h"

static void free_file(struct copy_file *f)
{
	if (f->out >= 0)
		pvfs_close(f->out);
	if (f->in >= 0)
		pvfs_close(f->in);
	free(f->temp);
	free(f->from);
	free(f->to);
	atomic_fetch_sub(&f->copy->open, 1);
	free(f);
}

static struct copy_file *new_file(struct copy *c, const char *from,
				  const char *to, const struct stat *st)
{
	struct copy_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->copy = c;
	f->st = *st;
	f->in = f->out = -1;
	f->end = f->good = UINT64_MAX;
	atomic_fetch_add(&c->open, 1);
	f->from = strdup(from);
	f->to = strdup(to);
	if (f->from && f->to)
		return f;
	free_file(f);
	return NULL;
}

/*
 * A symbolic link that is replaced, and not followed, differs from the file that it
 * names.
 */
static bool same_file(const struct copy_file *f)
{
	struct stat a, b;

	if (pvfs_fstat(f->in, &a) ||
	    (f->copy->opt.nofollow ? pvfs_lstat(f->to, &b)
				   : pvfs_stat(f->to, &b)))
		return false;
	return tool_same_file(&a, &b);
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
		flags |= O_NOFOLLOW | O_NONBLOCK; /* a FIFO does not block */
	copy_wait_begin();
	f->in = pvfs_open(f->from, flags);
	copy_wait_end();
	if (f->in < 0) {
		copy_failed(f->copy, f->from);
		return -1;
	}
	if (same_file(f)) {
		copy_same(f->copy, f->from, f->to);
		return -1;
	}
	if (!copy_target_open(f))
		return 0;
	if (errno != EEXIST)
		target_failed(f);
	else if (f->copy->opt.no_clobber)
		copy_link_is_there(f->link);
	else
		copy_twice(f->copy, f->from, f->to);
	return -1;
}

/* ---- the end ---- */

static void note_failure_at(struct copy_file *f, uint64_t off)
{
	uint64_t good = atomic_load(&f->good);

	atomic_store(&f->failed, true);
	while (off < good &&
	       !atomic_compare_exchange_weak(&f->good, &good, off))
		;
}

/*
 * A failed close does not say which bytes are missing, so the target is cut to nothing.
 */
static void cut_after_failed_close(struct copy_file *f)
{
	note_failure_at(f, 0);
	if (!f->temp)
		f->out = pvfs_open(f->to, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Reports attributes that cannot be set; the data stays. */
static bool finish_target(struct copy_file *f)
{
	struct copy *c = f->copy;
	bool ok;

	if (copy_target_close(f)) {
		copy_failed(c, f->to);
		cut_after_failed_close(f);
		return false;
	}
	ok = !copy_attrs(c, f->from, f->temp ? f->temp : f->to, &f->st);
	if (!ok)
		copy_failed(c, f->to);
	if (copy_target_name(f)) {
		if (!c->opt.no_clobber || errno != EEXIST)
			copy_failed(c, f->to);
		return false;
	}
	copy_link_is_there(f->link);
	if (!ok)
		return false;
	atomic_fetch_add(&c->files, 1);
	if (c->opt.verbose)
		tool_line(stdout, "%s -> %s\n", f->from, f->to);
	return true;
}

/* Copies the last piece, and ends the file.  buf as for run_job(). */
static void end_file(struct copy_file *f, char *buf)
{
	struct copy *c = f->copy;
	bool ok = buf && !atomic_load(&f->failed) && !copy_over(c) &&
		  (f->in >= 0 || !open_file(f));

	if (ok)
		ok = !copy_tail(f, f->last, buf) && finish_target(f);
	if (!ok)
		note_failure_at(f, f->last);
	if (!ok && (f->temp || f->out >= 0))
		copy_target_drop(f);
	if (c->ended)
		c->ended(c->arg, f, ok);
	free_file(f);
}

/* ---- the start: splits a file into jobs ---- */

/* Puts a copy of job into the queue, and does not use its file afterwards.  -1 after a message. */
static int queue_job(const struct copy_job *job)
{
	struct copy_job *queued = malloc(sizeof(*queued));

	if (!queued) {
		copy_failed(job->file->copy, job->file->from);
		return -1;
	}
	*queued = *job;
	copy_queue_put(job->file->copy->queue, queued);
	return 0;
}

/* Queues all pieces but the last one, which begins at f->last. */
static int queue_pieces(struct copy_file *f)
{
	uint64_t size = (uint64_t)f->st.st_size, end;
	struct copy_job job = { .file = f };
	struct copy_extent data;

	while (size - f->last > COPY_PIECE && !copy_over(f->copy)) {
		if (copy_next_data(f, f->last, size, &data))
			return -1;
		end = data.from + COPY_PIECE;
		if (end >= size)
			break;
		job.off = f->last;
		job.len = end - f->last;
		atomic_fetch_add(&f->remaining, 1);
		if (queue_job(&job)) {
			atomic_fetch_sub(&f->remaining, 1);
			return -1;
		}
		f->last = end;
	}
	return 0;
}

/* Opened here, before several threads get its pieces. */
static int start_large_file(struct copy_file *f)
{
	if (open_file(f))
		return -1;
	atomic_store(&f->remaining, 1); /* until all are queued */
	if (queue_pieces(f))
		atomic_store(&f->failed, true);
	if (atomic_fetch_sub(&f->remaining, 1) == 1 &&
	    queue_job(&(struct copy_job){ .file = f, .last = true }))
		end_file(f, NULL);
	return 0;
}

/*
 * A file of one piece is opened by the thread that copies it, so that the walk does not
 * wait for servers.
 */
static int start_file(struct copy_file *f)
{
	if ((uint64_t)f->st.st_size > COPY_PIECE)
		return start_large_file(f);
	return queue_job(&(struct copy_job){ .file = f, .last = true });
}

int copy_file_start(struct copy *c, const char *from, const char *to,
		    const struct stat *st, uint64_t tag, struct copy_link *link)
{
	struct copy_file *f = new_file(c, from, to, st);

	if (!f) {
		copy_failed(c, from);
		return -1;
	}
	f->tag = tag;
	f->link = link;
	atomic_fetch_add(&c->files_found, 1);
	atomic_fetch_add(&c->bytes_found, (uint64_t)st->st_size);
	if (!start_file(f))
		return 0;
	free_file(f);
	return -1;
}

/* ---- the threads ---- */

/* buf has room for two blocks; NULL: no memory. */
static void run_job(const struct copy_job *job, char *buf)
{
	struct copy_file *f = job->file;

	if (!buf) {
		errno = ENOMEM;
		copy_failed(f->copy, f->from);
	}
	if (job->last) {
		end_file(f, buf);
		return;
	}
	if (!buf || atomic_load(&f->failed) ||
	    copy_piece(f, job->off, job->len, buf))
		note_failure_at(f, job->off);
	if (atomic_fetch_sub(&f->remaining, 1) == 1)
		end_file(f, buf);
}

void *copy_pieces(void *arg)
{
	struct copy *c = arg;
	struct copy_job *job;
	char *buf = malloc(2 * c->opt.block);

	while ((job = copy_queue_get(c->queue))) {
		run_job(job, buf);
		free(job);
	}
	free(buf);
	return NULL;
}
