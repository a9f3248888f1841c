/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nosync.c - a library to preload, in which fsync() and the like succeed and do nothing.  It
 * simulates a disk that reports data as stable that is not.
 */
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
