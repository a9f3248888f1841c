/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c - removes a tree of this user.  Others may guess its name, and may make
 * files in its parent folder.  So it works with descriptors, which no link redirects,
 * and enters only folders of this user.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/job/parts/place.h"

#define DEEPEST 64u /* nested folders; each needs a descriptor */

static void remove_below(int dir, dev_t dev, unsigned int depth);

/* Opens a folder of this user, on that device; -1. */
static int open_own(int at, const char *name, const dev_t *dev, struct stat *st)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && st->st_uid == geteuid() &&
	    (!dev || *dev == st->st_dev))
		return fd;
	close(fd);
	return -1;
}

static void remove_entry(int dir, const char *name, dev_t dev,
			 unsigned int depth)
{
	struct stat st;
	int fd;

	if (!strcmp(name, ".") || !strcmp(name, "..") ||
	    !unlinkat(dir, name, 0) || depth == DEEPEST)
		return;
	fd = open_own(dir, name, &dev, &st);
	if (fd < 0)
		return;
	remove_below(fd, dev, depth + 1);
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* Takes over dir. */
static void remove_below(int dir, dev_t dev, unsigned int depth)
{
	DIR *d = fdopendir(dir);
	struct dirent *e;

	if (!d) {
		close(dir);
		return;
	}
	while ((e = readdir(d)))
		remove_entry(dir, e->d_name, dev, depth);
	closedir(d);
}

void remove_own_tree(const char *path)
{
	struct stat st;
	int fd = open_own(AT_FDCWD, path, NULL, &st);

	if (fd < 0)
		return;
	remove_below(fd, st.st_dev, 0);
	rmdir(path);
}
