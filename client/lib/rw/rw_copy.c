/* SPDX-License-Identifier: BSD-2-Clause */
/* rw_copy.c - copy_file_range(2) between PVFS files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "client/lib/names/space.h"
#include "client/lib/file/handover.h"
#include "client/lib/rw/rw.h"
#include "client/lib/file/unsynced.h"

#define ALIGN 4096u
#define AT_A_TIME (4u << 20) /* bytes through our own memory at a time */
#define AT_MOST (256u << 20) /* maximum bytes of a call */
/* bytes for the iods at a time, so that they can finish in time */
#define IODS_AT_A_TIME (64u << 20)
/* Below this, two consecutive requests to iods take as long as a READ and a WRITE. */
#define IODS_LEAST (64u << 10)

/* The remaining work of a call. */
struct passing {
	uint64_t in, out, left; /* in and out are positions in the views */
	uint64_t pause; /* at this time the call returns what it has copied */
	void *mem; /* AT_A_TIME bytes, or NULL */
};

static int check_files(const struct rw_copy *c)
{
	int in = atomic_load(&c->in->flags), out = atomic_load(&c->out->flags);

	if (c->in->type == S_IFDIR || c->out->type == S_IFDIR)
		return -EISDIR;
	if ((in & O_ACCMODE) == O_WRONLY || (out & O_ACCMODE) == O_RDONLY ||
	    out & O_APPEND)
		return -EBADF;
	return 0;
}

static bool ranges_overlap(const struct rw_copy *c, const struct passing *p)
{
	return c->in->fs == c->out->fs && c->in->handle == c->out->handle &&
	       p->in < p->out + p->left && p->out < p->in + p->left;
}

/* Checks in the kernel's order.  Limits p->left to the end of the source. */
static int copy_check(const struct rw_copy *c, struct passing *p)
{
	uint64_t size, end;
	int rc = check_files(c);

	if (rc)
		return rc;
	if (__builtin_add_overflow(p->in, p->left, &end) ||
	    __builtin_add_overflow(p->out, p->left, &end))
		return -EOVERFLOW;
	rc = file_size(c->in, -1, &size);
	if (rc)
		return rc;
	size = size > p->in ? size - p->in : 0;
	if (p->left > size)
		p->left = size;
	if (p->out == INT64_MAX)
		return -EFBIG;
	if (p->left > INT64_MAX - p->out)
		p->left = INT64_MAX - p->out;
	if (ranges_overlap(c, p))
		return -EINVAL;
	return (int64_t)p->in < 0 || (int64_t)p->out < 0 ? -EINVAL : 0;
}

static ssize_t copy_transfer(struct file *f, bool write, void *mem, size_t len,
			     uint64_t at)
{
	struct iovec iov = { mem, len };
	struct rw rw = { .iov = &iov,
			 .niov = 1,
			 .write = write,
			 .at = true,
			 .off = (int64_t)at,
			 .placed = true };

	return rw_run(f, -1, &rw);
}

/* Copies the next bytes.  Returns how many; 0: the end of the source; or -errno. */
static ssize_t copy_through_memory(const struct rw_copy *c, struct passing *p)
{
	size_t len = p->left < AT_A_TIME ? (size_t)p->left : AT_A_TIME;
	ssize_t n;

	if (!p->mem && posix_memalign(&p->mem, ALIGN, AT_A_TIME))
		return -ENOMEM;
	n = copy_transfer(c->in, false, p->mem, len, p->in);
	return n > 0 ? copy_transfer(c->out, true, p->mem, (size_t)n, p->out)
		     : n;
}

/* ---- by the iods ---- */

static bool iods_can(const struct rw_copy *c, const struct copy_range *r)
{
	return c->in->fs == c->out->fs && r->len >= IODS_LEAST &&
	       clock_now() >= atomic_load(&c->in->fs->copies_again) &&
	       copy_fits(r) && file_is_unpartitioned(c->in) &&
	       file_is_unpartitioned(c->out);
}

static bool iods_cannot(int rc)
{
	return rc == -ENOSYS || rc == -EOPNOTSUPP || rc == -EHOSTUNREACH;
}

/*
 * After the iods could not copy: makes the next copies go through this client for a while.  An
 * unsuccessful attempt takes up to half of the call's time, but the iods may recover.
 */
static void iods_pause(struct fs *fs)
{
	atomic_store(&fs->copies_again,
		     clock_after_ms(2 * (uint64_t)fs->timeout_ms));
}

static int do_getattr(struct session *s, const struct target *t, void *arg)
{
	return mgr_getattr(s, t, arg);
}

/* If the source was removed during the copy, the iods copied zeros instead of its bytes. */
static int source_check_exists(struct file *in)
{
	struct attr attr;

	return in->writer ? 0 : file_run(in, do_getattr, &attr);
}

/* As copy_through_memory(); also returns 0 if the iods cannot do it. */
static ssize_t copy_at_iods(const struct rw_copy *c, const struct passing *p)
{
	struct copy_range r = {
		.dist = &c->out->dist,
		.from_dist = &c->in->dist,
		.from = c->in->handle,
		.off = p->out,
		.src = p->in,
		.len = p->left < IODS_AT_A_TIME ? p->left : IODS_AT_A_TIME,
		.flags = atomic_load(&c->out->flags) & O_DSYNC ? WIRE_IO_SYNC
							       : 0
	};
	unsigned int since = unsynced_since(c->out, r.flags);
	int rc;

	if (!iods_can(c, &r))
		return 0;
	rc = file_run(c->out, copy_ask, &r);
	file_record_write(c->out, r.off, r.off + r.len, rc, since);
	file_doubt_space(c->out); /* holes are copied as holes */
	if (iods_cannot(rc)) {
		iods_pause(c->in->fs);
		return 0;
	}
	if (!rc)
		rc = source_check_exists(c->in);
	return rc ? rc : (ssize_t)r.len;
}

static ssize_t copy_some(const struct rw_copy *c, struct passing *p)
{
	ssize_t n = copy_at_iods(c, p);

	return n ? n : copy_through_memory(c, p);
}

static ssize_t copy_all(const struct rw_copy *c, struct passing *p)
{
	ssize_t done = 0, n = 0;

	while (p->left && (!done || clock_now() < p->pause)) {
		n = copy_some(c, p);
		if (n <= 0)
			break;
		p->in += (uint64_t)n;
		p->out += (uint64_t)n;
		p->left -= (uint64_t)n;
		done += n;
	}
	return done ? done : n;
}

static ssize_t copy_at(const struct rw_copy *c, uint64_t in, uint64_t out)
{
	unsigned int timeout_ms = c->in->fs->timeout_ms;
	struct passing p = {
		.in = in,
		.out = out,
		.left = c->len,
		.pause = deadline_of(timeout_ms) -
			 timeout_ms / 2 * CLOCK_NS_PER_MS,
	};
	ssize_t n = copy_check(c, &p);

	if (p.left > AT_MOST)
		p.left = AT_MOST;
	if (!n)
		n = copy_all(c, &p);
	free(p.mem);
	return n;
}

/* Locks both offsets, in an order that is the same for all threads. */
static void lock_offsets(struct file *a, struct file *b)
{
	if (a > b) {
		lock_offsets(b, a);
		return;
	}
	if (a)
		file_lock_pos(a);
	if (b != a)
		file_lock_pos(b);
}

static void unlock_offsets(struct file *a, struct file *b)
{
	if (a)
		pthread_mutex_unlock(&a->pos_lock);
	if (b && b != a)
		pthread_mutex_unlock(&b->pos_lock);
}

static void file_move_pos(struct file *f, uint64_t pos)
{
	f->pos = pos;
	f->pos_at = clock_now();
	handover_update_pos(f);
}

ssize_t rw_copy(const struct rw_copy *c)
{
	struct file *in = c->at_in ? NULL : c->in;
	struct file *out = c->at_out ? NULL : c->out;
	uint64_t from, to;
	ssize_t n;

	lock_offsets(in, out);
	from = in ? in->pos : (uint64_t)c->off_in;
	to = out ? out->pos : (uint64_t)c->off_out;
	if (in)
		deadline_since(in->pos_at);
	if (out)
		deadline_since(out->pos_at);
	n = copy_at(c, from, to);
	if (n > 0 && in)
		file_move_pos(in, from + (uint64_t)n);
	if (n > 0 && out)
		file_move_pos(out, to + (uint64_t)n);
	unlock_offsets(in, out);
	return n;
}
