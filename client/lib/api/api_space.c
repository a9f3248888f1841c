/* SPDX-License-Identifier: BSD-2-Clause */
/* api_space.c - fallocate. */
#include <fcntl.h>

#include "api_int.h"
#include "rw.h"

int pvfs_fallocate(int fd, int mode, int64_t off, int64_t len)
{
	struct file *f = api_file(fd);
	int rc;

	if (!f)
		return fallocate(fd, mode, off, len);
	rc = rw_allocate(f, mode, off, len);
	file_put(f);
	return api_int(rc);
}
