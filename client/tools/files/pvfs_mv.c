/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-mv - renames within one mount. */
#include <errno.h>
#include <stdlib.h>

#include <pvfs.h>
#include "client/tools/common/tool.h"
#include "client/tools/files/copy/copy.h"

static int set_option(void *arg, int opt, const char *val)
{
	*(bool *)arg = true;
	return 0;
}

static const struct option longs[] = {
	{ "no-clobber", no_argument, NULL, 'n' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-mv",
	.usage = "[-n] SOURCE... TARGET",
	.help = "Renames within one mount; several SOURCEs need a directory as TARGET.\n"
		"Between mounts use pvfs-cp and pvfs-rm.\n"
		"  -n, --no-clobber       leave an existing target alone\n",
	.shorts = "n",
	.ordinary = "mv(1)",
	.longs = longs,
	.option = set_option,
};

static int not_renamed(const char *from, const char *to)
{
	struct stat a, b;

	if (errno != EXDEV)
		return tool_fail(&tool, from);
	if (!pvfs_lstat(from, &a) && !pvfs_lstat(to, &b) &&
	    tool_same_file(&a, &b))
		return tool_say(&tool, "%s and %s are the same file", from, to);
	return tool_say(&tool,
			"%s: not on the mount of %s; copy with pvfs-cp -r, "
			"then pvfs-rm -r",
			to, from);
}

static int rename_path(const char *from, const char *to, bool keep)
{
	struct stat st;

	if (keep && !pvfs_lstat(to, &st))
		return 0;
	if (!pvfs_rename(from, to))
		return 0;
	return not_renamed(from, to);
}

/*
 * Moves from into the directory dir.  place: the record of dir.  keep: an existing name stays.
 * Without keep, fails if an earlier source of this command has already written that name.
 */
static int move_into(const char *from, const char *dir, bool keep,
		     struct copy_place *place)
{
	char *base = tool_base(from), *to = base ? tool_join(dir, base) : NULL;
	int status;

	if (to && !keep && copy_made_name(place, base, from, false) < 0 &&
	    errno == EEXIST)
		status = tool_say(&tool,
				  "will not overwrite just-created %s with %s",
				  to, from);
	else
		status = to ? rename_path(from, to, keep)
			    : tool_fail(&tool, from);
	free(to);
	free(base);
	return status;
}

int main(int argc, char **argv)
{
	bool keep = false, into;
	int i = tool_options(&tool, argc, argv, &keep), status = 0;
	struct copy_made *made;
	struct copy_place *place;
	struct stat st;

	if (argc - i < 2)
		tool_usage(&tool);
	if (tool_need_path(&tool, argv + i, argc - i))
		return 1;
	into = !pvfs_stat(argv[argc - 1], &st) && S_ISDIR(st.st_mode);
	if (!into && argc - i > 2)
		return tool_say(&tool, "%s: not a directory", argv[argc - 1]);
	made = into ? copy_made_new() : NULL;
	place = made ? copy_made_enter(made, &st, NULL) : NULL;
	if (into && !place)
		return tool_fail(&tool, argv[argc - 1]);
	for (; i < argc - 1; i++)
		status |= into ? move_into(argv[i], argv[argc - 1], keep, place)
			       : rename_path(argv[i], argv[argc - 1], keep);
	if (made)
		copy_made_free(made);
	return status;
}
