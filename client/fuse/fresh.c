/* SPDX-License-Identifier: BSD-2-Clause */
/* fresh.c - see fresh.h. */
#include "client/fuse/fresh.h"

#include "common/util/clock.h"
#include "client/lib/names/stat.h"
#include "client/fuse/cache/told.h"

#define TICK 1e-6 /* s; the kernel counts whole ticks, at least one */
#define SKEW_NS 2e9 /* clocks are coarse, and differ between hosts */
#define TICKS_NS (8 * CLOCK_NS_PER_MS) /* two ticks of a kernel with 250 Hz */

/* True: the kernel keeps attributes for a tick, whatever the options say. */
static bool by_ticks(const struct fsd *d)
{
	return d->checked && d->attr_timeout <= 0;
}

double attr_reply_entry_timeout(struct fsd *d, const struct stat *st)
{
	if (!by_ticks(d))
		return d->attr_timeout;
	if (S_ISREG(st->st_mode))
		return file_is_open(&d->fs, st->st_ino) ? 0 : TICK;
	return S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) ? TICK : 0;
}

double attr_reply_getattr_timeout(const struct fsd *d, const struct stat *st)
{
	if (!by_ticks(d))
		return d->attr_timeout;
	return S_ISDIR(st->st_mode) ? TICK : 0;
}

/*
 * The kernel evaluates access control lists only with the attributes, and requests
 * those first.
 */
uint64_t attr_reply_timeout_ns(const struct fsd *d)
{
	return by_ticks(d) ? TICKS_NS : (uint64_t)(d->attr_timeout * 1e9);
}

/* True: the kernel may still have older attributes. */
static bool is_recent(const struct fsd *d, const struct stat *st)
{
	double age = (double)(clock_wall() - stat_ns(&st->st_ctim));

	return age < SKEW_NS + d->attr_timeout * 1e9;
}

/*
 * After this the kernel rejects replies that were sent before: with ticks those to
 * LOOKUPs, with pages those with the file's size.
 */
void attr_reply_invalidate_opened(const struct fsd *d, fuse_ino_t n,
				  const struct stat *changed)
{
	bool pages = d->cache == CACHE_OPEN && d->attr_timeout > 0;

	if (by_ticks(d) || (pages && changed && is_recent(d, changed)))
		fuse_lowlevel_notify_inval_inode(d->se, n, -1, 0);
}

/*
 * At the next name, the kernel requests the directory's attributes to check
 * permissions.
 */
void fresh_changed(const struct call *c, struct attr_reply *dir)
{
	pid_t who = fuse_req_ctx(c->req)->pid;

	call_record_attr(c, &dir->attr);
	if (!c->d->checked || fs_run(&c->d->fs, NULL, attr_reply_complete, dir))
		told_changed(c->d->told);
	else
		told_note_dir(c->d->told, who, &dir->st, c->changes,
			      c->begun + attr_reply_timeout_ns(c->d));
}

/*
 * The kernel requests the attributes next, because it may not keep those of an open
 * file.
 */
void fresh_created(const struct call *c, const struct stat *st)
{
	if (by_ticks(c->d))
		told_note(c->d->told, fuse_req_ctx(c->req)->pid, st);
}
