/* SPDX-License-Identifier: BSD-2-Clause */
/* rw_ordinary.c - an ordinary file seen through a partition. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/rw/rw.h"

/* The position of the next byte in memory. */
struct place {
	const struct iovec *iov;
	size_t in;
};

static ssize_t ordinary_once(int fd, bool write, struct place *p, uint64_t off,
			     uint64_t max)
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
static ssize_t ordinary_piece(int fd, bool write, struct place *p, uint64_t off,
			      uint64_t len)
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

static ssize_t ordinary_pieces(const struct view *view, int fd,
			       const struct rw *rw, uint64_t pos,
			       uint64_t total)
{
	struct place place = { rw->iov, 0 };
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

ssize_t rw_ordinary(struct file *f, int fd, const struct rw *rw, uint64_t pos,
		    uint64_t total)
{
	struct view view;
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
