/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-mkdir - make directories. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pvfs.h"
#include "tool.h"

struct args {
	bool parents;
	mode_t mode;
};

static int option(void *arg, int opt, const char *val)
{
	struct args *a = arg;
	char *end;
	unsigned long mode;

	if (opt == 'p') {
		a->parents = true;
		return 0;
	}
	mode = strtoul(val, &end, 8);
	if (!*val || *end || mode > 07777)
		return -1;
	a->mode = (mode_t)mode;
	return 0;
}

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
		"  -m, --mode MODE        octal permission bits, less the umask (0777)\n",
	.shorts = "pm:",
	.longs = longs,
	.option = option,
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

static int make(const struct args *a, char *path)
{
	if (a->parents && make_parents(path))
		return 1;
	if (!pvfs_mkdir(path, a->mode))
		return 0;
	if (a->parents && errno == EEXIST && is_dir(path))
		return 0;
	return tool_fail(&tool, path);
}

int main(int argc, char **argv)
{
	struct args a = { .mode = 0777 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;

	if (i == argc)
		tool_usage(&tool);
	for (; i < argc; i++)
		status |= make(&a, argv[i]);
	return status;
}
