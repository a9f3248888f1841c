/* SPDX-License-Identifier: BSD-2-Clause */
/* seen.c - see seen.h. */
#include "client/fuse/seen.h"

#include "client/lib/names/stat.h"

/* the same as in the manager */
#define ATIME_AGE_NS (24 * 3600 * INT64_C(1000000000))

/*
 * The access time that the manager will have once the local readers have closed the
 * file.
 */
static void own_reads(struct fs *fs, struct stat *st)
{
	int64_t at = file_last_read(fs, st->st_ino),
		atime = stat_ns(&st->st_atim);

	if (at && at > atime &&
	    (atime <= stat_ns(&st->st_mtim) || atime <= stat_ns(&st->st_ctim) ||
	     at - atime >= ATIME_AGE_NS))
		st->st_atim = stat_time(at);
}

/*
 * If only this client writes the file, it ends at the manager's size, or where the
 * client wrote beyond it.
 */
static void own_end(const struct seen *seen, const struct session *s,
		    struct attr *attr)
{
	uint64_t end;

	if (!(attr->flags & WIRE_A_SOLE) ||
	    !file_sole_end(&seen->c->d->fs, s, attr->handle, seen->c->begun,
			   &end))
		return;
	if (end > attr->size)
		attr->size = end;
	attr->flags |= WIRE_A_SIZE;
}

int seen_complete(struct session *s, const struct target *t, void *arg)
{
	struct seen *seen = arg;
	struct fs *fs = &seen->c->d->fs;
	struct attr attr = seen->attr;
	int rc;

	own_end(seen, s, &attr);
	rc = stat_of(s, &attr, &seen->st);
	if (!rc && S_ISREG(attr.mode)) {
		file_apply_write_time(fs, &seen->st);
		own_reads(fs, &seen->st);
	}
	return rc;
}

int seen_get(struct session *s, const struct target *t, void *arg)
{
	struct seen *seen = arg;
	int rc = mgr_getattr(s, t, &seen->attr);

	return rc ? rc : seen_complete(s, t, seen);
}
