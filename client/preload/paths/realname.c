/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * realname.c - see realname.h.  From an open directory it walks up to the root, and
 * searches each parent for the name of the directory that it came from.
 */
#undef _FILE_OFFSET_BITS
#include "client/preload/paths/realname.h"

#include <pvfs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/route/libc.h"
#include "client/preload/route/route.h"

#define MAX_LINKS 40
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* Sets name to head/tail, where tail is its previous value. */
static int prepend_name(char name[PATH_MAX], const char *head)
{
	size_t len = strlen(head), have = strlen(name);
	bool slash = *name && *name != '/';

	if (len + slash + have >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memmove(name + len + slash, name, have + 1);
	memcpy(name, head, len);
	if (slash)
		name[len] = '/';
	return 0;
}

/* True: it is the root of a mount point, which is copied to dir. */
static bool is_root(const struct stat *st, char dir[PATH_MAX])
{
	struct stat root;
	unsigned int i;

	for (i = 0; !PVFS(pvfs_mount_point(i, dir, PATH_MAX)); i++) {
		if (!PVFS(pvfs_stat(dir, &root)) && root.st_dev == st->st_dev &&
		    root.st_ino == st->st_ino)
			return true;
	}
	return false;
}

/* Finds the name of an object in a directory. */
static int find_entry(int parent, ino_t ino, char name[NAME_MAX + 1])
{
	int copy = openat(parent, ".", OPEN_DIR);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e = NULL;

	while (dir && (e = readdir(dir))) {
		if (e->d_ino == ino && strcmp(e->d_name, ".") &&
		    strcmp(e->d_name, ".."))
			break;
	}
	if (e)
		snprintf(name, NAME_MAX + 1, "%s", e->d_name);
	else
		errno = ENOENT;
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
	return e ? 0 : -1;
}

static int kernel_name(int dir, char name[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = libc()->readlinkat(AT_FDCWD, link, name, PATH_MAX - 1);
	if (n < 0)
		return -1;
	name[n] = '\0';
	return 0;
}

/* One step up; *dir becomes its parent.  Returns 1 at a root, 0, or -1. */
static int prepend_parent(int *dir, char name[PATH_MAX])
{
	char part[PATH_MAX];
	struct stat st;
	int parent, rc;

	if (fstat(*dir, &st))
		return -1;
	if (is_root(&st, part))
		return prepend_name(name, part) ? -1 : 1;
	parent = openat(*dir, "..", OPEN_DIR);
	if (parent < 0)
		return -1;
	rc = find_entry(parent, st.st_ino, part);
	if (!rc)
		rc = prepend_name(name, part);
	close(*dir);
	*dir = parent;
	return rc;
}

int realname_dir(int dir, char name[PATH_MAX])
{
	int rc;

	if (route_fd(dir, "getcwd") != ROUTE_PVFS)
		return kernel_name(dir, name);
	*name = '\0';
	dir = openat(dir, ".", OPEN_DIR);
	if (dir < 0)
		return -1;
	do {
		rc = prepend_parent(&dir, name);
	} while (!rc);
	close(dir);
	return rc < 0 ? -1 : 0;
}

/* ---- paths ---- */

static int join_names(char *to, const char *dir, const char *path)
{
	int n = snprintf(to, PATH_MAX, "%s%s%s", *path == '/' ? "" : dir,
			 *path == '/' ? "" : "/", path);

	if (n < PATH_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

/* For a path that is no directory: dir gets the directory part, base the last name. */
static int split_path(const char *path, char dir[PATH_MAX], const char **base)
{
	const char *slash = strrchr(path, '/');

	*base = slash ? slash + 1 : path;
	if (slash)
		snprintf(dir, PATH_MAX, "%.*s", (int)(slash - path + 1), path);
	else
		strcpy(dir, ".");
	if (**base)
		return 0;
	errno = ENOTDIR;
	return -1;
}

static int resolve_path(const char *path, char name[PATH_MAX], int links);

/* name is that of the directory; becomes that of base in it. */
static int resolve_file(const char *base, char name[PATH_MAX], int links)
{
	char file[PATH_MAX], target[PATH_MAX];
	ssize_t n;

	if (join_names(file, name, base))
		return -1;
	n = readlink(file, target, sizeof(target) - 1);
	if (n < 0 && errno != EINVAL)
		return -1;
	if (n < 0) {
		strcpy(name, file);
		return 0;
	}
	target[n] = '\0';
	return join_names(file, name, target)
		       ? -1
		       : resolve_path(file, name, links + 1);
}

static int resolve_path(const char *path, char name[PATH_MAX], int links)
{
	char dir[PATH_MAX];
	const char *base;
	int fd, rc;

	if (links > MAX_LINKS) {
		errno = ELOOP;
		return -1;
	}
	fd = open(path, OPEN_DIR);
	if (fd >= 0) {
		rc = realname_dir(fd, name);
		close(fd);
		return rc;
	}
	if (errno != ENOTDIR || split_path(path, dir, &base) ||
	    resolve_path(dir, name, links + 1))
		return -1;
	return resolve_file(base, name, links);
}

int realname_path(const char *path, char name[PATH_MAX])
{
	return resolve_path(path, name, 0);
}
