/* SPDX-License-Identifier: BSD-2-Clause */
/* libfuse_compat.c - see libfuse_compat.h; the kernel's structures are those of <linux/fuse.h>. */
#include "client/fuse/libfuse_compat.h"

#include <errno.h>
#include <linux/fuse.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ALLOW_MMAP (1u << 4) /* FUSE_DIRECT_IO_ALLOW_MMAP, in flags2 */

/* ---- INIT ---- */

struct init_request {
	struct fuse_in_header hdr;
	struct fuse_init_in body;
};

static void record_init(struct fuse_daemon *d, const struct init_request *init,
			size_t len)
{
	if (len < sizeof(*init) || init->hdr.opcode != FUSE_INIT)
		return;
	d->kernel.init = init->hdr.unique;
	d->kernel.kills_setid = init->body.flags & FUSE_HANDLE_KILLPRIV_V2;
	d->kernel.direct_mmap = init->body.flags & FUSE_INIT_EXT &&
				init->body.flags2 & ALLOW_MMAP;
}

/* ---- writes ---- */

static _Thread_local bool write_kills_setid;

struct write_request {
	struct fuse_in_header hdr;
	struct fuse_write_in body;
};

/* The thread that reads a write also serves it. */
static void record_write(const struct write_request *w, size_t len)
{
	write_kills_setid = len >= sizeof(*w) && w->hdr.opcode == FUSE_WRITE &&
			    w->body.write_flags & FUSE_WRITE_KILL_SUIDGID;
}

bool libfuse_compat_write_kills_setid(void)
{
	return write_kills_setid;
}

/* ---- requests and replies ---- */

static ssize_t read_request(int fd, void *buf, size_t len, void *arg)
{
	struct fuse_daemon *d = arg;
	ssize_t n = read(fd, buf, len);

	if (n > 0 && !d->kernel.init)
		record_init(d, buf, (size_t)n);
	if (n > 0)
		record_write(buf, (size_t)n);
	return n;
}

/* Sends a copy with the flags that libfuse left out. */
static ssize_t reply_init(const struct kernel_features *kernel, int fd,
			  const struct iovec *iov)
{
	struct fuse_init_out out;
	struct iovec with[2] = { iov[0], { &out, sizeof(out) } };

	memcpy(&out, iov[1].iov_base, sizeof(out));
	if (kernel->direct_mmap) {
		out.flags |= FUSE_INIT_EXT;
		out.flags2 |= ALLOW_MMAP;
	}
	if (kernel->kills_setid)
		out.flags |= FUSE_HANDLE_KILLPRIV_V2;
	return writev(fd, with, 2);
}

static ssize_t write_reply(int fd, struct iovec *iov, int n, void *arg)
{
	const struct fuse_daemon *d = arg;
	const struct fuse_out_header *hdr = iov[0].iov_base;

	if (hdr->unique == d->kernel.init && !hdr->error && n == 2 &&
	    iov[1].iov_len == sizeof(struct fuse_init_out))
		return reply_init(&d->kernel, fd, iov);
	return writev(fd, iov, n);
}

int libfuse_compat_watch(struct fuse_daemon *d)
{
	static const struct fuse_custom_io io = { .read = read_request,
						  .writev = write_reply };

	return fuse_session_custom_io(d->se, &io, fuse_session_fd(d->se));
}

/* ---- opens ---- */

static struct fuse_open_out make_open_out(const struct fuse_file_info *fi)
{
	struct fuse_open_out out = { .fh = fi->fh };

	if (fi->direct_io)
		out.open_flags |= FOPEN_DIRECT_IO |
				  FOPEN_PARALLEL_DIRECT_WRITES;
	if (fi->keep_cache)
		out.open_flags |= FOPEN_KEEP_CACHE;
	return out;
}

int libfuse_compat_reply_open(const struct call *c,
			      const struct fuse_file_info *fi)
{
	struct fuse_open_out out = make_open_out(fi);

	return fuse_reply_buf(c->req, (const char *)&out, sizeof(out));
}

static struct fuse_attr make_attr_out(const struct stat *st)
{
	return (struct fuse_attr){
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.blocks = (uint64_t)st->st_blocks,
		.atime = (uint64_t)st->st_atim.tv_sec,
		.mtime = (uint64_t)st->st_mtim.tv_sec,
		.ctime = (uint64_t)st->st_ctim.tv_sec,
		.atimensec = (uint32_t)st->st_atim.tv_nsec,
		.mtimensec = (uint32_t)st->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)st->st_ctim.tv_nsec,
		.mode = st->st_mode,
		.nlink = (uint32_t)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.rdev = (uint32_t)st->st_rdev,
		.blksize = (uint32_t)st->st_blksize,
	};
}

static void split_seconds(double s, uint64_t *whole, uint32_t *ns)
{
	*whole = (uint64_t)s;
	*ns = (uint32_t)((s - (double)*whole) * 1e9);
}

int libfuse_compat_reply_create(const struct call *c,
				const struct fuse_entry_param *e,
				const struct fuse_file_info *fi)
{
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = { .entry = { .nodeid = e->ino,
			     .generation = e->generation,
			     .attr = make_attr_out(&e->attr) },
		  .open = make_open_out(fi) };

	split_seconds(e->entry_timeout, &out.entry.entry_valid,
		      &out.entry.entry_valid_nsec);
	split_seconds(e->attr_timeout, &out.entry.attr_valid,
		      &out.entry.attr_valid_nsec);
	return fuse_reply_buf(c->req, (const char *)&out, sizeof(out));
}
