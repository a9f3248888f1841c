/* SPDX-License-Identifier: BSD-2-Clause */
/* bypass_io.c - see bypass_io.h. */
#include "client/preload/bypass/bypass_io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client/lib/rw/rw.h"
#include "client/lib/session/coroutine.h"
#include "client/preload/next.h"
#include "client/preload/own_call.h"
#include "common/util/usermem.h"

#define MAX_BYTES 0x7ffff000u /* of one call, as in the kernel */
#define USE_KERNEL INT64_MIN /* result: make the call through the kernel */

/* Whether the kernel returns EFAULT for this piece, whatever memory is mapped. */
static bool kernel_rejects(const struct iovec *v)
{
	return (uintptr_t)v->iov_base > INTPTR_MAX - v->iov_len;
}

static bool sum_bytes(struct bypass_io *io)
{
	int i;

	io->n = 0;
	if (io->niov < 1 || io->niov > IOV_MAX)
		return false;
	for (i = 0; i < io->niov; i++) {
		if (io->iov[i].iov_len > MAX_BYTES - io->n ||
		    kernel_rejects(&io->iov[i]))
			return false;
		io->n += io->iov[i].iov_len;
	}
	return io->n;
}

/*
 * Prevents signal handlers and nested calls from entering again.  A pending cancellation
 * takes effect first, while nothing is held.
 */
static void enter_call(struct bypass_io *io)
{
	pthread_testcancel();
	io->saved_errno = errno;
	own_call_enter();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &io->cancel_state);
}

static void leave_call(struct bypass_io *io)
{
	pthread_setcancelstate(io->cancel_state, NULL);
	errno = io->saved_errno;
	own_call_leave();
}

bool bypass_io_begin(struct bypass_io *io, int fd, bool write,
		     const struct iovec *iov, int niov)
{
	if (own_call_active())
		return false;
	io->iov = iov;
	io->niov = niov;
	io->write = write;
	if (!sum_bytes(io))
		return false;
	enter_call(io);
	io->bypass = bypass_get();
	if (io->bypass &&
	    desc_begin(&io->bypass->descs, fd, write, io->n, &io->use))
		return true;
	leave_call(io);
	return false;
}

/* The kernel checks all memory that the program names first, so check it here. */
static bool is_readable(const struct iovec *mem, int n)
{
	int saved = errno;
	bool yes = usermem_readable(mem, (unsigned int)n);

	errno = saved;
	return yes;
}

bool bypass_io_begin_list(struct bypass_io *io, int fd, bool write,
			  const struct iovec *iov, int niov)
{
	const struct iovec list = { (void *)(uintptr_t)iov,
				    (size_t)niov * sizeof(*iov) };

	return niov > 0 && niov <= IOV_MAX && is_readable(&list, 1) &&
	       bypass_io_begin(io, fd, write, iov, niov);
}

/* n: bytes, or -errno. */
static ssize_t finish_call(struct bypass_io *io, int64_t n)
{
	desc_end(&io->use);
	if (n < 0)
		io->saved_errno = (int)-n;
	leave_call(io);
	return n < 0 ? -1 : n;
}

/* ---- one transfer ---- */

/* If the write exceeds RLIMIT_FSIZE, the kernel must shorten it or send SIGXFSZ. */
static bool within_size_limit(const struct bypass_io *io, int64_t off)
{
	struct rlimit limit;

	if (!io->write)
		return true;
	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY ||
		(off >= 0 && (uint64_t)off + io->n <= limit.rlim_cur));
}

/*
 * The kernel has cached pages of the file since the call began: make it drop those that
 * were written.  A read is repeated through the kernel.
 */
static int64_t handle_new_pages(struct bypass_io *io, int64_t off, int64_t n)
{
	struct shortcut_wrote what = { (uint64_t)off, (uint64_t)n };

	if (!io->write)
		return USE_KERNEL;
	ioctl(io->use.fd, SHORTCUT_WROTE, &what);
	return n;
}

static int64_t check_mark(struct bypass_io *io, int64_t off, int64_t n)
{
	if (n > 0 && fuse_mount_is_marked(io->use.mount, io->use.f->handle))
		return handle_new_pages(io, off, n);
	return n;
}

static struct rw make_rw(const struct bypass_io *io)
{
	return (struct rw){
		.iov = io->iov, .niov = io->niov, .write = io->write, .at = true
	};
}

static int64_t transfer_at(struct bypass_io *io, int64_t off)
{
	struct rw rw = make_rw(io);

	rw.off = off;
	rw.placed = true;
	if (io->write)
		written_files_add(&io->bypass->written, io->use.f->handle);
	deadline_begin();
	return check_mark(io, off, rw_run(io->use.f, -1, &rw));
}

struct kernel_io_args {
	const struct bypass_io *io;
	int64_t off;
	ssize_t n;
};

/* The call waits for the daemon of the mount, so a coroutine runs it in another thread. */
static int run_in_kernel(void *arg)
{
	struct kernel_io_args *k = arg;
	const struct bypass_io *io = k->io;

	errno = io->saved_errno;
	if (io->write)
		k->n = next.pwritev(io->use.fd, io->iov, io->niov, k->off);
	else
		k->n = next.preadv(io->use.fd, io->iov, io->niov, k->off);
	return k->n < 0 ? -errno : 0;
}

static int64_t kernel_io_at(struct bypass_io *io, int64_t off)
{
	struct kernel_io_args k = { .io = io, .off = off };
	int rc = coroutine_aside(run_in_kernel, &k);

	return rc ? rc : k.n;
}

/*
 * Whether the write may or may not have been executed.  Other programs may have read the new data,
 * so it must not be repeated.
 */
static bool outcome_is_unknown(const struct bypass_io *io, int64_t n)
{
	return io->write && (n == -EIO || n == -ECONNABORTED);
}

/* A call whose time has passed is not repeated through the kernel. */
static bool kernel_may_retry(const struct bypass_io *io, int64_t n)
{
	return n < 0 && n != -ETIMEDOUT && !outcome_is_unknown(io, n);
}

/*
 * Whether nothing of the call is executed if a part of its memory cannot be read.  A write of
 * one stripe goes to one server, which executes it completely or not at all.  Of several
 * servers, some would write their part, so the memory is checked first.
 */
static bool is_all_or_nothing(const struct bypass_io *io, int64_t off)
{
	uint64_t ssize = io->use.f->dist.ssize, at = (uint64_t)off % ssize;

	return !io->write || io->n <= ssize - at ||
	       is_readable(io->iov, io->niov);
}

static bool is_valid_offset(const struct bypass_io *io, int64_t off)
{
	return off >= 0 && off <= INT64_MAX - (int64_t)io->n;
}

static int64_t io_at(struct bypass_io *io, int64_t off)
{
	int64_t n = USE_KERNEL;

	if (is_valid_offset(io, off) && within_size_limit(io, off) &&
	    is_all_or_nothing(io, off))
		n = transfer_at(io, off);
	if (!kernel_may_retry(io, n))
		return n;
	if ((n != USE_KERNEL || coroutine_self()) && !desc_is_current(&io->use))
		return n == USE_KERNEL ? -EBADF : n;
	if (n != USE_KERNEL)
		desc_fail(&io->use, (int)n);
	return kernel_io_at(io, off);
}

/* ---- O_APPEND ---- */

/*
 * Whether the servers have refused the write and written nothing.  Then the kernel may write
 * instead.
 */
static bool was_refused(int64_t rc)
{
	return rc == -ESTALE || rc == -EACCES || rc == -EPERM || rc == -EBADF ||
	       rc == -ENOENT || rc == -ENOSYS || rc == -EFBIG;
}

/*
 * Leaves an append to the kernel, after the kernel got the present size.  Its limits and its offset
 * for the append depend on the size that it has cached.
 */
static int64_t append_by_kernel(struct bypass_io *io)
{
	ident_refresh(io->use.fd);
	return USE_KERNEL;
}

/*
 * Appends the data.  *off is its offset.  USE_KERNEL: nothing was written, and the kernel must do
 * it.
 */
static int64_t append_data(struct bypass_io *io, int64_t *off)
{
	struct rw rw = make_rw(io);
	int64_t n;

	/* a reserved place without data would be a hole */
	if (!within_size_limit(io, -1) || !is_readable(io->iov, io->niov))
		return append_by_kernel(io);
	*off = -1;
	rw.begun = off;
	written_files_add(&io->bypass->written, io->use.f->handle);
	deadline_begin();
	n = rw_run(io->use.f, -1, &rw);
	if (*off < 0 && was_refused(n)) {
		desc_fail(&io->use, (int)n);
		return append_by_kernel(io);
	}
	return check_mark(io, *off, n);
}

/* The end of the file is unknown here. */
static int64_t kernel_io(struct bypass_io *io)
{
	ssize_t n;

	errno = io->saved_errno;
	if (io->write)
		n = next.writev(io->use.fd, io->iov, io->niov);
	else
		n = next.readv(io->use.fd, io->iov, io->niov);
	return n < 0 ? -errno : n;
}

static bool is_append(const struct bypass_io *io)
{
	return io->write && io->use.flags & O_APPEND;
}

static int64_t append_io(struct bypass_io *io)
{
	int64_t off, n = append_data(io, &off);

	if (n == USE_KERNEL)
		return kernel_io(io);
	if (n > 0)
		lseek(io->use.fd, off + n, SEEK_SET);
	return n;
}

/* As in Linux, O_APPEND ignores the given offset. */
static int64_t append_at(struct bypass_io *io, int64_t where)
{
	int64_t off, n = append_data(io, &off);

	return n == USE_KERNEL ? kernel_io_at(io, where) : n;
}

static int64_t io_or_append_at(struct bypass_io *io, int64_t off)
{
	return is_append(io) && is_valid_offset(io, off) ? append_at(io, off)
							 : io_at(io, off);
}

/* ---- calls ---- */

/*
 * If another write followed meanwhile, moving back would overwrite it.  Then the file
 * keeps a hole.
 */
static void move_offset_back(const struct bypass_io *io, int64_t end,
			     int64_t by)
{
	if (!io->write || lseek(io->use.fd, 0, SEEK_CUR) == end)
		lseek(io->use.fd, by, SEEK_CUR);
}

static int64_t offset_io(struct bypass_io *io)
{
	int64_t n, end = lseek(io->use.fd, (off_t)io->n, SEEK_CUR);

	if (end < 0)
		return kernel_io(io);
	n = io_at(io, end - (int64_t)io->n);
	if (n < (int64_t)io->n)
		move_offset_back(io, end, (n < 0 ? 0 : n) - (int64_t)io->n);
	return n;
}

ssize_t bypass_io_run(struct bypass_io *io)
{
	if (!io->use.f)
		return finish_call(io, -ETIMEDOUT);
	return finish_call(io, is_append(io) ? append_io(io) : offset_io(io));
}

ssize_t bypass_io_run_at(struct bypass_io *io, int64_t off)
{
	if (!io->use.f)
		return finish_call(io, -ETIMEDOUT);
	return finish_call(io, io_or_append_at(io, off));
}

bool bypass_io_begin_async(struct bypass_io *io, int fd, bool write,
			   const struct iovec *iov, int niov)
{
	bool ours = bypass_io_begin(io, fd, write, iov, niov);

	if (ours && !io->use.f) {
		finish_call(io, 0);
		return false;
	}
	if (ours)
		leave_call(io);
	return ours;
}

int64_t bypass_io_run_async(struct bypass_io *io, int64_t off)
{
	int64_t n = io_or_append_at(io, off);

	desc_end(&io->use);
	return n;
}

/* ---- fsync ---- */

int bypass_io_sync(int fd, int rc)
{
	struct bypass_io io = { .write = true };
	bool open;

	if (own_call_active())
		return rc;
	enter_call(&io);
	rc = rc ? -io.saved_errno : 0;
	open = bypass_find_file(fd, &io.use);
	if (!open && !rc)
		rc = desc_take_error(&io.use);
	if (open || bypass_open_written_file(fd, &io.use))
		rc = written_files_sync(&io.use, rc);
	return finish_call(&io, rc) < 0 ? -1 : 0;
}
