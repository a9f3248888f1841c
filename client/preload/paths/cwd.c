/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cwd.c - the current directory, and absolute names without symbolic links.
 *
 * If a directory of ours is the current directory, the kernel's current directory
 * is meanwhile a directory that was already removed.  So calls that this library does not
 * see can neither find nor create anything there.  It has the name of our directory, so
 * that a program after fork(), exec() or vfork() can find the name:
 *
 * 	/proc/self/cwd -> /tmp/pvfs-cwd.x1y2z3/pvfs/a/b (deleted)
 */
#undef _FILE_OFFSET_BITS
#include <pvfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/preload/export.h"
#include "client/preload/paths/startup.h"
#include "client/preload/route/libc.h"
#include "client/preload/route/refuse.h"
#include "client/preload/route/route.h"

#define NAME_PREFIX "/pvfs-cwd."
#define LETTERS 6
#define DELETED_SUFFIX " (deleted)"
#define MAX_LINKS 40
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

extern void __chk_fail(void) __attribute__((noreturn));

EXPORT int chdir(const char *path);
EXPORT int fchdir(int fd);
EXPORT char *getcwd(char *buf, size_t size);
EXPORT char *__getcwd_chk(char *buf, size_t size, size_t room);
EXPORT char *get_current_dir_name(void);
EXPORT char *realpath(const char *path, char *resolved);
EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room);
EXPORT char *canonicalize_file_name(const char *path);

/* ---- the kernel's current directory ---- */

/* Creates all directories on path that start at offset from. */
static int make_dirs(char *path, size_t from)
{
	char *slash = path + from;
	int rc = 0;

	while (!rc && slash) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		rc = libc()->mkdir(path, 0700);
		if (slash)
			*slash = '/';
	}
	return rc;
}

/* Removes these directories, and the one that contains them. */
static void remove_dirs(char *path, size_t from)
{
	while (strlen(path) >= from) {
		libc()->rmdir(path);
		*strrchr(path, '/') = '\0';
	}
}

/* Makes a removed directory the kernel's current directory. */
static int enter_removed_dir(const char *name)
{
	const char *tmp = secure_getenv("TMPDIR");
	char path[PATH_MAX];
	size_t from;
	int n, rc;

	n = snprintf(path, sizeof(path), "%s" NAME_PREFIX "XXXXXX",
		     tmp && *tmp == '/' ? tmp : "/tmp");
	if (n < 0 || (size_t)n + strlen(name) >= sizeof(path) ||
	    !libc()->mkdtemp(path))
		return -1;
	from = strlen(path);
	strcpy(path + from, name);
	rc = make_dirs(path, from);
	if (!rc)
		rc = libc()->chdir(path);
	remove_dirs(path, from);
	return rc;
}

/* Returns the current directory of the previous program, or NULL. */
static const char *inherited_cwd(char path[PATH_MAX])
{
	ssize_t n = libc()->readlinkat(AT_FDCWD, "/proc/self/cwd", path,
				       PATH_MAX - 1);
	const size_t suffix = sizeof(DELETED_SUFFIX) - 1;
	char *mark;

	if (n < (ssize_t)suffix ||
	    memcmp(path + n - suffix, DELETED_SUFFIX, suffix))
		return NULL;
	path[(size_t)n - suffix] = '\0';
	mark = strstr(path, NAME_PREFIX);
	if (!mark || strlen(mark) <= sizeof(NAME_PREFIX) - 1 + LETTERS)
		return NULL;
	mark += sizeof(NAME_PREFIX) - 1 + LETTERS;
	return *mark == '/' ? mark : NULL;
}

/*
 * Any user can create such a directory, start a program in it and remove it.  Only those
 * of root and of this user are trusted.
 */
static bool cwd_is_trusted(void)
{
	struct stat st;

	return !libc()->stat(".", &st) &&
	       (!st.st_uid || st.st_uid == geteuid());
}

void cwd_begin(void)
{
	char path[PATH_MAX];
	const char *name;
	int saved = errno;

	if (!libc()->getcwd(path, sizeof(path)) &&
	    (name = inherited_cwd(path)) && cwd_is_trusted())
		route_set_cwd(name);
	errno = saved;
}

/* ---- absolute names, found with the calls that the program uses ---- */

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

/* Whether st is the root directory of a mount.  If so, dir gets the path of the mount point. */
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

/*
 * Finds the name of an open directory, on PVFS or not.  For PVFS, goes up to the root, and searches
 * each parent directory for the entry of its child.  Returns 0, or -1 with errno: EACCES,
 * ENAMETOOLONG, ENOENT.
 */
static int name_of_dir(int dir, char name[PATH_MAX])
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

/*
 * name is the path of a directory.  Replaces it by the path of the entry base in this directory,
 * and follows symbolic links.
 */
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
		rc = name_of_dir(fd, name);
		close(fd);
		return rc;
	}
	if (errno != ENOTDIR || split_path(path, dir, &base) ||
	    resolve_path(dir, name, links + 1))
		return -1;
	return resolve_file(base, name, links);
}

/* ---- changing the directory ---- */

static int finish_kernel_chdir(int rc)
{
	if (!rc) {
		route_set_cwd(NULL);
		roots_check_cwd();
	}
	return rc;
}

static int enter_pvfs_dir(int dir)
{
	char name[PATH_MAX];

	if (PVFS(pvfs_faccessat(dir, ".", X_OK, AT_EACCESS)) ||
	    name_of_dir(dir, name))
		return -1;
	if (enter_removed_dir(name))
		return refuse_path("chdir (without a folder for temporary "
				   "files)",
				   name, ENOTSUP);
	route_set_cwd(name);
	return 0;
}

int fchdir(int fd)
{
	enum route route = route_fd(fd, __func__);

	if (route == ROUTE_KERNEL)
		return finish_kernel_chdir(libc()->fchdir(fd));
	return route == ROUTE_PVFS ? enter_pvfs_dir(fd) : -1;
}

int chdir(const char *path)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, path, __func__);
	int fd, rc;

	if (route == ROUTE_KERNEL)
		return finish_kernel_chdir(libc()->chdir(path));
	if (route == ROUTE_REFUSED)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = fchdir(fd);
	close(fd);
	return rc;
}

/* ---- names ---- */

/* Returns a name like getcwd(): without a buffer, in allocated memory. */
static char *copy_name(const char *name, char *buf, size_t size)
{
	size_t len = strlen(name) + 1;

	if (buf ? len > size : size && len > size) {
		errno = buf && !size ? EINVAL : ERANGE;
		return NULL;
	}
	if (!buf)
		buf = malloc(size ? size : len);
	return buf && !copy_out(buf, name, len) ? buf : NULL;
}

char *getcwd(char *buf, size_t size)
{
	char name[PATH_MAX];

	return !pvfs_call_depth && route_get_cwd(name)
		       ? copy_name(name, buf, size)
		       : libc()->getcwd(buf, size);
}

char *__getcwd_chk(char *buf, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return getcwd(buf, size);
}

char *get_current_dir_name(void)
{
	return getcwd(NULL, 0);
}

char *realpath(const char *path, char *resolved)
{
	struct pvfs_path at;
	enum route route = route_path(&at, AT_FDCWD, path, __func__);
	char name[PATH_MAX];

	if (route == ROUTE_KERNEL)
		return libc()->realpath(path, resolved);
	if (route == ROUTE_REFUSED || resolve_path(path, name, 0))
		return NULL;
	return copy_name(name, resolved, resolved ? PATH_MAX : 0);
}

char *__realpath_chk(const char *path, char *resolved, size_t room)
{
	if (room < PATH_MAX)
		__chk_fail();
	return realpath(path, resolved);
}

char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}
