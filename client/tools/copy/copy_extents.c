/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_extents.c - where a source has data, and where holes. */
#include <errno.h>
#include <unistd.h>

#include "copy.h"

/* To ask all iods costs as much as to read so many bytes. */
#define ASK_LEAST (1u << 20)

/* Not every file can tell. */
static bool cannot_tell(int err)
{
	return err == EINVAL || err == ESPIPE || err == EOPNOTSUPP ||
	       err == ENOSYS;
}

/* In [off, end): the first place of that kind, else end; where nobody can tell,
 * otherwise.  0 and *at, or -1 after a message. */
static int find(struct copy_file *f, int whence, uint64_t off, uint64_t end,
		uint64_t otherwise, uint64_t *at)
{
	int64_t found = pvfs_lseek(f->in, (int64_t)off, whence);

	if (found >= 0) {
		*at = (uint64_t)found < end ? (uint64_t)found : end;
		return 0;
	}
	*at = errno == ENXIO ? end : otherwise;
	if (errno == ENXIO || cannot_tell(errno))
		return 0;
	copy_failed(f->copy, f->from);
	return -1;
}

int copy_next_data(struct copy_file *f, uint64_t off, uint64_t end,
		   struct copy_extent *data)
{
	if (pvfs_is_pvfs_fd(f->in) && end - off < ASK_LEAST) {
		*data = (struct copy_extent){ off, end };
		return 0;
	}
	if (find(f, SEEK_DATA, off, end, off, &data->from))
		return -1;
	data->end = end;
	return data->from == end
		       ? 0
		       : find(f, SEEK_HOLE, data->from, end, end, &data->end);
}
