/* SPDX-License-Identifier: BSD-2-Clause */
/* tool_servers.c - the servers of a mount, and those that operands name. */
#include <stdio.h>
#include <stdlib.h>

#include <pvfs.h>
#include "client/tools/common/tool.h"

/* If servers are added meanwhile, returns only as many as there was room for. */
int tool_servers(const char *path, struct pvfs_server **list)
{
	int max = pvfs_tool_servers(path, NULL, 0), n;
	struct pvfs_server *servers;

	if (max < 0)
		return -1;
	servers = calloc((size_t)max, sizeof(*servers));
	if (!servers)
		return -1;
	n = pvfs_tool_servers(path, servers, max);
	if (n < 0) {
		free(servers);
		return -1;
	}
	*list = servers;
	return n < max ? n : max;
}

struct each {
	const struct tool *tool;
	tool_server_fn *fn;
	void *arg;
};

static int call_for_list(const struct each *e, const char *path,
			 const struct pvfs_server *list, int n)
{
	char who[32];
	int status = 0;

	for (int i = 0; i < n; i++) {
		snprintf(who, sizeof(who),
			 list[i].role == PVFS_MGR ? "mgr" : "iod %d",
			 list[i].index);
		status |= e->fn(e->arg, path, who, list[i].uri);
	}
	return status;
}

/* Asks the manager first, because only it knows the iods. */
static int call_for_mount(const struct each *e, const char *path)
{
	struct pvfs_server mgr, *list;
	int n, status;

	if (pvfs_manager(path, &mgr))
		return tool_off_mount(e->tool, path);
	status = call_for_list(e, path, &mgr, 1);
	if (status)
		return status;
	n = tool_servers(path, &list);
	if (n < 0)
		return tool_fail(e->tool, path);
	status = call_for_list(e, path, list + 1, n - 1);
	free(list);
	return status;
}

static int call_for_all(const struct each *e)
{
	char dir[4096];
	unsigned int i;
	int status = 0;

	for (i = 0; !pvfs_mount_point(i, dir, sizeof(dir)); i++)
		status |= call_for_mount(e, dir);
	return i ? status : tool_no_mount(e->tool);
}

int tool_each_server(const struct tool *tool, char **operand,
		     tool_server_fn *fn, void *arg)
{
	const struct each e = { tool, fn, arg };
	int status = 0;

	if (!*operand)
		return call_for_all(&e);
	for (; *operand; operand++)
		status |= **operand == '/' || pvfs_is_pvfs(*operand)
				  ? call_for_mount(&e, *operand)
				  : fn(arg, NULL, "server", *operand);
	return status;
}
