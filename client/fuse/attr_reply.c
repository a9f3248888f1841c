/* SPDX-License-Identifier: BSD-2-Clause */
/* attr_reply.c - see attr_reply.h. */
#include "client/fuse/attr_reply.h"

#include "client/lib/names/stat.h"

/* the same as in the manager */
#define ATIME_AGE_NS (24 * 3600 * INT64_C(1000000000))

/*
 * The access time that the manager will have once the local readers have closed the
 * file.
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
 * If only this client writes the file, it ends at the manager's size, or where the
 * client wrote beyond it.
 */
static void apply_local_end(const struct attr_reply *seen,
			    const struct session *s, struct attr *attr)
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

int attr_reply_complete(struct session *s, const struct target *t, void *arg)
{
	struct attr_reply *seen = arg;
	struct fs *fs = &seen->c->d->fs;
	struct attr attr = seen->attr;
	int rc;

	apply_local_end(seen, s, &attr);
	rc = stat_of(s, &attr, &seen->st);
	if (!rc && S_ISREG(attr.mode)) {
		file_apply_write_time(fs, &seen->st);
		apply_local_reads(fs, &seen->st);
	}
	return rc;
}

int attr_reply_fetch(struct session *s, const struct target *t, void *arg)
{
	struct attr_reply *seen = arg;
	int rc = mgr_getattr(s, t, &seen->attr);

	return rc ? rc : attr_reply_complete(s, t, seen);
}
