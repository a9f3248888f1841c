/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_page.c - the page with the counters of one file.  A new page gets its name after it
 * is complete, so a crash leaves no partial page.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/counter/counter_page.h"

#define PAGE_BYTES 4096u
#define NAME_LEN 32u
#define FLAGS (O_RDWR | O_CLOEXEC | O_NOFOLLOW)

static void format_name(struct object_key key, const char *end, char *name)
{
	snprintf(name, NAME_LEN, "%s%s", object_key_text(key).s, end);
}

/* Allocates all blocks, so a full disk cannot fail a store in the mapping. */
static int fill_page(int fd, uint64_t boot)
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

static int create_page(int dirfd, struct object_key key, uint64_t boot,
		       bool durable)
{
	char whole[NAME_LEN], part[NAME_LEN];
	int rc, fd;

	format_name(key, "", whole);
	format_name(key, ".new", part);
	fd = openat(dirfd, part, FLAGS | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return -errno;
	rc = fill_page(fd, boot);
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

static int open_page(int dirfd, struct object_key key, bool create,
		     uint64_t boot, bool durable)
{
	char name[NAME_LEN];
	int fd;

	format_name(key, "", name);
	fd = openat(dirfd, name, FLAGS);
	if (fd >= 0)
		return fd;
	if (errno != ENOENT || !create)
		return -errno;
	return create_page(dirfd, key, boot, durable);
}

/* Reads the page, so that a disk error shows here and not at a store. */
static int check_page(int fd)
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

/* The last values of these counters are unknown. */
static void set_to_ceilings(struct counter_page *page, uint64_t which)
{
	unsigned int i;

	for (i = 0; i < WIRE_COUNTERS; i++)
		if (which >> i & 1)
			page->slot[i].value = page->slot[i].ceiling;
	page->lent = 0;
}

/* Continues after a process that had lent counters, and after an earlier boot. */
static int recover_page(struct counter_map *map, bool durable)
{
	struct counter_page *page = map->page;
	int rc;

	set_to_ceilings(page, page->lent);
	if (!durable || page->boot == map->boot)
		return 0;
	set_to_ceilings(page, UINT64_MAX);
	page->boot = map->boot;
	rc = counter_page_flush(map);
	if (rc)
		page->boot = COUNTER_UNSURE;
	return rc;
}

int counter_page_map(int dirfd, struct object_key key, bool create,
		     uint64_t boot, bool durable, struct counter_map *out)
{
	struct counter_map map = { .boot = boot };
	int rc;

	map.fd = open_page(dirfd, key, create, boot, durable);
	if (map.fd < 0)
		return map.fd;
	rc = check_page(map.fd);
	if (!rc)
		rc = map_page(map.fd, &map.page);
	if (!rc)
		rc = recover_page(&map, durable);
	if (rc)
		counter_page_unmap(&map);
	else
		*out = map;
	return rc;
}

void counter_page_unmap(struct counter_map *map)
{
	if (map->page)
		munmap(map->page, PAGE_BYTES);
	close(map->fd);
	map->page = NULL;
}

int counter_page_flush(const struct counter_map *map)
{
	if (msync(map->page, PAGE_BYTES, MS_SYNC) || fdatasync(map->fd))
		return -errno;
	return 0;
}

int counter_page_unlink(int dirfd, struct object_key key)
{
	char name[NAME_LEN];

	format_name(key, "", name);
	return unlinkat(dirfd, name, 0) && errno != ENOENT ? -errno : 0;
}

int64_t counter_page_ceiling(int64_t value, int64_t step)
{
	int64_t ahead;

	if (__builtin_mul_overflow(step, (int64_t)COUNTER_CEILING_STEPS,
				   &ahead))
		return INT64_MAX;
	if (ahead < (int64_t)COUNTER_CEILING_MIN)
		ahead = COUNTER_CEILING_MIN;
	return __builtin_add_overflow(value, ahead, &ahead) ? INT64_MAX : ahead;
}

int counter_page_set_ceiling(struct counter_map *map, unsigned int number,
			     int64_t ceiling)
{
	struct counter_page *page = map->page;
	int64_t before = page->slot[number].ceiling;
	int rc;

	page->slot[number].ceiling = ceiling;
	page->boot = map->boot;
	rc = counter_page_flush(map);
	if (!rc)
		return 0;
	page->slot[number].ceiling = before;
	page->boot = COUNTER_UNSURE;
	return rc;
}
