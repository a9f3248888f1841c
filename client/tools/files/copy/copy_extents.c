/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_extents.c - where a source has data, and where it has holes. */
#include <errno.h>
#include <unistd.h>

#include "client/tools/files/copy/copy.h"

/* Asking all iods costs as much as reading this many bytes. */
#define ASK_LEAST (1u << 20)

/* True: the file cannot tell where it has data. */
static bool cannot_tell(int err)
{
	return err == EINVAL || err == ESPIPE || err == EOPNOTSUPP ||
	       err == ENOSYS;
}

/*
 * Finds the first data or hole in [off, end), else end.  If the file cannot tell, *at
 * is otherwise.
 */
static int seek_to(int fd, int whence, uint64_t off, uint64_t end,
		   uint64_t otherwise, uint64_t *at)
{
	int64_t found = pvfs_lseek(fd, (int64_t)off, whence);

	if (found >= 0) {
		*at = (uint64_t)found < end ? (uint64_t)found : end;
		return 0;
	}
	*at = errno == ENXIO ? end : otherwise;
	return errno == ENXIO || cannot_tell(errno) ? 0 : -errno;
}

int copy_find_data(int fd, uint64_t off, uint64_t end, struct copy_extent *data)
{
	struct copy_extent e = { off, end };
	int rc = 0;

	if (!pvfs_is_pvfs_fd(fd) || end - off >= ASK_LEAST) {
		rc = seek_to(fd, SEEK_DATA, off, end, off, &e.from);
		if (!rc && e.from < end)
			rc = seek_to(fd, SEEK_HOLE, e.from, end, end, &e.end);
	}
	if (!rc)
		*data = e;
	return rc;
}

int copy_next_data(struct copy_file *f, uint64_t off, uint64_t end,
		   struct copy_extent *data)
{
	int rc = copy_find_data(f->in, off, end, data);

	if (!rc)
		return 0;
	errno = -rc;
	copy_failed(f->copy, f->from);
	return -1;
}
