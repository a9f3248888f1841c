/* SPDX-License-Identifier: BSD-2-Clause */
/* warm.h - blocks that are read again and again, for lib_warm. */
#ifndef WARM_H
#define WARM_H

#include <stdint.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define BLOCK 4096u
#define BLOCKS 8u /* of the race; in stripes of 64 KiB */
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

/* Number n, all over it: so a block that is not whole is seen. */
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
	put(fd, BLOCKS, 1); /* behind them */
}

/* lib_warm FILE lent TAB: see lib_warm.c. */
void warm_lent(const char *name, const char *tab);

#endif
