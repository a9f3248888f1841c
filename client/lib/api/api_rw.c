/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_rw.c - read, write and lseek; private mappings; fallocate and copy_file_range;
 * pvfs_read_list() and the other list calls; counters of a file, and of transfers.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/rw/rw.h"
#include "client/lib/list/list_transfer.h"

/* Consumes the reference to f. */
static ssize_t rw_and_put(struct file *f, int fd, const struct rw *rw)
{
	ssize_t n = rw_run(f, fd, rw);

	file_put(f);
	return api_ret(n);
}

ssize_t pvfs_read(int fd, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct rw rw = { .iov = &iov, .niov = 1 };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : read(fd, buf, len);
}

ssize_t pvfs_write(int fd, const void *buf, size_t len)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw rw = { .iov = &iov, .niov = 1, .write = true };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : write(fd, buf, len);
}

ssize_t pvfs_pread(int fd, void *buf, size_t len, int64_t off)
{
	struct iovec iov = { buf, len };
	struct rw rw = { .iov = &iov, .niov = 1, .at = true, .off = off };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : pread(fd, buf, len, off);
}

ssize_t pvfs_pwrite(int fd, const void *buf, size_t len, int64_t off)
{
	struct iovec iov = { (void *)(uintptr_t)buf, len };
	struct rw rw = {
		.iov = &iov, .niov = 1, .write = true, .at = true, .off = off
	};
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : pwrite(fd, buf, len, off);
}

ssize_t pvfs_readv(int fd, const struct iovec *iov, int iovcnt)
{
	struct rw rw = { .iov = iov, .niov = iovcnt };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : readv(fd, iov, iovcnt);
}

ssize_t pvfs_writev(int fd, const struct iovec *iov, int iovcnt)
{
	struct rw rw = { .iov = iov, .niov = iovcnt, .write = true };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : writev(fd, iov, iovcnt);
}

ssize_t pvfs_preadv(int fd, const struct iovec *iov, int iovcnt, int64_t off)
{
	struct rw rw = { .iov = iov, .niov = iovcnt, .at = true, .off = off };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : preadv(fd, iov, iovcnt, off);
}

ssize_t pvfs_pwritev(int fd, const struct iovec *iov, int iovcnt, int64_t off)
{
	struct rw rw = { .iov = iov,
			 .niov = iovcnt,
			 .write = true,
			 .at = true,
			 .off = off };
	struct file *f = process_file(fd);

	return f ? rw_and_put(f, fd, &rw) : pwritev(fd, iov, iovcnt, off);
}

int64_t pvfs_lseek(int fd, int64_t off, int whence)
{
	struct file *f = process_file(fd);
	int64_t pos;

	if (!f)
		return lseek(fd, off, whence);
	pos = file_seek(f, fd, off, whence);
	file_put(f);
	return api_ret(pos);
}

int64_t pvfs_lseek64(int fd, int64_t off, int whence)
{
	return pvfs_lseek(fd, off, whence);
}

/* ---- private mappings: anonymous memory filled with the content of the file ---- */

static int mmap_check(struct file *f, size_t len, int flags, int64_t off)
{
	if (f->type != S_IFREG)
		return -ENODEV;
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (!len || off < 0 || off % sysconf(_SC_PAGESIZE))
		return -EINVAL;
	return (flags & MAP_TYPE) == MAP_PRIVATE ? 0 : -ENODEV;
}

/* Like a mapping by the kernel: offsets count bytes of the file, not of the partition. */
static void *mmap_filled(struct file *f, void *addr, size_t len, int prot,
			 int flags, int64_t off)
{
	struct iovec iov = { .iov_len = len };
	struct rw rw = {
		.iov = &iov, .niov = 1, .at = true, .off = off, .whole = true
	};
	void *mem = mmap(addr, len, PROT_READ | PROT_WRITE,
			 flags | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (mem == MAP_FAILED)
		return mem;
	iov.iov_base = mem;
	n = rw_run(f, -1, &rw);
	if (n >= 0 && prot != (PROT_READ | PROT_WRITE) &&
	    mprotect(mem, len, prot))
		n = -errno;
	if (n >= 0)
		return mem;
	munmap(mem, len);
	errno = (int)-n;
	return MAP_FAILED;
}

void *pvfs_mmap(void *addr, size_t len, int prot, int flags, int fd,
		int64_t off)
{
	struct file *f = flags & MAP_ANONYMOUS ? NULL : process_file(fd);
	void *mem;
	int rc;

	if (!f || !f->fs) {
		if (f)
			file_put(f);
		return mmap(addr, len, prot, flags, fd, off);
	}
	rc = mmap_check(f, len, flags, off);
	mem = rc ? MAP_FAILED : mmap_filled(f, addr, len, prot, flags, off);
	file_put(f);
	if (rc)
		errno = -rc;
	return mem;
}

int pvfs_munmap(void *addr, size_t len)
{
	return munmap(addr, len);
}

/* ---- fallocate ---- */

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

/* ---- list calls ---- */

/* The caller's arrays, in either width. */
struct given {
	size_t nmem, nfile;
	char *const *mem;
	char *const *parent; /* NULL: no hints */
	const int64_t *pos;
	/* of each pair, one is set */
	const int *mem32, *parent32;
	const int32_t *len32;
	const size_t *mem64, *parent64;
	const int64_t *len64;
};

static int one_memory(struct transfer_list *list, const struct given *g,
		      size_t i)
{
	/* a negative length becomes too large, and fails */
	uint64_t len = g->mem32 ? (uint64_t)(int64_t)g->mem32[i] : g->mem64[i];
	struct iovec piece = { g->mem[i], (size_t)len };
	int rc = list_add_memory(list, g->mem[i], len);

	if (rc || !g->parent)
		return rc;
	return list_add_parent(list, &piece, g->parent[i],
			       g->parent32 ? (uint64_t)(int64_t)g->parent32[i]
					   : g->parent64[i]);
}

static int list_from_arrays(struct transfer_list *list, const struct given *g,
			    uint64_t max)
{
	uint64_t sum = 0;
	size_t i;
	int rc = 0;

	for (i = 0; i < g->nmem && !rc; i++)
		rc = one_memory(list, g, i);
	for (i = 0; i < list->niov; i++)
		sum += list->iov[i].iov_len;
	for (i = 0; i < g->nfile && !rc; i++)
		rc = list_add_span(list, g->pos[i],
				   g->len32 ? (uint64_t)(int64_t)g->len32[i]
					    : (uint64_t)g->len64[i]);
	if (!rc && (sum != list->total || sum > max))
		rc = -EINVAL;
	return rc;
}

static ssize_t list_transfer(int fd, struct file *f, bool write,
			     const struct given *g, uint64_t max)
{
	struct transfer_list list;
	ssize_t n = list_init(&list, write, g->nmem, g->nfile, g->parent);

	if (n)
		return n;
	n = list_from_arrays(&list, g, max);
	if (!n)
		n = f ? list_run(f, fd, &list) : list_ordinary(NULL, fd, &list);
	list_free(&list);
	return n;
}

static ssize_t do_list(int fd, bool write, const struct given *g, uint64_t max)
{
	struct file *f = process_file(fd);
	ssize_t n = list_transfer(fd, f, write, g, max);

	if (f)
		file_put(f);
	return api_ret(n);
}

ssize_t api_list(int fd, struct file *f, const struct api_list *list)
{
	struct given g = { .nmem = list->nmem,
			   .nfile = list->nfile,
			   .mem = list->mem,
			   .mem64 = list->mem_len,
			   .parent = list->parent,
			   .parent64 = list->parent_len,
			   .pos = list->pos,
			   .len64 = list->len };

	return list_transfer(fd, f, list->write, &g, SSIZE_MAX);
}

/* parent is NULL without hints. */
static int list_narrow(int fd, bool write, int nmem, char *mem[], int mem_len[],
		       char *parent[], int parent_len[], int nfile,
		       int64_t pos[], int32_t len[])
{
	struct given g = { .mem = mem,
			   .mem32 = mem_len,
			   .parent = parent,
			   .parent32 = parent_len,
			   .pos = pos,
			   .len32 = len };

	if (nmem < 0 || nfile < 0)
		return api_int(-EINVAL);
	g.nmem = (size_t)nmem;
	g.nfile = (size_t)nfile;
	return (int)do_list(fd, write, &g, INT_MAX);
}

static ssize_t list_wide(int fd, const struct api_list *list)
{
	struct file *f = process_file(fd);
	ssize_t n = api_list(fd, f, list);

	if (f)
		file_put(f);
	return api_ret(n);
}

int pvfs_read_list(int fd, int mem_count, char *mem_offsets[],
		   int mem_lengths[], int file_count, int64_t file_offsets[],
		   int32_t file_lengths[])
{
	return list_narrow(fd, false, mem_count, mem_offsets, mem_lengths, NULL,
			   NULL, file_count, file_offsets, file_lengths);
}

int pvfs_write_list(int fd, int mem_count, char *mem_offsets[],
		    int mem_lengths[], int file_count, int64_t file_offsets[],
		    int32_t file_lengths[])
{
	return list_narrow(fd, true, mem_count, mem_offsets, mem_lengths, NULL,
			   NULL, file_count, file_offsets, file_lengths);
}

int pvfs_read_list_hints(int fd, int mem_count, char *mem_offsets[],
			 int mem_lengths[], char *allocation_offsets[],
			 int allocation_lengths[], int file_count,
			 int64_t file_offsets[], int32_t file_lengths[])
{
	return list_narrow(fd, false, mem_count, mem_offsets, mem_lengths,
			   allocation_offsets, allocation_lengths, file_count,
			   file_offsets, file_lengths);
}

int pvfs_write_list_hints(int fd, int mem_count, char *mem_offsets[],
			  int mem_lengths[], char *allocation_offsets[],
			  int allocation_lengths[], int file_count,
			  int64_t file_offsets[], int32_t file_lengths[])
{
	return list_narrow(fd, true, mem_count, mem_offsets, mem_lengths,
			   allocation_offsets, allocation_lengths, file_count,
			   file_offsets, file_lengths);
}

ssize_t pvfs_read_list64(int fd, size_t mem_count, char *const mem_offsets[],
			 const size_t mem_lengths[],
			 char *const allocation_offsets[],
			 const size_t allocation_lengths[], size_t file_count,
			 const int64_t file_offsets[],
			 const int64_t file_lengths[])
{
	const struct api_list list = { false,
				       mem_count,
				       file_count,
				       mem_offsets,
				       mem_lengths,
				       allocation_offsets,
				       allocation_lengths,
				       file_offsets,
				       file_lengths };

	return list_wide(fd, &list);
}

ssize_t pvfs_write_list64(int fd, size_t mem_count, char *const mem_offsets[],
			  const size_t mem_lengths[],
			  char *const allocation_offsets[],
			  const size_t allocation_lengths[], size_t file_count,
			  const int64_t file_offsets[],
			  const int64_t file_lengths[])
{
	const struct api_list list = { true,
				       mem_count,
				       file_count,
				       mem_offsets,
				       mem_lengths,
				       allocation_offsets,
				       allocation_lengths,
				       file_offsets,
				       file_lengths };

	return list_wide(fd, &list);
}

/* ---- counters ---- */

static int counter_run(int fd, unsigned int counter, bool set, int64_t value,
		       int64_t *old)
{
	struct file *f = api_file(fd);
	uint64_t begun;
	int rc;

	if (!f)
		return api_int(fcntl(fd, F_GETFD) < 0 ? -EBADF : -ENOTTY);
	begun = profile_start();
	rc = api_counted(PROFILE_META, f->profile, begun,
			 rw_counter(f, counter, set, value, old));
	file_put(f);
	return api_int(rc);
}

int pvfs_fetch_add(int fd, unsigned int counter, int64_t add, int64_t *old)
{
	return counter_run(fd, counter, false, add, old);
}

int pvfs_counter_set(int fd, unsigned int counter, int64_t value, int64_t *old)
{
	return counter_run(fd, counter, true, value, old);
}

/* Gets the session of fd's file system, with a reference.  -EFAULT: out is NULL; -ENOTTY. */
static int session_of(int fd, const void *out, struct session **s)
{
	struct file *f = process_file(fd);
	int rc = out ? -ENOTTY : -EFAULT;

	if (out && f && f->fs)
		rc = fs_session(f->fs, s);
	if (f)
		file_put(f);
	return rc;
}

int pvfs_list_counters(int fd, struct pvfs_list_counters *counters)
{
	struct session *s;
	int rc = session_of(fd, counters, &s);

	if (rc)
		return api_int(rc);
	*counters = (struct pvfs_list_counters){
		.requests = atomic_load(&s->count.requests),
		.packed = atomic_load(&s->count.packed),
		.placed = atomic_load(&s->count.placed),
		.registrations = atomic_load(&s->count.registrations),
	};
	session_put(s);
	return 0;
}

int pvfs_way_counters(int fd, struct pvfs_way_counters *counters)
{
	struct rpc_payload_counts ways;
	struct session *s;
	int rc = session_of(fd, counters, &s);

	if (rc)
		return api_int(rc);
	rpc_ctx_payload_counts(s->drive.ctx, &ways);
	*counters = (struct pvfs_way_counters){
		.in_message = ways.inlined,
		.fast_rdma = ways.fast,
		.by_server = ways.direct,
		.unanswered = ways.whole,
		.without = atomic_load(&s->count.borrowed),
	};
	session_put(s);
	return 0;
}
