/* SPDX-License-Identifier: BSD-2-Clause */
/* fds.h - counts the open descriptors of a process, to compare two counts. */
#ifndef FDS_H
#define FDS_H

#include <dirent.h>

#include "tests/e2e/lib/expect.h"

static inline int count_fds(void)
{
	DIR *fds = opendir("/proc/self/fd");
	int n = 0;

	EXPECT(fds);
	while (readdir(fds))
		n++;
	closedir(fds);
	return n;
}

#endif
