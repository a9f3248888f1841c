/* SPDX-License-Identifier: BSD-2-Clause */
/* attr_reply.c - see attr_reply.h. */
#include "client/fuse/attr_reply.h"

#include "client/lib/names/stat.h"
#include "common/util/clock.h"

/* Age of an access time from which a read updates it; the manager has the same. */
#define ATIME_AGE_NS (24 * 3600 * INT64_C(1000000000))
#define TICK 1e-6 /* s; the kernel counts whole ticks, at least one */
#define SKEW_NS 2e9 /* clocks are coarse, and differ between hosts */
#define TICKS_NS (8 * CLOCK_NS_PER_MS) /* two ticks of a kernel with 250 Hz */

/*
 * Sets the access time that the manager will record when the local readers close the file.
 */
static void apply_local_reads(struct fs *fs, struct stat *st)
{
	int64_t at = file_last_read(fs, st->st_ino),
		atime = stat_ns(&st->st_atim);

	if (at && at > atime &&
	    (atime <= stat_ns(&st->st_mtim) || atime <= stat_ns(&st->st_ctim) ||
	     at - atime >= ATIME_AGE_NS))
		st->st_atim = stat_time(at);
}

/*
 * If only this client writes the file, its size is the manager's size, or the end of this
 * client's writes if that is higher.
 */
static void apply_local_end(const struct attr_reply *reply,
			    const struct session *s, struct attr *attr)
{
	uint64_t end;

	if (!(attr->flags & WIRE_A_SOLE) ||
	    !file_sole_end(&reply->c->d->fs, s, attr->handle, reply->c->begun,
			   &end))
		return;
	if (end > attr->size)
		attr->size = end;
	attr->flags |= WIRE_A_SIZE;
}

int attr_reply_complete(struct session *s, const struct target *t, void *arg)
{
	struct attr_reply *reply = arg;
	struct fs *fs = &reply->c->d->fs;
	struct attr attr = reply->attr;
	int rc;

	apply_local_end(reply, s, &attr);
	rc = stat_of(s, &attr, &reply->st);
	if (!rc && S_ISREG(attr.mode)) {
		file_apply_write_time(fs, &reply->st);
		apply_local_reads(fs, &reply->st);
	}
	return rc;
}

int attr_reply_fetch(struct session *s, const struct target *t, void *arg)
{
	struct attr_reply *reply = arg;
	int rc = mgr_getattr(s, t, &reply->attr);

	return rc ? rc : attr_reply_complete(s, t, reply);
}

/* ---- how long the kernel may use them ---- */

bool attr_reply_by_ticks(const struct fuse_daemon *d)
{
	return d->default_permissions && d->attr_timeout <= 0;
}

double attr_reply_entry_timeout(struct fuse_daemon *d, const struct stat *st)
{
	if (!attr_reply_by_ticks(d))
		return d->attr_timeout;
	if (S_ISREG(st->st_mode))
		return file_is_open(&d->fs, st->st_ino) ? 0 : TICK;
	return S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) ? TICK : 0;
}

double attr_reply_getattr_timeout(const struct fuse_daemon *d,
				  const struct stat *st)
{
	if (!attr_reply_by_ticks(d))
		return d->attr_timeout;
	return S_ISDIR(st->st_mode) ? TICK : 0;
}

/*
 * The kernel evaluates access control lists only while it has valid attributes, so it
 * requests the attributes first.
 */
uint64_t attr_reply_timeout_ns(const struct fuse_daemon *d)
{
	return attr_reply_by_ticks(d) ? TICKS_NS
				      : (uint64_t)(d->attr_timeout * 1e9);
}

/* Whether the attributes changed so recently that the kernel may still have older ones. */
static bool is_recent(const struct fuse_daemon *d, const struct stat *st)
{
	double age = (double)(clock_wall() - stat_ns(&st->st_ctim));

	return age < SKEW_NS + d->attr_timeout * 1e9;
}

/*
 * Makes the kernel ignore replies that were sent earlier: with ticks those to LOOKUPs, with
 * pages those with the file's size.
 */
void attr_reply_invalidate_opened(const struct fuse_daemon *d, fuse_ino_t n,
				  const struct stat *changed)
{
	bool pages = d->cache == CACHE_OPEN && d->attr_timeout > 0;

	if (attr_reply_by_ticks(d) ||
	    (pages && changed && is_recent(d, changed)))
		fuse_lowlevel_notify_inval_inode(d->se, n, -1, 0);
}
