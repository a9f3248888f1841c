/* SPDX-License-Identifier: BSD-2-Clause */
/* refuse.c - see refuse.h. */
#include "client/preload/route/refuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINES 50

/* Uses write(), because standard error may itself be a file of PVFS. */
__attribute__((format(printf, 2, 3))) static int
refuse_call(int error, const char *fmt, ...)
{
	static atomic_int lines;
	const char *how = secure_getenv("PVFS_LOG");
	char line[512];
	va_list ap;
	int n;

	if ((!how || strcmp(how, "none")) &&
	    atomic_fetch_add(&lines, 1) < MAX_LINES) {
		va_start(ap, fmt);
		n = vsnprintf(line, sizeof(line), fmt, ap);
		va_end(ap);
		if (n > 0 && (size_t)n < sizeof(line) &&
		    write(STDERR_FILENO, line, (size_t)n) < 0)
			atomic_fetch_sub(&lines, 1);
	}
	errno = error;
	return -1;
}

int refuse_path(const char *call, const char *path, int error)
{
	return refuse_call(
		error,
		"pvfs-preload: %s of %.200s: not without a mount; mount "
		"it with pvfs-fuse, or use pvfs-cp and the like\n",
		call, path);
}

int refuse_fd(const char *call, int fd, int error)
{
	return refuse_call(
		error,
		"pvfs-preload: %s of descriptor %d, a file of PVFS: not "
		"without a mount; mount it with pvfs-fuse\n",
		call, fd);
}

int refuse_lost(const char *call, int fd)
{
	return refuse_call(
		EBADF,
		"pvfs-preload: %s of descriptor %d: a file of PVFS that "
		"the program before did not hand over; open it here, or "
		"mount it with pvfs-fuse\n",
		call, fd);
}
