/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-mkdir - makes directories. */
#include <errno.h>
#include <string.h>

#include <pvfs.h>
#include "client/tools/common/tool.h"

struct mkdir_args {
	bool parents;
	const char *text; /* mode as text; or NULL */
	mode_t mode, umask;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct mkdir_args *a = arg;

	if (opt == 'p') {
		a->parents = true;
		return 0;
	}
	a->text = val;
	return tool_mode(val, 0777, a->umask, &a->mode);
}

static const struct tool_value values[] = {
	{ 'm', 0, 0, TOOL_MODE_WANT },
	{ 0 },
};

static const struct option longs[] = {
	{ "parents", no_argument, NULL, 'p' },
	{ "mode", required_argument, NULL, 'm' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-mkdir",
	.usage = "[-p] [-m MODE] DIR...",
	.help = "Makes directories on a PVFS mount.\n"
		"  -p, --parents          make missing parents, accept an existing DIR\n"
		"  -m, --mode MODE        as of chmod(1), whatever the umask is\n",
	.shorts = "pm:",
	.ordinary = "mkdir(1)",
	.longs = longs,
	.values = values,
	.option = set_option,
};

static bool is_dir(const char *path)
{
	struct stat st;

	return !pvfs_stat(path, &st) && S_ISDIR(st.st_mode);
}

static int make_parents(char *path)
{
	char *p = path + strspn(path, "/");

	for (; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (!is_dir(path) && pvfs_mkdir(path, 0777) && !is_dir(path))
			return tool_fail(&tool, path);
		*p = '/';
	}
	return 0;
}

/* The umask and the manager removed bits; a set-gid bit was inherited. */
static int set_mode(const struct mkdir_args *a, const char *path)
{
	struct stat st;

	if (!a->text || !(a->mode & (a->umask | 07000)))
		return 0;
	if (pvfs_stat(path, &st) ||
	    pvfs_chmod(path, a->mode | (st.st_mode & S_ISGID)))
		return tool_fail(&tool, path);
	return 0;
}

static int make_dir(const struct mkdir_args *a, char *path)
{
	if (a->parents && make_parents(path))
		return 1;
	if (!pvfs_mkdir(path, a->mode))
		return set_mode(a, path);
	if (a->parents && errno == EEXIST && is_dir(path))
		return 0;
	return tool_fail(&tool, path);
}

int main(int argc, char **argv)
{
	struct mkdir_args a = { .mode = 0777, .umask = umask(0) };
	int i, status = 0;

	umask(a.umask);
	i = tool_options(&tool, argc, argv, &a);
	if (i == argc)
		tool_usage(&tool);
	if (tool_need_path(&tool, argv + i, argc - i))
		return 1;
	for (; i < argc; i++)
		status |= make_dir(&a, argv[i]);
	return status;
}
