/* SPDX-License-Identifier: BSD-2-Clause */
/* maps.c - reads /proc/self/maps. */
#include <errno.h>
#include <stdio.h>

#include "common/buffer/watch_int.h"

struct map {
	uintptr_t lo, hi;
	bool anon; /* anonymous, private, readable */
};

/* 7f00-7f01 rw-p 00000000 00:00 0   [heap] */
static bool read_map(FILE *f, struct map *map)
{
	unsigned long lo, hi, inode;
	char perms[5];
	int c;

	if (fscanf(f, "%lx-%lx %4s %*x %*x:%*x %lu", &lo, &hi, perms, &inode) !=
	    4)
		return false;
	do {
		c = getc(f);
	} while (c != '\n' && c != EOF);
	*map = (struct map){ lo, hi,
			     perms[0] == 'r' && perms[3] == 'p' && !inode };
	return true;
}

static FILE *open_maps(void)
{
	return fopen("/proc/self/maps", "re");
}

int maps_around(uintptr_t lo, uintptr_t hi, struct range *whole)
{
	FILE *f = open_maps();
	uintptr_t at = lo;
	struct map map;

	if (!f)
		return -errno;
	while (at < hi && read_map(f, &map)) {
		if (map.hi <= at)
			continue;
		if (map.lo > at || !map.anon)
			break;
		if (at == lo)
			whole->lo = map.lo;
		whole->hi = at = map.hi;
	}
	fclose(f);
	return at < hi ? -EINVAL : 0;
}

int maps_each(void (*fn)(void *arg, uintptr_t lo, uintptr_t hi), void *arg)
{
	FILE *f = open_maps();
	struct map map;

	if (!f)
		return -errno;
	while (read_map(f, &map))
		if (map.anon)
			fn(arg, map.lo, map.hi);
	fclose(f);
	return 0;
}
