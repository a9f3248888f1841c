/* SPDX-License-Identifier: BSD-2-Clause */
/* tool_tree.c - see tool_tree.h. */
#include "client/tools/common/tool_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

static int visit_path(struct tool_tree *t, const char *path, bool named);

/* Ignores an entry that vanished after its directory listed it. */
static int report_failure(struct tool_tree *t, const char *path, bool named)
{
	return errno == ENOENT && !named
		       ? 0
		       : patience_fail(&t->patience, t->tool, path);
}

static int visit_entry(struct tool_tree *t, const char *dir, const char *name)
{
	char *path = tool_join(dir, name);
	int status = path ? visit_path(t, path, false)
			  : tool_fail(t->tool, dir);

	free(path);
	return status;
}

static int visit_entries(struct tool_tree *t, const char *path, bool named)
{
	PVFS_DIR *dir = pvfs_opendir(path);
	struct dirent *d;
	int status = 0;

	if (!dir)
		return report_failure(t, path, named);
	while (errno = 0,
	       !patience_over(&t->patience) && (d = pvfs_readdir(dir)))
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			status |= visit_entry(t, path, d->d_name);
	if (errno)
		status |= report_failure(t, path, named);
	pvfs_closedir(dir);
	return status;
}

static int visit_path(struct tool_tree *t, const char *path, bool named)
{
	struct stat st;
	int status = 0;

	if (pvfs_lstat(path, &st))
		return report_failure(t, path, named);
	if (t->change(t->arg, path, &st, named))
		status = report_failure(t, path, named);
	if (t->recursive && S_ISDIR(st.st_mode))
		status |= visit_entries(t, path, named);
	return status;
}

int tool_tree(struct tool_tree *t, const char *path)
{
	return patience_over(&t->patience) ? 1 : visit_path(t, path, true);
}
