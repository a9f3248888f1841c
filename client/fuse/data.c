/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.c - reading, writing and flushing of open files.  A transfer takes these steps:
 *
 *   op_read(), op_write()   the kernel's request; overlapping reads of pages wait
 *   run_transfer()          hands the listening over before a long transfer
 *   rw_run()                lib/rw: the position in the file and the plan, in a session (file_run())
 *   io_read(), io_write()   lib/io/io.c: a request for each iod
 *   op_run()                lib/session/drive.c: drives the progress loop until all have answered
 *   rpc_call_start()        common/comm/call/call.c: sends one request
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "client/fuse/bypass_page.h"
#include "client/fuse/cache/inflight_io.h"
#include "client/fuse/fsync_errors.h"
#include "client/fuse/libfuse_compat.h"
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/fuse/threads/listener.h"
#include "client/fuse/threads/poll_policy.h"
#include "client/lib/rw/rw.h"
#include "common/util/watched_descriptor.h"

/*
 * A buffer for the transfers of one thread.  It keeps the size of the largest transfer
 * so far, at most the kernel's max_read.
 */
struct transfer_buffer {
	size_t len;
	void *mem;
};

static void buffer_free(void *arg)
{
	struct transfer_buffer *s = arg;

	free(s->mem);
	free(s);
}

static pthread_key_t buffer_key;

int data_init(void)
{
	return -pthread_key_create(&buffer_key, buffer_free);
}

static struct transfer_buffer *buffer_of_thread(void)
{
	struct transfer_buffer *s = pthread_getspecific(buffer_key);

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s && pthread_setspecific(buffer_key, s)) {
		free(s);
		s = NULL;
	}
	return s;
}

static void *buffer_get(size_t len)
{
	struct transfer_buffer *s = buffer_of_thread();
	void *mem;

	if (!s || s->len >= len)
		return s ? s->mem : NULL;
	if (posix_memalign(&mem, 4096, len))
		return NULL;
	free(s->mem);
	*s = (struct transfer_buffer){ len, mem };
	return mem;
}

static ssize_t run_transfer(struct file *f, const struct rw *rw)
{
	if (rw->iov->iov_len >= POLL_POLICY_LONG)
		listener_hand_over();
	return rw_run(f, -1, rw);
}

static struct io_range transfer_range(const struct file *f, const struct rw *rw)
{
	return (struct io_range){ .file = f->handle,
				  .from = (uint64_t)rw->off,
				  .to = (uint64_t)rw->off + rw->iov->iov_len };
}

/* Reads pages for the kernel's cache. */
static ssize_t read_pages(const struct call *c, struct file *f,
			  const struct rw *rw)
{
	struct io_range pages = transfer_range(f, rw);
	uint64_t until = deadline_of(c->d->fs.mount->timeout_ms);
	ssize_t n;

	do {
		n = inflight_io_read_start(c->d->inflight_io, &pages, until);
		if (n)
			return n;
		n = run_transfer(f, rw);
	} while (!inflight_io_read_end(c->d->inflight_io, &pages) && n >= 0);
	return n;
}

/*
 * Returns the range that a write may change.  An append may change any byte after the
 * kernel's position, because other clients may have extended the file.
 */
static struct io_range write_range(const struct file *f, const struct rw *rw)
{
	struct io_range bytes = transfer_range(f, rw);

	if (atomic_load(&f->flags) & O_APPEND && !rw->placed)
		bytes.to = UINT64_MAX;
	return bytes;
}

static ssize_t write_bytes(const struct call *c, struct file *f,
			   const struct rw *rw)
{
	struct io_range bytes = write_range(f, rw);
	ssize_t n;

	inflight_io_write_start(c->d->inflight_io, &bytes);
	n = run_transfer(f, rw);
	inflight_io_write_end(c->d->inflight_io, &bytes);
	return n;
}

/* The manager gets this time at the close. */
static void note_read(const struct call *c, struct file *f, ssize_t n,
		      const struct fuse_file_info *fi)
{
	if (n >= 0 && atomic_load(&c->d->atime) && !(fi->flags & O_NOATIME))
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
		bypass_page_forbid(c.d->bypass_page, f->handle);
		if (call_repeats_timeout(&c, ino))
			return;
	}
	iov.iov_base = buffer_get(size);
	if (!iov.iov_base)
		n = -ENOMEM;
	else
		n = fi->lock_owner ? run_transfer(f, &rw)
				   : read_pages(&c, f, &rw);
	note_read(&c, f, n, fi);
	if (n < 0)
		call_end(&c, (int)n);
	else
		fuse_reply_buf(req, iov.iov_base, (size_t)n);
}

/* ---- the kernel's own truncation after a failed write: thread_hints.h ---- */

/*
 * Whether no program can see the byte that set_kernel_end() stores.  The kernel takes a page
 * with one stored byte as valid only if it is the page's first byte; otherwise it reads the
 * page before use.
 */
static bool is_byte_hidden(const struct call *c, const struct file *f,
			   uint64_t end)
{
	struct bypass_page *m = c->d->bypass_page;

	return end % 4096 != 1 &&
	       !(m && bypass_page_is_forbidden(m, f->handle));
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
		return is_byte_hidden(c, f, end) ? 0 : -EACCES;
	return rw_run(f, -1, &rw) == 1 ? 0 : -EIO;
}

/*
 * Sets the kernel's end of file, by storing the file's last byte in the kernel's cache: the
 * kernel then extends the file to this byte.  The cached pages are dropped first, because
 * the page with the previous end has zeros after that end.
 */
static int set_kernel_end(const struct call *c, fuse_ino_t ino, struct file *f,
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

static uint64_t update_kernel_end(const struct call *c, fuse_ino_t ino,
				  struct file *f)
{
	uint64_t end;

	if (file_size(f, -1, &end) || (end && set_kernel_end(c, ino, f, end)))
		return KERNEL_TRUNCATE_UNKNOWN;
	return end;
}

/*
 * Whether the kernel may truncate the file after this write if it fails.  All kernels do so
 * for O_DIRECT, newer kernels for each write that bypasses the page cache.  Such a write has
 * a lock owner.
 */
static bool may_truncate(const struct call *c, const struct fuse_file_info *fi)
{
	return !fi->writepage &&
	       (fi->flags & O_DIRECT || c->d->cache == CACHE_NONE ||
		(fi->flags & O_APPEND && fi->lock_owner));
}

/*
 * Called before the reply to a failed write.  Also called before the reply to another request
 * of the same write of this thread, because that request may have extended the file.
 */
static void expect_truncate(const struct call *c, fuse_ino_t ino,
			    struct file *f, ssize_t n)
{
	pid_t thread = fuse_req_ctx(c->req)->pid;
	struct kernel_truncate due = { f->handle, KERNEL_TRUNCATE_UNKNOWN,
				       c->hint.truncate.until };

	if (c->hint.truncate.file == f->handle)
		thread_hints_expect_truncate(c->d->thread_hints, thread,
					     &c->hint.truncate);
	else if (n >= 0)
		return;
	if (n < 0)
		due.until = clock_after_ms(c->d->fs.mount->timeout_ms + 1000);
	if (n != -ETIMEDOUT) /* no time is left */
		due.end = update_kernel_end(c, ino, f);
	thread_hints_expect_truncate(c->d->thread_hints, thread, &due);
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
	if (!n && libfuse_compat_write_kills_setid())
		n = open_kill_setid(&c, f);
	if (!n)
		n = write_bytes(&c, f, &rw);
	if (may_truncate(&c, fi))
		expect_truncate(&c, ino, f, n);
	if (n < 0)
		call_end(&c, (int)n);
	else
		fuse_reply_write(req, (size_t)n);
}

void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync,
	      struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	struct fsync sync;
	struct call c;
	int rc;

	call_begin(&c, req);
	fsync_errors_begin(c.d->fsync_errors, &sync, f);
	rc = file_sync(f);
	call_end(&c, fsync_errors_end(c.d->fsync_errors, &sync, rc,
				      deadline_of(c.d->fs.mount->timeout_ms)));
}
