/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-rm - removes files and, with -r, directories. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/common/patience.h"
#include <pvfs.h>

struct rm_args {
	bool recursive, force;
	struct patience patience;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct rm_args *a = arg;

	if (opt == 'r' || opt == 'R')
		a->recursive = true;
	else
		a->force = true;
	return 0;
}

static const struct option longs[] = {
	{ "recursive", no_argument, NULL, 'r' },
	{ "force", no_argument, NULL, 'f' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-rm",
	.usage = "[-fr] PATH...",
	.help = "Removes files.\n"
		"  -r, --recursive        directories and what is in them, too\n"
		"  -f, --force            no complaint about a missing PATH\n",
	.shorts = "rRf",
	.ordinary = "rm(1)",
	.longs = longs,
	.option = set_option,
};

static int report_failure(struct rm_args *a, const char *path)
{
	if (a->force && errno == ENOENT)
		return 0;
	return patience_fail(&a->patience, &tool, path);
}

static int remove_path(struct rm_args *a, const char *path, int type);

static int remove_entry(struct rm_args *a, const char *dir,
			const struct dirent *d)
{
	char *path = tool_join(dir, d->d_name);
	int status;

	if (!path)
		return tool_fail(&tool, dir);
	status = remove_path(a, path, d->d_type);
	free(path);
	return status;
}

/* Cookies stay valid while entries are removed: one pass is enough. */
static int remove_entries(struct rm_args *a, const char *path)
{
	PVFS_DIR *dir = pvfs_opendir(path);
	struct dirent *d;
	int status = 0;

	if (!dir)
		return report_failure(a, path);
	while (errno = 0,
	       !patience_over(&a->patience) && (d = pvfs_readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			status |= remove_entry(a, path, d);
	if (errno)
		status |= report_failure(a, path);
	pvfs_closedir(dir);
	return status;
}

static int remove_dir(struct rm_args *a, const char *path)
{
	int status;

	if (!a->recursive) {
		errno = EISDIR;
		return tool_fail(&tool, path);
	}
	status = remove_entries(a, path);
	if (status)
		return status;
	return pvfs_rmdir(path) ? report_failure(a, path) : 0;
}

/* Whether path is the root of a mount.  Only its content could be removed. */
static bool is_mount(const char *path)
{
	struct pvfs_server mine, its;
	struct stat st, root;
	char dir[4096];

	if (pvfs_manager(path, &mine) || pvfs_lstat(path, &st))
		return false;
	for (unsigned int i = 0; !pvfs_mount_point(i, dir, sizeof(dir)); i++)
		if (!pvfs_manager(dir, &its) && !strcmp(its.uri, mine.uri) &&
		    !pvfs_lstat(dir, &root) && root.st_ino == st.st_ino)
			return true;
	return false;
}

static int remove_tree(struct rm_args *a, const char *path, int type)
{
	if (type == DT_UNKNOWN && a->recursive && is_mount(path))
		return tool_say(
			&tool, "%s: refused: it is a mount; name what is in it",
			path);
	return remove_dir(a, path);
}

/* Decides by the errno of the failed removal, and preserves it. */
static bool was_dir(const char *path)
{
	int err = errno;
	bool dir = err == EISDIR;
	struct stat st;

	if (err == EACCES || err == EPERM)
		dir = !pvfs_lstat(path, &st) && S_ISDIR(st.st_mode);
	errno = err;
	return dir;
}

/*
 * Removes without a look at the type first: a file's attributes come from its iods,
 * which a removal does not need.
 */
static int remove_path(struct rm_args *a, const char *path, int type)
{
	if (type == DT_DIR)
		return remove_tree(a, path, type);
	if (!pvfs_unlink(path))
		return 0;
	if (type == DT_UNKNOWN && was_dir(path))
		return remove_tree(a, path, type);
	return report_failure(a, path);
}

/*
 * Rejects "/", "." and "..", which are mistakes; off the mounts, paths are ordinary
 * files.
 */
static int refuse_path(const char *path)
{
	char *base = tool_base(path);
	bool root = *path && base && !*base;
	bool dots = base && (!strcmp(base, ".") || !strcmp(base, ".."));

	free(base);
	return root || dots ? tool_say(&tool, "%s: refused: name the directory",
				       path)
			    : 0;
}

int main(int argc, char **argv)
{
	struct rm_args a = { 0 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;

	if (i == argc && !a.force)
		tool_usage(&tool);
	if (i < argc && tool_need_path(&tool, argv + i, argc - i))
		return 1;
	for (; i < argc && !patience_over(&a.patience); i++)
		status |= refuse_path(argv[i]) ||
			  remove_path(&a, argv[i], DT_UNKNOWN);
	return status;
}
