/* SPDX-License-Identifier: BSD-2-Clause */
/* opens.h - files of a test's folder. */
#ifndef OPENS_H
#define OPENS_H

#include <pvfs.h>

#include "tests/e2e/lib/expect.h"

/* Opens a file in dir.  With O_CREAT its mode is 0644. */
static inline int open_in(const char *dir, const char *name, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = pvfs_open(path, flags, 0644);
	EXPECT(fd >= 0);
	return fd;
}

#endif
