/* SPDX-License-Identifier: BSD-2-Clause */
/* data.c - reading, writing and flushing of open files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "client/fuse/hear/alert.h"
#include "client/fuse/kept/cuts.h"
#include "client/fuse/kept/fills.h"
#include "client/fuse/hear/listen.h"
#include "common/util/watched_descriptor.h"
#include "client/fuse/marks.h"
#include "client/fuse/newer.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/lib/rw/rw.h"
#include "client/fuse/syncs.h"

/*
 * A buffer for the transfers of one thread.  It keeps the size of the largest transfer
 * so far, at most the kernel's max_read.
 */
struct space {
	size_t len;
	void *mem;
};

static void space_free(void *arg)
{
	struct space *s = arg;

	free(s->mem);
	free(s);
}

static pthread_key_t space_key;

int data_init(void)
{
	return -pthread_key_create(&space_key, space_free);
}

static struct space *space_mine(void)
{
	struct space *s = pthread_getspecific(space_key);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s && pthread_setspecific(space_key, s)) {
		free(s);
		s = NULL;
	}
	return s;
}

static void *space_get(size_t len)
{
	struct space *s = space_mine();
	void *mem;

	if (!s || s->len >= len)
		return s ? s->mem : NULL;
	if (posix_memalign(&mem, 4096, len))
		return NULL;
	free(s->mem);
	*s = (struct space){ len, mem };
	return mem;
}

static ssize_t transfer(struct file *f, const struct rw *rw)
{
	if (rw->iov->iov_len >= ALERT_LONG)
		listen_share();
	return rw_run(f, -1, rw);
}

static struct fill span(const struct file *f, const struct rw *rw)
{
	return (struct fill){ .file = f->handle,
			      .from = (uint64_t)rw->off,
			      .to = (uint64_t)rw->off + rw->iov->iov_len };
}

/* Reads pages for the kernel's cache. */
static ssize_t fill(const struct call *c, struct file *f, const struct rw *rw)
{
	struct fill pages = span(f, rw);
	uint64_t until = deadline_of(c->d->fs.mount->timeout_ms);
	ssize_t n;

	do {
		n = fills_begin(c->d->fills, &pages, until);
		if (n)
			return n;
		n = transfer(f, rw);
	} while (!fills_end(c->d->fills, &pages) && n >= 0);
	return n;
}

/*
 * Returns the range that a write may change.  An append may land anywhere after the
 * kernel's position, because others may have moved the end.
 */
static struct fill reach(const struct file *f, const struct rw *rw)
{
	struct fill bytes = span(f, rw);

	if (atomic_load(&f->flags) & O_APPEND && !rw->placed)
		bytes.to = UINT64_MAX;
	return bytes;
}

static ssize_t store(const struct call *c, struct file *f, const struct rw *rw)
{
	struct fill bytes = reach(f, rw);
	ssize_t n;

	fills_write(c->d->fills, &bytes);
	n = transfer(f, rw);
	fills_written(c->d->fills, &bytes);
	return n;
}

/* The manager gets this time at the close. */
static void note_read(const struct call *c, struct file *f, ssize_t n,
		      const struct fuse_file_info *fi)
{
	if (n >= 0 && c->d->atime && !(fi->flags & O_NOATIME))
		atomic_store_explicit(&f->read_at, clock_wall(),
				      memory_order_relaxed);
}

void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
	     struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	struct iovec iov = { .iov_len = size };
	struct rw rw = { .iov = &iov, .niov = 1, .at = true, .off = off };
	struct call c;
	ssize_t n;

	call_begin(&c, req);
	/* the read fills a page of the kernel's cache, and is not a process' own */
	if (!fi->lock_owner) {
		atomic_store(&f->paged, true);
		marks_set(c.d->marks, f->handle);
		if (call_again(&c, ino))
			return;
	}
	iov.iov_base = space_get(size);
	if (!iov.iov_base)
		n = -ENOMEM;
	else
		n = fi->lock_owner ? transfer(f, &rw) : fill(&c, f, &rw);
	note_read(&c, f, n, fi);
	if (n < 0)
		call_end(&c, (int)n);
	else
		fuse_reply_buf(req, iov.iov_base, (size_t)n);
}

/* ---- the kernel's own truncation after a failed write: cuts.h ---- */

/*
 * True: no program sees the stored byte.  One byte makes a page valid only if it is the
 * page's first; otherwise the kernel reads the page before use.
 */
static bool is_hidden(const struct call *c, const struct file *f, uint64_t end)
{
	struct marks *m = c->d->marks;

	return end % 4096 != 1 && !(m && marks_is(m, f->handle));
}

/* Without read access the byte is 0, which is allowed only if no program sees it. */
static int last_byte(const struct call *c, struct file *f, uint64_t end,
		     char *byte)
{
	struct iovec iov = { byte, 1 };
	struct rw rw = {
		.iov = &iov, .niov = 1, .at = true, .off = (int64_t)end - 1
	};

	*byte = 0;
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_WRONLY)
		return is_hidden(c, f, end) ? 0 : -EACCES;
	return rw_run(f, -1, &rw) == 1 ? 0 : -EIO;
}

/*
 * Sets the kernel's end of file, by storing the last byte: the kernel extends a file to
 * the bytes that it gets.  Its pages are dropped first, because the page with the
 * previous end has zeros after that end.
 */
static int show_end(const struct call *c, fuse_ino_t ino, struct file *f,
		    uint64_t end)
{
	struct fuse_bufvec last = FUSE_BUFVEC_INIT(1);
	char byte;
	int rc = last_byte(c, f, end, &byte);

	if (rc)
		return rc;
	last.buf[0].mem = &byte;
	watched_descriptor_hand_over(); /* the kernel may wait for reads of these pages */
	rc = fuse_lowlevel_notify_inval_inode(c->d->se, ino, 0, 0);
	return rc ? rc
		  : fuse_lowlevel_notify_store(c->d->se, ino, (off_t)end - 1,
					       &last, 0);
}

static uint64_t shown_end(const struct call *c, fuse_ino_t ino, struct file *f)
{
	uint64_t end;

	if (file_size(f, -1, &end) || (end && show_end(c, ino, f, end)))
		return CUTS_UNKNOWN;
	return end;
}

/*
 * True: the kernel may truncate after this write, if it fails.  All kernels do so for
 * O_DIRECT, newer ones for each write without pages; such a write has a lock owner.
 */
static bool may_cut(const struct call *c, const struct fuse_file_info *fi)
{
	return !fi->writepage &&
	       (fi->flags & O_DIRECT || c->d->cache == CACHE_NONE ||
		(fi->flags & O_APPEND && fi->lock_owner));
}

/*
 * Called before the reply to a failed write, or to another request of the same thread's
 * write, which may have moved the end.
 */
static void expect_cut(const struct call *c, fuse_ino_t ino, struct file *f,
		       ssize_t n)
{
	pid_t thread = fuse_req_ctx(c->req)->pid;
	struct cut_due due = { f->handle, CUTS_UNKNOWN, c->due.until };

	if (c->due.file == f->handle)
		cuts_note(c->d->cuts, thread, &c->due);
	else if (n >= 0)
		return;
	if (n < 0)
		due.until = clock_after_ms(c->d->fs.mount->timeout_ms + 1000);
	if (n != -ETIMEDOUT) /* no time is left */
		due.end = shown_end(c, ino, f);
	cuts_note(c->d->cuts, thread, &due);
}

void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size,
	      off_t off, struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	struct iovec iov = { (void *)(uintptr_t)buf, size };
	/* a page that was mapped has a fixed position */
	struct rw rw = { .iov = &iov,
			 .niov = 1,
			 .write = true,
			 .at = true,
			 .off = off,
			 .placed = fi->writepage };
	struct call c;
	ssize_t n;

	call_begin(&c, req);
	/* F_SETFL may have changed O_APPEND since the open */
	n = fi->writepage ? 0 : file_set_append(f, fi->flags & O_APPEND);
	if (!n && newer_kills())
		n = open_kill(&c, f);
	if (!n)
		n = store(&c, f, &rw);
	if (may_cut(&c, fi))
		expect_cut(&c, ino, f, n);
	if (n < 0)
		call_end(&c, (int)n);
	else
		fuse_reply_write(req, (size_t)n);
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
	      struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	struct sync sync;
	struct call c;
	int rc;

	call_begin(&c, req);
	syncs_begin(c.d->syncs, &sync, f);
	rc = file_sync(f);
	call_end(&c, syncs_end(c.d->syncs, &sync, rc,
			       deadline_of(c.d->fs.mount->timeout_ms)));
}
