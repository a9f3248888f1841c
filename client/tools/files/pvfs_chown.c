/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs-chown - changes owner and group. */
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>
#include "client/tools/common/tool_tree.h"
#include "common/util/number.h"

struct chown_args {
	uid_t uid;
	gid_t gid; /* -1: unchanged */
	bool recursive, link;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct chown_args *a = arg;

	if (opt == 'h')
		a->link = true;
	else
		a->recursive = true;
	return 0;
}

static const struct option longs[] = {
	{ "no-dereference", no_argument, NULL, 'h' },
	{ "recursive", no_argument, NULL, 'R' },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-chown",
	.usage = "[-hR] [USER][:[GROUP]] PATH...",
	.help = "Changes owner and group: names of this host, or numbers.  USER: is short for\n"
		"USER and the group that it logs in with.\n"
		"  -h, --no-dereference   a symbolic link itself, not what it names\n"
		"  -R, --recursive        directories and what is in them; implies -h\n",
	.shorts = "hR",
	.ordinary = "chown(1)",
	.longs = longs,
	.option = set_option,
};

/* (uid_t)-1 is no user's number: it means "unchanged". */
static int parse_id(const char *text, uint32_t *id)
{
	uint64_t n;

	if (number_parse(text, UINT32_MAX - 1, &n))
		return -1;
	*id = (uint32_t)n;
	return 0;
}

static int find_user(const char *name, bool login, struct chown_args *a)
{
	const struct passwd *pw = getpwnam(name);

	if (!pw && login)
		return tool_say(&tool,
				"%s: no such user here: which group does it "
				"log in with?  Write USER:GROUP",
				name);
	if (!pw && parse_id(name, &a->uid))
		return tool_say(&tool, "%s: no such user on this host", name);
	if (pw)
		a->uid = pw->pw_uid;
	if (login)
		a->gid = pw->pw_gid;
	return 0;
}

static int find_group(const char *name, struct chown_args *a)
{
	const struct group *gr = getgrnam(name);

	if (!gr && parse_id(name, &a->gid))
		return tool_say(&tool, "%s: no such group on this host", name);
	if (gr)
		a->gid = gr->gr_gid;
	return 0;
}

static int find_owner(char *text, struct chown_args *a)
{
	char *group = strchr(text, ':');

	if (group)
		*group++ = '\0';
	if (*text && find_user(text, group && !*group, a))
		return 1;
	return group && *group ? find_group(group, a) : 0;
}

static int change_owner(void *arg, const char *path, const struct stat *st,
			bool named)
{
	const struct chown_args *a = arg;

	return (a->link || a->recursive ? pvfs_lchown
					: pvfs_chown)(path, a->uid, a->gid);
}

int main(int argc, char **argv)
{
	struct chown_args a = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	int i = tool_options(&tool, argc, argv, &a), status = 0;
	struct tool_tree tree = { &tool, a.recursive, change_owner, &a, { 0 } };

	if (argc - i < 2)
		tool_usage(&tool);
	if (find_owner(argv[i++], &a) ||
	    tool_need_path(&tool, argv + i, argc - i))
		return 1;
	for (; i < argc; i++)
		status |= tool_tree(&tree, argv[i]);
	return status;
}
