/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-chmod - changes permissions. */
#include <errno.h>
#include <sys/stat.h>

#include <pvfs.h>
#include "client/tools/common/tool_tree.h"

struct chmod_args {
	const char *text; /* of the mode */
	mode_t umask;
	bool recursive;
};

static int set_option(void *arg, int opt, const char *val)
{
	((struct chmod_args *)arg)->recursive = true;
	return 0;
}

static const struct option longs[] = {
	{ "recursive", no_argument, NULL, 'R' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-chmod",
	.usage = "[-R] MODE PATH...",
	.help = "Changes permissions.  MODE is octal or as in u=rwx,g+s,o-w.\n"
		"  -R, --recursive        directories and what is in them\n",
	.shorts = "R",
	.ordinary = "chmod(1)",
	.longs = longs,
	.option = set_option,
};

/* Like chmod(1): follows a link that is an operand, and ignores others. */
static int change_mode(void *arg, const char *path, const struct stat *st,
		       bool named)
{
	const struct chmod_args *a = arg;
	struct stat behind = *st;
	mode_t mode;

	if (S_ISLNK(st->st_mode) && !named)
		return 0;
	if (S_ISLNK(st->st_mode) && pvfs_stat(path, &behind))
		return -1;
	if (tool_mode(a->text, behind.st_mode, a->umask, &mode)) {
		errno = EINVAL;
		return -1;
	}
	return mode == (behind.st_mode & 07777) ? 0 : pvfs_chmod(path, mode);
}

int main(int argc, char **argv)
{
	struct chmod_args a = { .umask = umask(0) };
	int i = tool_options(&tool, argc, argv, &a), status = 0;
	struct tool_tree tree = { &tool, a.recursive, change_mode, &a, { 0 } };
	mode_t mode;

	umask(a.umask);
	if (argc - i < 2)
		tool_usage(&tool);
	a.text = argv[i++];
	if (tool_mode(a.text, 0, 0, &mode)) {
		tool_say(&tool, "%s: want " TOOL_MODE_WANT, a.text);
		return 2;
	}
	if (tool_need_path(&tool, argv + i, argc - i))
		return 1;
	for (; i < argc; i++)
		status |= tool_tree(&tree, argv[i]);
	return status;
}
