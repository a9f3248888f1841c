/* SPDX-License-Identifier: BSD-2-Clause */
/* move.c - see move.h. */
#include "client/preload/move.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/lib/rw/rw.h"
#include "client/preload/self.h"
#include "client/lib/session/coroutine.h"
#include "common/util/usermem.h"
#include "client/preload/wrote.h"

#define MOST 0x7ffff000u /* maximum bytes of one call, as in the kernel */
#define KERNEL INT64_MIN /* result: make the call through the kernel */

/* True: the kernel returns EFAULT for this, whatever the data. */
static bool is_kernels(const struct iovec *v)
{
	return (uintptr_t)v->iov_base > INTPTR_MAX - v->iov_len;
}

static bool sum(struct move *m)
{
	int i;

	m->n = 0;
	if (m->niov < 1 || m->niov > IOV_MAX)
		return false;
	for (i = 0; i < m->niov; i++) {
		if (m->iov[i].iov_len > MOST - m->n || is_kernels(&m->iov[i]))
			return false;
		m->n += m->iov[i].iov_len;
	}
	return m->n;
}

/*
 * Prevents signal handlers and nested calls from entering again.  A pending cancellation
 * takes effect first, while nothing is held.
 */
static void enter(struct move *m)
{
	pthread_testcancel();
	m->saved = errno;
	self_enter();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m->cancel);
}

static void leave(struct move *m)
{
	pthread_setcancelstate(m->cancel, NULL);
	errno = m->saved;
	self_leave();
}

bool move_begin(struct move *m, int fd, bool write, const struct iovec *iov,
		int niov)
{
	if (self_busy())
		return false;
	m->iov = iov;
	m->niov = niov;
	m->write = write;
	if (!sum(m))
		return false;
	enter(m);
	if (desc_begin(fd, write, m->n, &m->use))
		return true;
	leave(m);
	return false;
}

/* The kernel checks all memory that the program names first, so check it here. */
static bool readable(const struct iovec *mem, int n)
{
	int saved = errno;
	bool yes = usermem_readable(mem, (unsigned int)n);

	errno = saved;
	return yes;
}

bool move_begin_list(struct move *m, int fd, bool write,
		     const struct iovec *iov, int niov)
{
	const struct iovec list = { (void *)(uintptr_t)iov,
				    (size_t)niov * sizeof(*iov) };

	return niov > 0 && niov <= IOV_MAX && readable(&list, 1) &&
	       move_begin(m, fd, write, iov, niov);
}

/* n: bytes, or -errno. */
static ssize_t finish(struct move *m, int64_t n)
{
	desc_end(&m->use);
	if (n < 0)
		m->saved = (int)-n;
	leave(m);
	return n < 0 ? -1 : n;
}

/* ---- one transfer ---- */

/* If the write exceeds RLIMIT_FSIZE, the kernel must shorten it or send SIGXFSZ. */
static bool in_limit(const struct move *m, int64_t off)
{
	struct rlimit most;

	if (!m->write)
		return true;
	return !getrlimit(RLIMIT_FSIZE, &most) &&
	       (most.rlim_cur == RLIM_INFINITY ||
		(off >= 0 && (uint64_t)off + m->n <= most.rlim_cur));
}

/*
 * The kernel has cached pages of the file since the call began: make it drop those that
 * were written.  A read is repeated through the kernel.
 */
static int64_t crossed(struct move *m, int64_t off, int64_t n)
{
	struct shortcut_wrote what = { (uint64_t)off, (uint64_t)n };

	if (!m->write)
		return KERNEL;
	ioctl(m->use.fd, SHORTCUT_WROTE, &what);
	return n;
}

static int64_t moved(struct move *m, int64_t off, int64_t n)
{
	if (n > 0 && door_marked(m->use.door, m->use.f->handle))
		return crossed(m, off, n);
	return n;
}

static struct rw rw_of(const struct move *m)
{
	return (struct rw){
		.iov = m->iov, .niov = m->niov, .write = m->write, .at = true
	};
}

static int64_t transfer(struct move *m, int64_t off)
{
	struct rw rw = rw_of(m);

	rw.off = off;
	rw.placed = true;
	if (m->write)
		wrote_note(m->use.f->handle);
	deadline_begin();
	return moved(m, off, rw_run(m->use.f, -1, &rw));
}

struct by_kernel {
	struct move *m;
	int64_t off;
	ssize_t n;
};

/* It waits for the mount's daemon: in a coroutine, it runs in a separate thread. */
static int do_kernel_at(void *arg)
{
	struct by_kernel *k = arg;
	const struct move *m = k->m;

	errno = m->saved;
	if (m->write)
		k->n = next.pwritev(m->use.fd, m->iov, m->niov, k->off);
	else
		k->n = next.preadv(m->use.fd, m->iov, m->niov, k->off);
	return k->n < 0 ? -errno : 0;
}

static int64_t kernel_at(struct move *m, int64_t off)
{
	struct by_kernel k = { .m = m, .off = off };
	int rc = coroutine_aside(do_kernel_at, &k);

	return rc ? rc : k.n;
}

/* True: it is unknown whether the write was made.  Others may have read the new data. */
static bool unsure(const struct move *m, int64_t n)
{
	return m->write && (n == -EIO || n == -ECONNABORTED);
}

/* A call whose time has passed is not repeated through the kernel. */
static bool kernel_may(const struct move *m, int64_t n)
{
	return n < 0 && n != -ETIMEDOUT && !unsure(m, n);
}

/*
 * One server executes a write completely or not at all, but several each do their part.
 * So check the memory first.
 */
static bool whole(const struct move *m, int64_t off)
{
	uint64_t ssize = m->use.f->dist.ssize, at = (uint64_t)off % ssize;

	return !m->write || m->n <= ssize - at || readable(m->iov, m->niov);
}

static bool is_place(const struct move *m, int64_t off)
{
	return off >= 0 && off <= INT64_MAX - (int64_t)m->n;
}

static int64_t at(struct move *m, int64_t off)
{
	int64_t n = KERNEL;

	if (is_place(m, off) && in_limit(m, off) && whole(m, off))
		n = transfer(m, off);
	if (!kernel_may(m, n))
		return n;
	if ((n != KERNEL || coroutine_self()) && !desc_stands(&m->use))
		return n == KERNEL ? -EBADF : n;
	if (n != KERNEL)
		desc_spoil(&m->use, (int)n);
	return kernel_at(m, off);
}

/* ---- O_APPEND ---- */

/* True: nothing was written, so another way may be tried. */
static bool refused(int64_t rc)
{
	return rc == -ESTALE || rc == -EACCES || rc == -EPERM || rc == -EBADF ||
	       rc == -ENOENT || rc == -ENOSYS || rc == -EFBIG;
}

/* The kernel's limits and offsets depend on its cached size. */
static int64_t append_by_kernel(struct move *m)
{
	ident_refresh(m->use.fd);
	return KERNEL;
}

/* KERNEL: nothing was done. */
static int64_t append(struct move *m, int64_t *off)
{
	struct rw rw = rw_of(m);
	int64_t n;

	/* a reserved place without data would be a hole */
	if (!in_limit(m, -1) || !readable(m->iov, m->niov))
		return append_by_kernel(m);
	*off = -1;
	rw.begun = off;
	wrote_note(m->use.f->handle);
	deadline_begin();
	n = rw_run(m->use.f, -1, &rw);
	if (*off < 0 && refused(n)) {
		desc_spoil(&m->use, (int)n);
		return append_by_kernel(m);
	}
	return moved(m, *off, n);
}

/* The end of the file is unknown here. */
static int64_t kernel_here(struct move *m)
{
	ssize_t n;

	errno = m->saved;
	if (m->write)
		n = next.writev(m->use.fd, m->iov, m->niov);
	else
		n = next.readv(m->use.fd, m->iov, m->niov);
	return n < 0 ? -errno : n;
}

static bool appends(const struct move *m)
{
	return m->write && m->use.flags & O_APPEND;
}

static int64_t append_here(struct move *m)
{
	int64_t off, n = append(m, &off);

	if (n == KERNEL)
		return kernel_here(m);
	if (n > 0)
		lseek(m->use.fd, off + n, SEEK_SET);
	return n;
}

/* As in Linux, O_APPEND ignores the given offset. */
static int64_t append_at(struct move *m, int64_t where)
{
	int64_t off, n = append(m, &off);

	return n == KERNEL ? kernel_at(m, where) : n;
}

static int64_t anywhere(struct move *m, int64_t off)
{
	return appends(m) && is_place(m, off) ? append_at(m, off) : at(m, off);
}

/* ---- calls ---- */

/*
 * If another write followed meanwhile, moving back would overwrite it.  Then the file
 * keeps a hole.
 */
static void move_back(const struct move *m, int64_t end, int64_t by)
{
	if (!m->write || lseek(m->use.fd, 0, SEEK_CUR) == end)
		lseek(m->use.fd, by, SEEK_CUR);
}

static int64_t here(struct move *m)
{
	int64_t n, end = lseek(m->use.fd, (off_t)m->n, SEEK_CUR);

	if (end < 0)
		return kernel_here(m);
	n = at(m, end - (int64_t)m->n);
	if (n < (int64_t)m->n)
		move_back(m, end, (n < 0 ? 0 : n) - (int64_t)m->n);
	return n;
}

ssize_t move_here(struct move *m)
{
	if (!m->use.f)
		return finish(m, -ETIMEDOUT);
	return finish(m, appends(m) ? append_here(m) : here(m));
}

ssize_t move_at(struct move *m, int64_t off)
{
	if (!m->use.f)
		return finish(m, -ETIMEDOUT);
	return finish(m, anywhere(m, off));
}

bool move_take(struct move *m, int fd, bool write, const struct iovec *iov,
	       int niov)
{
	bool ours = move_begin(m, fd, write, iov, niov);

	if (ours && !m->use.f) {
		finish(m, 0);
		return false;
	}
	if (ours)
		leave(m);
	return ours;
}

int64_t move_alone(struct move *m, int64_t off)
{
	int64_t n = anywhere(m, off);

	desc_end(&m->use);
	return n;
}

/* ---- fsync ---- */

int move_sync(int fd, int rc)
{
	struct move m = { .write = true };
	bool open;

	if (self_busy())
		return rc;
	enter(&m);
	rc = rc ? -m.saved : 0;
	open = desc_look(fd, &m.use);
	if (!open && !rc)
		rc = desc_owes(&m.use);
	if (open || wrote_look(fd, &m.use))
		rc = wrote_sync(&m.use, rc);
	return finish(&m, rc) < 0 ? -1 : 0;
}
