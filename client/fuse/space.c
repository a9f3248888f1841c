/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * space.c - the space of open files: fallocate, positions of data and holes, copies of
 * ranges.
 */
#include "client/fuse/open.h"
#include "client/fuse/ops.h"
#include "client/lib/rw/rw.h"

void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off,
		  off_t len, struct fuse_file_info *fi)
{
	struct file *f = open_file(fi->fh);
	struct call c;
	int rc = 0;

	call_begin(&c, req);
	if (call_kills_setid(&c))
		rc = open_kill_setid(&c, f);
	call_end(&c, rc ? rc : rw_allocate(f, mode, off, len));
}

/* Called only for SEEK_DATA and SEEK_HOLE: the kernel keeps the offset itself. */
void op_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence,
	      struct fuse_file_info *fi)
{
	struct call c;
	int64_t at;

	call_begin(&c, req);
	at = file_seek(open_file(fi->fh), -1, off, whence);
	if (at < 0)
		call_end(&c, (int)at);
	else
		fuse_reply_lseek(req, at);
}

/*
 * Before this request, the kernel has written the pages of both files; after it, the kernel
 * drops those of out.  If out has O_APPEND, the kernel rejects the call and sends no request.
 * F_SETFL may have cleared O_APPEND since the open.
 */
void op_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
			struct fuse_file_info *fi_in, fuse_ino_t ino_out,
			off_t off_out, struct fuse_file_info *fi_out,
			size_t len, int flags)
{
	struct rw_copy copy = { .in = open_file(fi_in->fh),
				.out = open_file(fi_out->fh),
				.at_in = true,
				.at_out = true,
				.off_in = off_in,
				.off_out = off_out,
				.len = len };
	struct call c;
	ssize_t n;

	call_begin(&c, req);
	n = flags ? -EINVAL : file_set_append(copy.out, false);
	if (!n && call_kills_setid(&c))
		n = open_kill_setid(&c, copy.out);
	if (!n)
		n = rw_copy(&copy);
	if (n < 0)
		call_end(&c, (int)n);
	else
		fuse_reply_write(req, (size_t)n);
}
