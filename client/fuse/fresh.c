/* SPDX-License-Identifier: BSD-2-Clause */
/* fresh.c - see fresh.h. */
#include "client/fuse/fresh.h"

#include "common/util/clock.h"
#include "client/lib/names/stat.h"
#include "client/fuse/kept/told.h"

#define TICK 1e-6 /* s; the kernel counts whole ticks, and at least one */
#define SKEW_NS 2e9 /* coarse clocks, and those of several hosts */
#define TICKS_NS (8 * CLOCK_NS_PER_MS) /* two of its ticks, or less */

/* A tick, and not what the options say. */
static bool by_ticks(const struct fsd *d)
{
	return d->checked && d->attr_timeout <= 0;
}

double fresh_entry(struct fsd *d, const struct stat *st)
{
	if (!by_ticks(d))
		return d->attr_timeout;
	if (S_ISREG(st->st_mode))
		return file_is_open(&d->fs, st->st_ino) ? 0 : TICK;
	return S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) ? TICK : 0;
}

double fresh_attr(const struct fsd *d, const struct stat *st)
{
	if (!by_ticks(d))
		return d->attr_timeout;
	return S_ISDIR(st->st_mode) ? TICK : 0;
}

/* It checks nothing by an access control list without the attributes, which it asks
 * for before. */
uint64_t fresh_ns(const struct fsd *d)
{
	return by_ticks(d) ? TICKS_NS : (uint64_t)(d->attr_timeout * 1e9);
}

/* The kernel may still have attributes of before. */
static bool is_recent(const struct fsd *d, const struct stat *st)
{
	double age = (double)(clock_wall() - stat_ns(&st->st_ctim));

	return age < SKEW_NS + d->attr_timeout * 1e9;
}

/* Answers that were sent before are then too old for the kernel: by ticks those to LOOKUPs,
 * with pages what tells how long the file is. */
void fresh_opened(const struct fsd *d, fuse_ino_t n, const struct stat *changed)
{
	bool pages = d->cache == CACHE_OPEN && d->attr_timeout > 0;

	if (by_ticks(d) || (pages && changed && is_recent(d, changed)))
		fuse_lowlevel_notify_inval_inode(d->se, n, -1, 0);
}

/* To know who may do what there it asks for them at the next name. */
void fresh_changed(const struct call *c, struct seen *dir)
{
	pid_t who = fuse_req_ctx(c->req)->pid;

	call_note(c, &dir->attr);
	if (!c->d->checked || fs_run(&c->d->fs, NULL, seen_complete, dir))
		told_changed(c->d->told);
	else
		told_note_dir(c->d->told, who, &dir->st, c->changes,
			      c->begun + fresh_ns(c->d));
}

/* The kernel asks for them next, as it may not keep those of an open file. */
void fresh_created(const struct call *c, const struct stat *st)
{
	if (by_ticks(c->d))
		told_note(c->d->told, fuse_req_ctx(c->req)->pid, st);
}
