/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c - listing the objects of a store, a few at a time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/store/store_int.h"

#define LEAVES_MAX 64 /* directories that one call reads */

/* The cap smallest handles above `after`, sorted. */
struct list {
	uint64_t after;
	uint64_t *handle;
	uint32_t n, cap;
	bool more; /* there are more than cap */
};

static void list_add(struct list *l, uint64_t handle)
{
	uint32_t i = l->n;

	if (handle <= l->after)
		return;
	if (l->n == l->cap) {
		l->more = true;
		if (handle > l->handle[--i])
			return;
	} else {
		l->n++;
	}
	for (; i && l->handle[i - 1] > handle; i--)
		l->handle[i] = l->handle[i - 1];
	l->handle[i] = handle;
}

/* False: this is not the name of an object. */
static bool parse_name(const char *name, uint64_t *handle)
{
	if (strlen(name) != 16 || strspn(name, "0123456789abcdef") != 16)
		return false;
	*handle = strtoull(name, NULL, 16);
	return *handle != 0;
}

static int read_leaf(DIR *dir, uint32_t leaf, struct list *l)
{
	struct dirent *d;
	uint64_t handle;

	errno = 0;
	while ((d = readdir(dir))) {
		if (parse_name(d->d_name, &handle) &&
		    objpath_leaf(handle) == leaf)
			list_add(l, handle);
		errno = 0;
	}
	return -errno;
}

static int list_leaf(struct store *store, uint32_t leaf, struct list *l)
{
	char path[OBJPATH_LEN];
	DIR *dir;
	int fd, rc;

	snprintf(path, sizeof(path), "%02x/%02x",
		 leaf / OBJPATH_FAN % OBJPATH_FAN, leaf % OBJPATH_FAN);
	fd = openat(store->objfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = read_leaf(dir, leaf, l);
	closedir(dir);
	return rc;
}

int store_walk(struct store *store, struct store_place *place, uint64_t *handle,
	       uint32_t cap, uint32_t *n)
{
	struct store_place at = *place;
	uint32_t got = 0;

	for (int i = 0; i < LEAVES_MAX && got < cap; i++) {
		struct list l = { at.after, handle + got, 0, cap - got, false };
		int rc;

		if (at.leaf >= OBJPATH_LEAVES) {
			at.leaf = STORE_LEAF_END;
			break;
		}
		rc = list_leaf(store, at.leaf, &l);
		if (rc)
			return rc;
		got += l.n;
		if (l.more) {
			at.after = handle[got - 1];
			break;
		}
		at.after = 0;
		at.leaf++;
	}
	*place = at;
	*n = got;
	return 0;
}
