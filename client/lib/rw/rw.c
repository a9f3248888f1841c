/* SPDX-License-Identifier: BSD-2-Clause */
/* rw.c - checking a read or write and starting it. */
#include "client/lib/rw/rw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "client/lib/file/handover.h"
#include "client/lib/session/coroutine.h"

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

static ssize_t rw_transfer(struct file *f, int fd, const struct rw *rw,
			   uint64_t pos, uint64_t total)
{
	if (!total)
		return 0;
	return f->fs ? rw_file(f, rw, pos, total)
		     : rw_ordinary(f, fd, rw, pos, total);
}

/* *at: the offset used, unless the data is appended. */
static ssize_t rw_run_uncounted(struct file *f, int fd, const struct rw *rw,
				uint64_t *at)
{
	uint64_t total;
	ssize_t n = rw_check(f, rw, &total);

	if (n)
		return n;
	*at = (uint64_t)rw->off;
	if (rw->at)
		return rw_transfer(f, fd, rw, (uint64_t)rw->off, total);
	file_lock_pos(f);
	deadline_since(f->pos_at);
	*at = f->pos;
	n = rw_transfer(f, fd, rw, f->pos, total);
	if (n >= 0)
		f->pos_at = clock_now();
	handover_moved(f);
	pthread_mutex_unlock(&f->pos_lock);
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
		.aside = strand_self() != NULL,
		.ssize = file_seen_whole(f) ? f->dist.ssize : 0,
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
