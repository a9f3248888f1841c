/* SPDX-License-Identifier: BSD-2-Clause */
/* api_space.c - fallocate and copy_file_range. */
#include <fcntl.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/rw/rw.h"

int pvfs_fallocate(int fd, int mode, int64_t off, int64_t len)
{
	struct file *f = api_file(fd);
	uint64_t begun;
	int rc;

	if (!f)
		return fallocate(fd, mode, off, len);
	begun = profile_start();
	rc = api_counted(PROFILE_META, f->profile, begun,
			 rw_allocate(f, mode, off, len));
	file_put(f);
	return api_int(rc);
}

/* ---- copy_file_range ---- */

struct side {
	int fd;
	struct file *f; /* NULL: an ordinary file without a partition */
	int64_t *at; /* the caller's, or NULL */
};

static ssize_t copy_files(const struct side *in, const struct side *out,
			  size_t len)
{
	struct rw_copy c = { .in = in->f,
			     .out = out->f,
			     .at_in = in->at,
			     .at_out = out->at,
			     .off_in = in->at ? *in->at : 0,
			     .off_out = out->at ? *out->at : 0,
			     .len = len };
	uint64_t begun = profile_start();
	ssize_t n = rw_copy(&c);

	api_counted(PROFILE_META, out->f->profile, begun, n < 0 ? (int)n : 0);
	if (n > 0 && in->at)
		*in->at += n;
	if (n > 0 && out->at)
		*out->at += n;
	return n;
}

/* The kernel knows no partitions: with one, the call fails with EINVAL. */
static ssize_t copy_ordinary(const struct side *in, const struct side *out,
			     size_t len)
{
	ssize_t n = -EINVAL;

	if (!in->f && !out->f)
		n = copy_file_range(in->fd, in->at, out->fd, out->at, len, 0);
	return n == -1 ? -errno : n;
}

static ssize_t copy_sides(const struct side *in, const struct side *out,
			  size_t len)
{
	bool from = in->f && in->f->fs, to = out->f && out->f->fs;

	if (from && to)
		return copy_files(in, out, len);
	if (!from && !to)
		return copy_ordinary(in, out, len);
	return fcntl(from ? out->fd : in->fd, F_GETFD) < 0 ? -EBADF : -EXDEV;
}

ssize_t pvfs_copy_file_range(int fd_in, int64_t *off_in, int fd_out,
			     int64_t *off_out, size_t len, unsigned int flags)
{
	struct side in = { fd_in, process_file(fd_in), off_in };
	struct side out = { fd_out, process_file(fd_out), off_out };
	ssize_t n = flags ? -EINVAL : copy_sides(&in, &out, len);

	if (in.f)
		file_put(in.f);
	if (out.f)
		file_put(out.f);
	return api_ret(n);
}
