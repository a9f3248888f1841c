/* SPDX-License-Identifier: BSD-2-Clause */
/* rw_space.c - fallocate(2) on PVFS files. */
#include <errno.h>
#include <fcntl.h>

#include "common/util/extent.h"
#include "client/lib/rw/rw.h"
#include "client/lib/names/space.h"
#include "client/lib/file/unsynced.h"

static int flags_of(int mode, uint32_t *flags)
{
	switch (mode & ~FALLOC_FL_KEEP_SIZE) {
	case 0:
		*flags = 0;
		break;
	case FALLOC_FL_PUNCH_HOLE:
		*flags = WIRE_FA_PUNCH;
		break;
	case FALLOC_FL_ZERO_RANGE:
		*flags = WIRE_FA_ZERO;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (mode & FALLOC_FL_KEEP_SIZE)
		*flags |= WIRE_FA_KEEP;
	return *flags == WIRE_FA_PUNCH ? -EOPNOTSUPP : 0;
}

/* Checks in the kernel's order. */
static int allocate_check(const struct file *f, int mode, int64_t off,
			  int64_t len, struct space_range *range)
{
	uint64_t end;
	int rc;

	if (off < 0 || len <= 0)
		return -EINVAL;
	rc = flags_of(mode, &range->flags);
	if (rc)
		return rc;
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	range->off = (uint64_t)off;
	range->len = (uint64_t)len;
	return extent_end(range->off, range->len, &end) ? 0 : -EFBIG;
}

int rw_allocate(struct file *f, int mode, int64_t off, int64_t len)
{
	struct space_range range = { .dist = &f->dist };
	unsigned int since = unsynced_since(f, 0);
	int rc = allocate_check(f, mode, off, len, &range);

	if (!rc && !(range.flags & WIRE_FA_KEEP))
		rc = file_grows(f);
	if (rc)
		return rc;
	rc = file_run(f, space_allocate, &range);
	file_record_write(f, 0,
			  range.flags & WIRE_FA_KEEP ? 0
						     : range.off + range.len,
			  rc, since);
	file_doubt_space(f);
	if (!rc && atomic_load(&f->flags) & O_DSYNC)
		rc = file_sync(f);
	/* an iod of an earlier release */
	return rc == -ENOSYS ? -EOPNOTSUPP : rc;
}
