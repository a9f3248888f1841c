/* SPDX-License-Identifier: BSD-2-Clause */
/* warm.h - blocks that lib_warm reads repeatedly. */
#ifndef WARM_H
#define WARM_H

#include <stdint.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define BLOCK 4096u
#define BLOCKS 8u /* blocks of the race, each in another stripe */
#define AT(i) ((int64_t)(i)*65536 + 8192)

static inline int open_it(const char *name, int flags)
{
	int fd = pvfs_open(name, flags, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static inline unsigned long without(int fd)
{
	struct pvfs_way_counters ways = { 0 };

	EXPECT(pvfs_way_counters(fd, &ways) == 0);
	return (unsigned long)ways.without;
}

/* Fills a block with the number n, so that a torn block is detected. */
static inline void put(int fd, unsigned int i, uint64_t n)
{
	uint64_t data[BLOCK / 8];

	for (unsigned int k = 0; k < BLOCK / 8; k++)
		data[k] = n;
	EXPECT(pvfs_pwrite(fd, data, BLOCK, AT(i)) == BLOCK);
}

static inline uint64_t get(int fd, unsigned int i)
{
	uint64_t data[BLOCK / 8];

	EXPECT(pvfs_pread(fd, data, BLOCK, AT(i)) == BLOCK);
	for (unsigned int k = 1; k < BLOCK / 8; k++)
		EXPECT(data[k] == data[0]);
	return data[0];
}

static inline void fill_all(int fd)
{
	for (unsigned int i = 0; i < BLOCKS; i++)
		put(fd, i, 1);
	put(fd, BLOCKS, 1); /* a block after all others */
}

/* lib_warm FILE lent TAB: see lib_warm.c. */
void warm_lent(const char *name, const char *tab);

#endif
