/* SPDX-License-Identifier: BSD-2-Clause */
/* path.c - finding the mount that contains a path. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/mount/pvfstab.h"

int path_absolute(const char *path, char buf[PATH_MAX])
{
	size_t len = strlen(path), dir = 0;

	if (!len)
		return -ENOENT;
	if (*path != '/') {
		if (!getcwd(buf, PATH_MAX))
			return errno == ERANGE ? -ENAMETOOLONG : -errno;
		dir = strlen(buf);
		buf[dir++] = '/';
	}
	if (dir + len >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(buf + dir, path, len + 1);
	return 0;
}

int path_redirected(const struct mount *mount, const char *target,
		    char buf[PATH_MAX])
{
	int dir, n;

	if (*target == '/') {
		n = snprintf(buf, PATH_MAX, "%s", target);
	} else {
		if (strncmp(target, "..", 2) || (target[2] && target[2] != '/'))
			return -EPROTO;
		dir = (int)(strrchr(mount->dir, '/') - mount->dir);
		n = snprintf(buf, PATH_MAX, "%.*s/%s", dir, mount->dir,
			     target + 2);
	}
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* A path without "." and "//", and with ".." resolved textually. */
struct plain {
	char path[PATH_MAX];
	size_t len;
};

static bool plain_add(struct plain *p, const char *name, size_t len)
{
	if (p->len + 1 + len >= sizeof(p->path))
		return false;
	p->path[p->len++] = '/';
	memcpy(p->path + p->len, name, len);
	p->len += len;
	return true;
}

static void plain_up(struct plain *p)
{
	while (p->len && p->path[--p->len] != '/')
		;
}

static const struct mount *mount_at(const struct pvfstab *tab,
				    const struct plain *p)
{
	unsigned int i;

	for (i = 0; i < tab->n; i++) {
		const char *dir = tab->mount[i].dir + 1;
		size_t len = strlen(dir);

		if (len ? p->len == len + 1 && !memcmp(p->path + 1, dir, len)
			: p->len == 0)
			return &tab->mount[i];
	}
	return NULL;
}

const struct mount *pvfstab_find(const struct pvfstab *tab, const char *path,
				 const char **rest)
{
	const struct mount *found = NULL, *m;
	struct plain plain = { .len = 0 };

	for (;;) {
		size_t len;

		path += strspn(path, "/");
		m = mount_at(tab, &plain);
		if (m) {
			found = m;
			*rest = path;
		}
		len = strcspn(path, "/");
		if (!len)
			return found;
		if (len == 2 && !memcmp(path, "..", 2)) {
			if (found)
				return found;
			plain_up(&plain);
		} else if (len != 1 || *path != '.') {
			if (!plain_add(&plain, path, len))
				return found;
		}
		path += len;
	}
}
