/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cwd.c - a directory of ours as the current directory.  The kernel's current directory
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

#include "client/preload/paths/begin.h"
#include "client/preload/paths/realname.h"
#include "client/preload/paths/refuse.h"
#include "client/preload/paths/seen.h"
#include "client/preload/paths/under.h"
#include "client/preload/paths/whose.h"

#define MARK "/pvfs-cwd."
#define LETTERS 6
#define GONE " (deleted)"

extern void __chk_fail(void) __attribute__((noreturn));

SEEN int chdir(const char *path);
SEEN int fchdir(int fd);
SEEN char *getcwd(char *buf, size_t size);
SEEN char *__getcwd_chk(char *buf, size_t size, size_t room);
SEEN char *get_current_dir_name(void);
SEEN char *realpath(const char *path, char *resolved);
SEEN char *__realpath_chk(const char *path, char *resolved, size_t room);
SEEN char *canonicalize_file_name(const char *path);

/* ---- the kernel's current directory ---- */

/* Creates all directories on path that start at offset from. */
static int make_way(char *path, size_t from)
{
	char *slash = path + from;
	int rc = 0;

	while (!rc && slash) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		rc = under()->mkdir(path, 0700);
		if (slash)
			*slash = '/';
	}
	return rc;
}

/* Removes these directories, and the one that contains them. */
static void remove_way(char *path, size_t from)
{
	while (strlen(path) >= from) {
		under()->rmdir(path);
		*strrchr(path, '/') = '\0';
	}
}

/* Makes a removed directory the kernel's current directory. */
static int go_nowhere(const char *name)
{
	const char *tmp = secure_getenv("TMPDIR");
	char path[PATH_MAX];
	size_t from;
	int n, rc;

	n = snprintf(path, sizeof(path), "%s" MARK "XXXXXX",
		     tmp && *tmp == '/' ? tmp : "/tmp");
	if (n < 0 || (size_t)n + strlen(name) >= sizeof(path) ||
	    !under()->mkdtemp(path))
		return -1;
	from = strlen(path);
	strcpy(path + from, name);
	rc = make_way(path, from);
	if (!rc)
		rc = under()->chdir(path);
	remove_way(path, from);
	return rc;
}

/* Returns the current directory of the previous program, or NULL. */
static const char *stood(char path[PATH_MAX])
{
	ssize_t n = under()->readlinkat(AT_FDCWD, "/proc/self/cwd", path,
					PATH_MAX - 1);
	const size_t gone = sizeof(GONE) - 1;
	char *mark;

	if (n < (ssize_t)gone || memcmp(path + n - gone, GONE, gone))
		return NULL;
	path[(size_t)n - gone] = '\0';
	mark = strstr(path, MARK);
	if (!mark || strlen(mark) <= sizeof(MARK) - 1 + LETTERS)
		return NULL;
	mark += sizeof(MARK) - 1 + LETTERS;
	return *mark == '/' ? mark : NULL;
}

/*
 * Any user can create such a directory, start a program in it and remove it.  Only those
 * of root and of this user are trusted.
 */
static bool is_ours(void)
{
	struct stat st;

	return !under()->stat(".", &st) &&
	       (!st.st_uid || st.st_uid == geteuid());
}

void cwd_begin(void)
{
	char path[PATH_MAX];
	const char *name;
	int saved = errno;

	if (!under()->getcwd(path, sizeof(path)) && (name = stood(path)) &&
	    is_ours())
		whose_set_cwd(name);
	errno = saved;
}

/* ---- changing the directory ---- */

static int gone_to_kernels(int rc)
{
	if (!rc) {
		whose_set_cwd(NULL);
		whose_moved();
	}
	return rc;
}

static int enter(int dir)
{
	char name[PATH_MAX];

	if (PVFS(pvfs_faccessat(dir, ".", X_OK, AT_EACCESS)) ||
	    realname_dir(dir, name))
		return -1;
	if (go_nowhere(name))
		return refuse_path("chdir (without a folder for temporary "
				   "files)",
				   name, ENOTSUP);
	whose_set_cwd(name);
	return 0;
}

int fchdir(int fd)
{
	enum whose whose = whose_fd(fd, __func__);

	if (whose == KERNELS)
		return gone_to_kernels(under()->fchdir(fd));
	return whose == OURS ? enter(fd) : -1;
}

int chdir(const char *path)
{
	struct spot at;
	enum whose whose = whose_path(&at, AT_FDCWD, path, __func__);
	int fd, rc;

	if (whose == KERNELS)
		return gone_to_kernels(under()->chdir(path));
	if (whose == REFUSED)
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
static char *give(const char *name, char *buf, size_t size)
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

	return !whose_inside && whose_cwd(name) ? give(name, buf, size)
						: under()->getcwd(buf, size);
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
	struct spot at;
	enum whose whose = whose_path(&at, AT_FDCWD, path, __func__);
	char name[PATH_MAX];

	if (whose == KERNELS)
		return under()->realpath(path, resolved);
	if (whose == REFUSED || realname_path(path, name))
		return NULL;
	return give(name, resolved, resolved ? PATH_MAX : 0);
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
