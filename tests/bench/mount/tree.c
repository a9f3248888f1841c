/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree.c - makes the calls of tar x, ls -lR and rm -r, by libpvfs:
 *
 *   tree untar|list|remove DIR
 *
 * The tree is DIR/tree.  It has FOLDERS folders of FILES small files.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pvfs.h>

#define FOLDERS 200
#define FILES 100
#define BYTES 2048

static char path[4096];
static int root; /* length of the name of the tree in `path` */

static void must(const char *what, bool ok)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* Returns the name of a file, of a folder (file < 0), or of the tree (both < 0). */
static const char *name(int folder, int file)
{
	char *at = path + root;

	*at = '\0';
	if (folder >= 0)
		at += sprintf(at, "/d%d", folder);
	if (file >= 0)
		sprintf(at, "/%d", file);
	return path;
}

/* ---- tar x, as root ---- */

static const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
					  { .tv_sec = 1000000000 } };

static void make_file(const char *p)
{
	static const char data[BYTES];
	int fd = pvfs_open(p, O_WRONLY | O_CREAT | O_EXCL, 0600);

	must("open", fd >= 0);
	must("write", pvfs_write(fd, data, BYTES) == BYTES);
	must("futimens", !pvfs_futimens(fd, times));
	must("fchown", !pvfs_fchown(fd, getuid(), getgid()));
	must("fchmod", !pvfs_fchmod(fd, 0644));
	must("close", !pvfs_close(fd));
}

static void finish_folder(const char *p)
{
	must("utimensat", !pvfs_utimensat(AT_FDCWD, p, times, 0));
	must("chown", !pvfs_chown(p, getuid(), getgid()));
	must("chmod", !pvfs_chmod(p, 0755));
}

static void untar(void)
{
	must("mkdir", !pvfs_mkdir(name(-1, -1), 0700));
	for (int d = 0; d < FOLDERS; d++) {
		must("mkdir", !pvfs_mkdir(name(d, -1), 0700));
		for (int i = 0; i < FILES; i++)
			make_file(name(d, i));
		finish_folder(name(d, -1));
	}
	finish_folder(name(-1, -1));
}

/* ---- the whole tree, a folder at a time ---- */

static bool is_dots(const char *n)
{
	return !strcmp(n, ".") || !strcmp(n, "..");
}

static void each(int folder, void (*entry)(int dir, const char *name))
{
	PVFS_DIR *dir = pvfs_opendir(name(folder, -1));
	struct dirent *e;

	must("opendir", dir);
	while ((e = pvfs_readdir(dir)))
		if (!is_dots(e->d_name))
			entry(pvfs_dirfd(dir), e->d_name);
	must("closedir", !pvfs_closedir(dir));
}

/* Gets the attributes of n in the folder whose name is in `path`. */
static void look_at(int dir, const char *n)
{
	size_t end = strlen(path);
	struct stat st;

	must("stat", !pvfs_fstatat(dir, n, &st, AT_SYMLINK_NOFOLLOW));
	snprintf(path + end, sizeof(path) - end, "/%s", n);
	pvfs_lgetxattr(path, "system.posix_acl_access", NULL, 0);
	path[end] = '\0';
}

static void list(void)
{
	each(-1, look_at);
	for (int d = 0; d < FOLDERS; d++)
		each(d, look_at);
}

static void drop(int dir, const char *n)
{
	must("unlink", !pvfs_unlinkat(dir, n, 0));
}

static void remove_all(void)
{
	for (int d = 0; d < FOLDERS; d++) {
		each(d, drop);
		must("rmdir", !pvfs_rmdir(name(d, -1)));
	}
	must("rmdir", !pvfs_rmdir(name(-1, -1)));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	root = snprintf(path, 4000, "%s/tree", argv[2]);
	if (!strcmp(argv[1], "untar"))
		untar();
	else if (!strcmp(argv[1], "list"))
		list();
	else if (!strcmp(argv[1], "remove"))
		remove_all();
	else
		return 2;
	return 0;
}
