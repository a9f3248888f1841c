/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_page.c - pages on the disk.  A new one gets its name when it is whole, so a
 * crash leaves none that is cut short.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/counter/counter_int.h"

#define PAGE_BYTES 4096u
#define NAME_LEN 32u
#define FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW)

static void name_of(uint64_t handle, const char *end, char *name)
{
	snprintf(name, NAME_LEN, "%016llx%s", (unsigned long long)handle, end);
}

/* Its space is there: a store in the mapping never lacks it. */
static int fill(int fd, uint64_t boot)
{
	struct counter_page page = { .magic = COUNTER_MAGIC, .boot = boot };
	int rc = -posix_fallocate(fd, 0, PAGE_BYTES);
	ssize_t n;

	if (rc)
		return rc;
	n = pwrite(fd, &page, sizeof(page), 0);
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(page) ? 0 : -EIO;
}

static int make(int dirfd, uint64_t handle, uint64_t boot, bool durable)
{
	char whole[NAME_LEN], part[NAME_LEN];
	int rc, fd;

	name_of(handle, "", whole);
	name_of(handle, ".new", part);
	fd = openat(dirfd, part, FLAGS | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return -errno;
	rc = fill(fd, boot);
	if (!rc && durable && fsync(fd))
		rc = -errno;
	if (!rc && renameat(dirfd, part, dirfd, whole))
		rc = -errno;
	if (!rc && durable && fsync(dirfd))
		rc = -errno;
	if (!rc)
		return fd;
	unlinkat(dirfd, part, 0);
	close(fd);
	return rc;
}

static int open_page(int dirfd, uint64_t handle, bool create, uint64_t boot,
		     bool durable)
{
	char name[NAME_LEN];
	int fd;

	name_of(handle, "", name);
	fd = openat(dirfd, name, FLAGS);
	if (fd >= 0)
		return fd;
	if (errno != ENOENT || !create)
		return -errno;
	return make(dirfd, handle, boot, durable);
}

/* Read once, so that a disk that fails says so here and not at a store. */
static int check(int fd)
{
	struct counter_page page;
	ssize_t n = pread(fd, &page, sizeof(page), 0);
	struct stat st;

	if (n < 0 || fstat(fd, &st))
		return -errno;
	if (n < (ssize_t)sizeof(page) || st.st_size != PAGE_BYTES ||
	    page.magic != COUNTER_MAGIC)
		return -EUCLEAN;
	return 0;
}

static int map_page(int fd, struct counter_page **page)
{
	void *p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);

	if (p == MAP_FAILED)
		return -errno;
	*page = p;
	return 0;
}

/* How far they came is not known. */
static void from_ceilings(struct counter_page *page, uint64_t which)
{
	unsigned int i;

	for (i = 0; i < WIRE_COUNTERS; i++)
		if (which >> i & 1)
			page->slot[i].value = page->slot[i].ceiling;
	page->lent = 0;
}

/* What another process had lent, and what another life of the host had. */
static int go_on(struct counter_map *map, uint64_t boot, bool durable)
{
	struct counter_page *page = map->page;
	int rc;

	from_ceilings(page, page->lent);
	if (!durable || page->boot == boot)
		return 0;
	from_ceilings(page, UINT64_MAX);
	page->boot = boot;
	rc = counter_flush(map);
	if (rc)
		page->boot = COUNTER_UNSURE;
	return rc;
}

int counter_map(int dirfd, uint64_t handle, bool create, uint64_t boot,
		bool durable, struct counter_map *out)
{
	struct counter_map map = { .page = NULL };
	int rc;

	map.fd = open_page(dirfd, handle, create, boot, durable);
	if (map.fd < 0)
		return map.fd;
	rc = check(map.fd);
	if (!rc)
		rc = map_page(map.fd, &map.page);
	if (!rc)
		rc = go_on(&map, boot, durable);
	if (rc)
		counter_unmap(&map);
	else
		*out = map;
	return rc;
}

void counter_unmap(struct counter_map *map)
{
	if (map->page)
		munmap(map->page, PAGE_BYTES);
	close(map->fd);
	map->page = NULL;
}

int counter_flush(const struct counter_map *map)
{
	if (msync(map->page, PAGE_BYTES, MS_SYNC) || fdatasync(map->fd))
		return -errno;
	return 0;
}

int counter_unlink(int dirfd, uint64_t handle)
{
	char name[NAME_LEN];

	name_of(handle, "", name);
	return unlinkat(dirfd, name, 0) && errno != ENOENT ? -errno : 0;
}
