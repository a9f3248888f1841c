/* SPDX-License-Identifier: BSD-2-Clause */
/* api_mdbi.c - the multi-dimensional block interface, see pvfs_mdbi.h. */
#include <fcntl.h>
#include <stdarg.h>

#include "client/lib/api/api_int.h"
#include "client/lib/list/mdbi.h"

/* The file of an MDBI descriptor, with a reference.  NULL: none, which means -EBADF. */
static struct file *file_of(int fd)
{
	struct file *f = process_file(fd);

	if (f && !f->mdbi) {
		file_put(f);
		f = NULL;
	}
	return f;
}

int open_blk(const char *path, int flags, int mode)
{
	struct fpart all = { 0 };
	struct file *f;
	int fd, rc;

	/* with a partition, even of the whole file, ordinary files are registered, too */
	fd = pvfs_open(path, (flags & ~O_META) | O_PART, mode, &all);
	if (fd < 0)
		return -1;
	f = process_file(fd);
	rc = f ? mdbi_new(f) : -EBADF;
	if (f)
		file_put(f);
	if (!rc)
		return fd;
	pvfs_close(fd);
	return api_int(rc);
}

int set_blk(int fd, int D, int record_size, int ne1, int nb1, ...)
{
	struct mdbi_shape shape = { .dims = D, .record = record_size };
	struct file *f;
	va_list ap;
	int d, rc;

	if (D < 1 || D > PVFS_MDBI_DIMS_MAX)
		return api_int(-EINVAL);
	shape.ne[0] = ne1;
	shape.nb[0] = nb1;
	va_start(ap, nb1);
	for (d = 1; d < D; d++) {
		shape.ne[d] = va_arg(ap, int);
		shape.nb[d] = va_arg(ap, int);
	}
	va_end(ap);
	f = file_of(fd);
	if (!f)
		return api_int(-EBADF);
	rc = mdbi_set(f->mdbi, f, fd, &shape);
	file_put(f);
	return api_int(rc);
}

/* A call that has one number for each dimension. */
typedef int (*numbered)(struct mdbi *m, struct file *f, int fd, void *arg,
			const int *v);

static int numbers_call(int fd, numbered call, void *arg, int first, va_list ap)
{
	int v[PVFS_MDBI_DIMS_MAX] = { 0 }, d, dims, rc;
	struct file *f = file_of(fd);

	if (!f)
		return api_int(-EBADF);
	v[0] = first;
	dims = mdbi_dims(f->mdbi);
	for (d = 1; d < dims; d++)
		v[d] = va_arg(ap, int);
	rc = call(f->mdbi, f, fd, arg, v);
	file_put(f);
	return api_int(rc);
}

static int do_buffer(struct mdbi *m, struct file *f, int fd, void *arg,
		     const int *v)
{
	return mdbi_buffer(m, f, fd, v);
}

static int do_read(struct mdbi *m, struct file *f, int fd, void *arg,
		   const int *v)
{
	return mdbi_read(m, f, fd, arg, v);
}

static int do_write(struct mdbi *m, struct file *f, int fd, void *arg,
		    const int *v)
{
	return mdbi_write(m, f, fd, arg, v);
}

int buf_blk(int fd, int bf1, ...)
{
	va_list ap;
	int rc;

	va_start(ap, bf1);
	rc = numbers_call(fd, do_buffer, NULL, bf1, ap);
	va_end(ap);
	return rc;
}

int read_blk(int fd, char *buf, int index1, ...)
{
	va_list ap;
	int rc;

	va_start(ap, index1);
	rc = numbers_call(fd, do_read, buf, index1, ap);
	va_end(ap);
	return rc;
}

int write_blk(int fd, const char *buf, int index1, ...)
{
	va_list ap;
	int rc;

	va_start(ap, index1);
	rc = numbers_call(fd, do_write, (void *)(uintptr_t)buf, index1, ap);
	va_end(ap);
	return rc;
}

int fsync_blk(int fd)
{
	struct file *f = file_of(fd);
	int rc = f ? mdbi_flush(f->mdbi, f, fd) : -EBADF;

	if (f)
		file_put(f);
	return rc ? api_int(rc) : pvfs_fsync(fd);
}

/* Closes fd even if writing the buffered data fails: then the data is lost. */
int close_blk(int fd)
{
	struct file *f = file_of(fd);
	int rc;

	if (!f)
		return api_int(-EBADF);
	rc = mdbi_flush(f->mdbi, f, fd);
	file_put(f);
	if (pvfs_close(fd))
		return -1;
	return api_int(rc);
}
