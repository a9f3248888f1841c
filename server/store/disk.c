/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk.c - a number for the file system below a store: device numbers mean
 * something on one host only, and until it is booted again.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store_int.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *byte = data;

	while (len--)
		hash = (hash ^ *byte++) * 0x100000001b3u;
	return hash;
}

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
	uint64_t hash = 0xcbf29ce484222325u;
	struct stat sb;
	char text[64];
	ssize_t n = read_boot_id(text, sizeof(text));

	if (n <= 0 || fstat(store->objfd, &sb))
		return 0;
	hash = mix(hash, text, (size_t)n);
	hash = mix(hash, &sb.st_dev, sizeof(sb.st_dev));
	return hash ? hash : 1;
}
