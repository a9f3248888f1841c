/* SPDX-License-Identifier: BSD-2-Clause */
/* nosync.c - to be preloaded: storage that says "stable" and is not. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((visibility("default"))) int fsync(int fd)
{
	return 0;
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	return 0;
}

__attribute__((visibility("default"))) int syncfs(int fd)
{
	return 0;
}
