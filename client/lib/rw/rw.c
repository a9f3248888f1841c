/* SPDX-License-Identifier: BSD-2-Clause */
/* rw.c - reads, writes and counters of an open file. */
#include "client/lib/rw/rw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/file/handover.h"
#include "client/lib/file/unsynced.h"
#include "client/lib/names/file_counter.h"
#include "client/lib/session/coroutine.h"

/* ---- an ordinary file seen through a partition ---- */

/* The position of the next byte in memory. */
struct memory_pos {
	const struct iovec *iov;
	size_t in;
};

static ssize_t ordinary_once(int fd, bool write, struct memory_pos *p,
			     uint64_t off, uint64_t max)
{
	char *mem;
	size_t len;
	ssize_t n;

	while (p->in == p->iov->iov_len) {
		p->iov++;
		p->in = 0;
	}
	mem = (char *)p->iov->iov_base + p->in;
	len = p->iov->iov_len - p->in;
	if (len > max)
		len = (size_t)max;
	n = write ? pwrite(fd, mem, len, (off_t)off)
		  : pread(fd, mem, len, (off_t)off);
	if (n < 0)
		return -errno;
	p->in += (size_t)n;
	return n;
}

/* Transfers one contiguous piece.  The result is below len only at the end of the file. */
static ssize_t ordinary_piece(int fd, bool write, struct memory_pos *p,
			      uint64_t off, uint64_t len)
{
	uint64_t done = 0;
	ssize_t n;

	while (done < len) {
		n = ordinary_once(fd, write, p, off + done, len - done);
		if (n < 0 && !done)
			return n;
		if (n <= 0)
			break;
		done += (uint64_t)n;
	}
	return (ssize_t)done;
}

static ssize_t ordinary_pieces(const struct file_view *view, int fd,
			       const struct rw *rw, uint64_t pos,
			       uint64_t total)
{
	struct memory_pos place = { rw->iov, 0 };
	uint64_t off, len, done = 0;
	struct view_iter it;
	ssize_t n;

	view_iter_init(&it, view, pos, total);
	while (view_iter_next(&it, &off, &len)) {
		n = ordinary_piece(fd, rw->write, &place, off, len);
		if (n < 0)
			return done ? (ssize_t)done : n;
		done += (uint64_t)n;
		if ((uint64_t)n < len)
			break;
	}
	return (ssize_t)done;
}

/* The offset afterwards.  pwrite() also appends with O_APPEND. */
static uint64_t offset_after(const struct file *f, int fd, const struct rw *rw,
			     uint64_t pos)
{
	struct stat st;

	if (!rw->write || !(atomic_load(&f->flags) & O_APPEND) ||
	    fstat(fd, &st))
		return pos;
	return (uint64_t)st.st_size;
}

static ssize_t rw_ordinary(struct file *f, int fd, const struct rw *rw,
			   uint64_t pos, uint64_t total)
{
	struct file_view view;
	uint64_t end;
	ssize_t n;

	pthread_mutex_lock(&f->lock);
	view = f->view;
	pthread_mutex_unlock(&f->lock);
	if (!view_end(&view, pos, total, &end))
		return rw->write ? -EFBIG : -EOVERFLOW;
	n = ordinary_pieces(&view, fd, rw, pos, total);
	if (n > 0 && !rw->at)
		f->pos = offset_after(f, fd, rw, pos + (uint64_t)n);
	return n;
}

/* ---- files on PVFS ---- */

struct file_transfer {
	struct file *f;
	struct io_plan plan;
	struct plan_span span;
	/* a copy, because SETPART may change it concurrently */
	struct file_view view;
	uint32_t flags; /* WIRE_IO_* */
	uint64_t least; /* file size known at the open */
	uint64_t n;
	uint64_t end; /* offset after a write */
	/* the session that reserved the place of an append; 0: none */
	uint64_t placed;
	/* the write started at its place, and may be done in part */
	bool begun;
};

static void view_of(struct file *f, bool whole, struct file_view *view)
{
	*view = (struct file_view){ 0 };
	if (whole || !atomic_load(&f->parted))
		return;
	pthread_mutex_lock(&f->lock);
	*view = f->view;
	pthread_mutex_unlock(&f->lock);
}

static void transfer_prepare(struct file_transfer *x, struct file *f,
			     const struct rw *rw, uint64_t pos, uint64_t total)
{
	int flags = atomic_load(&f->flags);

	x->f = f;
	x->span = (struct plan_span){ pos, total };
	x->flags = flags & O_DSYNC ? WIRE_IO_SYNC : 0;
	x->begun = false;
	x->placed = 0;
	x->least = f->least;
	view_of(f, rw->whole, &x->view);
	x->plan = (struct io_plan){
		.dist = &f->dist,
		.view = &x->view,
		.span = &x->span,
		.nspan = 1,
		.iov = rw->iov,
		.niov = (unsigned int)rw->niov,
		.loans = &f->loans,
	};
}

static int do_read(struct session *s, const struct target *t, void *arg)
{
	struct file_transfer *x = arg;
	struct attr attr;
	bool doubt;
	int rc = io_read(s, t->handle, &x->plan, x->least, &x->n, &doubt);

	/* the objects of a file that a writer has open stay */
	if (!rc && doubt && !t->open)
		rc = mgr_getattr(s, t, &attr);
	return rc;
}

static int do_write(struct session *s, const struct target *t, void *arg)
{
	struct file_transfer *x = arg;
	int rc;

	if (!view_end(&x->view, x->span.pos, x->span.len, &x->end))
		return -EFBIG;
	rc = io_write(s, t->handle, &x->plan, x->flags);
	x->begun = !session_is_over(rc);
	return rc;
}

/*
 * The range of an append is reserved for one session.  After a change of the session, a new
 * range must be reserved, because the old one may now belong to another client.  In the same
 * session the range is reused, because a second one would leave a hole.
 */
static int do_append(struct session *s, const struct target *t, void *arg)
{
	struct file_transfer *x = arg;
	int rc = 0;

	if (x->placed != s->id)
		rc = mgr_append(s, t, x->span.len, &x->span.pos);
	if (rc)
		return rc;
	x->placed = s->id;
	return do_write(s, t, x);
}

static ssize_t read_file(struct file_transfer *x, uint64_t pos, bool at)
{
	uint64_t end;
	int rc;

	if (!view_end(&x->view, pos, x->span.len, &end))
		return -EOVERFLOW;
	rc = file_run(x->f, do_read, x);
	if (rc)
		return rc;
	if (!at)
		x->f->pos = pos + x->n;
	return (ssize_t)x->n;
}

/*
 * Records the written range.  For an append, records everything from the beginning of the file:
 * the bytes below it belong to other writers, and are no gap (filled.h).
 */
static void transfer_record_write(struct file_transfer *x, bool append, int rc,
				  unsigned int since)
{
	uint64_t from = 0;

	if (!append)
		view_map(&x->view, x->span.pos, &from);
	file_record_write(x->f, from, x->end, rc, since);
	if (x->view.gsize)
		file_doubt_space(x->f);
}

static ssize_t write_file(struct file_transfer *x, target_op op,
			  const struct rw *rw)
{
	unsigned int since = unsynced_since(x->f, x->flags);
	int rc = file_run(x->f, op, x);

	if (x->begun)
		transfer_record_write(x, op == do_append, rc, since);
	if (x->begun && rw->begun)
		*rw->begun = (int64_t)x->span.pos;
	if (rc)
		return rc;
	if (!rw->at)
		x->f->pos = x->span.pos + x->span.len;
	return (ssize_t)x->span.len;
}

static ssize_t rw_file(struct file *f, const struct rw *rw, uint64_t pos,
		       uint64_t total)
{
	bool append = atomic_load(&f->flags) & O_APPEND && !rw->placed;
	struct file_transfer x;

	transfer_prepare(&x, f, rw, pos, total);
	if (!rw->write)
		return read_file(&x, pos, rw->at);
	return write_file(&x, append ? do_append : do_write, rw);
}

/* ---- all files ---- */

static bool access_is_allowed(const struct file *f, bool write)
{
	int mode = atomic_load(&f->flags) & O_ACCMODE;

	return mode == O_RDWR || mode == (write ? O_WRONLY : O_RDONLY);
}

static int iov_total(const struct rw *rw, uint64_t *total)
{
	uint64_t n = 0;
	int i;

	if (rw->niov < 0 || rw->niov > IOV_MAX)
		return -EINVAL;
	for (i = 0; i < rw->niov; i++) {
		if (rw->iov[i].iov_len > SSIZE_MAX - n)
			return -EINVAL;
		n += rw->iov[i].iov_len;
	}
	*total = n;
	return 0;
}

static int rw_check(const struct file *f, const struct rw *rw, uint64_t *total)
{
	int rc;

	if (!access_is_allowed(f, rw->write))
		return -EBADF;
	if (rw->at && rw->off < 0)
		return -EINVAL;
	rc = iov_total(rw, total);
	if (!rc && f->type == S_IFDIR && (*total || rw->niov == 1))
		rc = -EISDIR;
	return rc;
}

/* *at: the offset used, unless the data is appended. */
static ssize_t rw_run_uncounted(struct file *f, int fd, const struct rw *rw,
				uint64_t *at)
{
	uint64_t total;
	ssize_t n = rw_check(f, rw, &total);

	if (n)
		return n;
	if (!rw->at) {
		file_lock_pos(f);
		deadline_since(f->pos_at);
	}
	*at = rw->at ? (uint64_t)rw->off : f->pos;
	if (total)
		n = f->fs ? rw_file(f, rw, *at, total)
			  : rw_ordinary(f, fd, rw, *at, total);
	if (!rw->at) {
		if (n >= 0)
			f->pos_at = clock_now();
		handover_update_pos(f);
		pthread_mutex_unlock(&f->pos_lock);
	}
	return n;
}

/* ---- counting in the profile ---- */

/* A function of its own, so that calls that are not counted need no stack for it. */
__attribute__((noinline, cold)) static ssize_t
run_counted(struct file *f, int fd, const struct rw *rw)
{
	struct profile_call call = {
		.kind = rw->write ? PROFILE_WRITE : PROFILE_READ,
		.file = f->profile,
		.begun = clock_now(),
		.aside = coroutine_self() != NULL,
		.ssize = file_is_unpartitioned(f) ? f->dist.ssize : 0,
	};
	struct rw mine = *rw;
	int64_t begun = -1;

	if (rw->write && !rw->begun)
		mine.begun = &begun;
	call.result = rw_run_uncounted(f, fd, &mine, &call.off);
	if (rw->write && *mine.begun >= 0)
		call.off = (uint64_t)*mine.begun;
	profile_count(&call);
	return (ssize_t)call.result;
}

ssize_t rw_run(struct file *f, int fd, const struct rw *rw)
{
	uint64_t at;

	return profile_on() && f->fs ? run_counted(f, fd, rw)
				     : rw_run_uncounted(f, fd, rw, &at);
}

/* ---- counters ---- */

static int counter_check(const struct file *f, const struct counter_ask *a)
{
	bool changes = a->set || a->value;

	if (!f->fs)
		return -ENOTTY;
	if (f->type != S_IFREG || a->number >= WIRE_COUNTERS)
		return -EINVAL;
	if (changes && (atomic_load(&f->flags) & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	return 0;
}

int rw_counter(struct file *f, unsigned int number, bool set, int64_t value,
	       int64_t *old)
{
	struct counter_ask a = { .dist = &f->dist,
				 .words = &f->words,
				 .number = number,
				 .set = set,
				 .value = value };
	int rc = counter_check(f, &a);

	if (rc)
		return rc;
	rc = file_run(f, counter_ask, &a);
	if (set || value)
		file_record_counter(f);
	/* an iod of an earlier release */
	if (rc)
		return rc == -ENOSYS ? -EOPNOTSUPP : rc;
	if (old)
		*old = a.old;
	return 0;
}
