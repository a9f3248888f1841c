/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tool_tree.h - calls a function for a path and, if requested, for everything below it.
 */
#ifndef TOOL_TREE_H
#define TOOL_TREE_H

#include <sys/stat.h>

#include "client/tools/common/patience.h"

struct tool_tree {
	const struct tool *tool;
	bool recursive;
	/* 0, or -1 with errno; named: path is an operand, not found below one */
	int (*change)(void *arg, const char *path, const struct stat *st,
		      bool named);
	void *arg;
	struct patience patience;
};

/*
 * Calls the function for path and, if requested, for everything below it, a directory before its
 * entries.  Ignores entries that are removed meanwhile.  Returns 0, or 1 after messages.
 */
int tool_tree(struct tool_tree *t, const char *path);

#endif
