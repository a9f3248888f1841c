/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk.c - a number for the file system below a store: device numbers mean
 * something on one host only, and until it is booted again.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "store_int.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static ssize_t read_boot_id(char *text, size_t len)
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, len);
	close(fd);
	return n;
}

uint64_t store_disk(struct store *store)
{
	struct stat sb;
	char text[64];
	ssize_t n = read_boot_id(text, sizeof(text));

	if (n <= 0 || fstat(store->objfd, &sb))
		return 0;
	return XXH3_64bits_withSeed(text, (size_t)n, sb.st_dev) ?: 1;
}
