/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat.c - attributes from the manager; for a file that is open for writing, completed by
 * its iods.
 */
#include "client/lib/names/stat.h"

#include <sys/sysmacros.h>

#include "client/lib/session/broadcast.h"
#include "client/lib/names/mounted.h"

#define BLKSIZE_MAX (8u << 20)
#define NS 1000000000

struct timespec stat_time(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS, .tv_nsec = ns % NS };

	if (ts.tv_nsec < 0) {
		ts.tv_nsec += NS;
		ts.tv_sec--;
	}
	return ts;
}

/* The range is the years 1677 to 2262.  Times outside are clamped. */
int64_t stat_ns(const struct timespec *ts)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)ts->tv_sec, NS, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)ts->tv_nsec, &ns))
		return ts->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static blksize_t blksize_of(const struct attr *a)
{
	uint64_t width = (uint64_t)a->dist.ssize * a->dist.pcount;

	if (!S_ISREG(a->mode))
		return 4096;
	return (blksize_t)(width < BLKSIZE_MAX ? width : BLKSIZE_MAX);
}

static dev_t rdev_of(const struct attr *a)
{
	if (!S_ISCHR(a->mode) && !S_ISBLK(a->mode))
		return 0;
	return makedev(a->major, a->minor);
}

static void stat_fill(const struct session *s, const struct attr *a,
		      uint64_t blocks, struct stat *st)
{
	*st = (struct stat){
		.st_dev = mounted_dev(s->fsid),
		.st_ino = a->handle,
		.st_mode = a->mode,
		.st_nlink = a->nlink,
		.st_uid = a->uid,
		.st_gid = a->gid,
		.st_rdev = rdev_of(a),
		.st_size = (off_t)a->size,
		.st_blksize = blksize_of(a),
		.st_blocks = (blkcnt_t)blocks,
		.st_atim = stat_time(a->atime),
		.st_mtim = stat_time(a->mtime),
		.st_ctim = stat_time(a->ctime),
	};
}

/*
 * Sets mtime to t, the time of a write, if the write was after the mtime that the manager has.  If
 * mtime was set explicitly, it may be any time; then the write must be after ctime.
 */
static void wrote_at(struct attr *a, int64_t t)
{
	if (t > (a->flags & WIRE_A_MSET ? a->ctime : a->mtime))
		a->mtime = t;
	if (a->mtime == t && t > a->ctime)
		a->ctime = t;
}

static int ask_iods(struct session *s, struct attr *a, struct end_reads *reads,
		    uint64_t *blocks)
{
	struct file_size now;
	int rc = end_reads_size(reads, s, a->handle, &a->dist, &now);

	if (rc)
		return rc;
	a->size = now.size;
	*blocks = now.blocks;
	wrote_at(a, now.mtime);
	return 0;
}

/* If the iods do not answer, *blocks stays at the space of data without holes. */
static int ask_space(struct session *s, const struct attr *a, uint64_t *blocks)
{
	struct file_size now;
	int rc = size_ask(s, a->handle, &a->dist, NULL, NULL, &now);

	if (!rc)
		*blocks = now.blocks;
	return session_is_over(rc) ? rc : 0;
}

static int stat_complete(struct session *s, const struct attr *attr,
			 struct end_reads *reads, struct stat *st)
{
	uint64_t blocks = 0;
	struct attr a = *attr;
	int rc = 0;

	if (S_ISREG(a.mode) && !(a.flags & WIRE_A_SIZE))
		rc = ask_iods(s, &a, reads, &blocks);
	else if (S_ISREG(a.mode))
		blocks = a.size / 512 + (a.size % 512 != 0);
	if (!rc && S_ISREG(a.mode) && a.flags & WIRE_A_SIZE &&
	    a.flags & WIRE_A_HOLES)
		rc = ask_space(s, &a, &blocks);
	if (!rc)
		stat_fill(s, &a, blocks, st);
	return rc;
}

int stat_of(struct session *s, const struct attr *attr, struct stat *st)
{
	return stat_complete(s, attr, NULL, st);
}

int stat_get_open(struct session *s, const struct target *t, void *arg)
{
	struct stat_open *open = arg;
	struct attr a;
	int rc = mgr_getattr(s, t, &a);

	return rc ? rc : stat_complete(s, &a, open->reads, open->st);
}

int stat_get(struct session *s, const struct target *t, void *arg)
{
	struct attr a;
	int rc = mgr_getattr(s, t, &a);

	return rc ? rc : stat_of(s, &a, arg);
}
