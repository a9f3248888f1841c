/* SPDX-License-Identifier: BSD-2-Clause */
/* patience.c - see patience.h. */
#include "client/tools/common/patience.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

static bool server_answers(const char *path, const struct pvfs_server *server)
{
	struct pvfs_ping ping;

	return !pvfs_ping_mount(path, server->uri, PATIENCE_PING_MS, &ping);
}

static bool find_dead_iod(const char *path, struct pvfs_server *dead)
{
	struct pvfs_server *list;
	int n = tool_servers(path, &list), i;
	bool found = false;

	if (n < 0)
		return false;
	for (i = 1; i < n && !found; i++)
		found = !server_answers(path, &list[i]);
	if (found)
		*dead = list[i - 1];
	free(list);
	return found;
}

/*
 * Asks the manager first, because it knows the other servers.  errno: why there is no
 * answer.
 */
static bool find_dead(const char *path, struct pvfs_server *dead)
{
	if (pvfs_manager(path, dead))
		return false;
	return !server_answers(path, dead) || find_dead_iod(path, dead);
}

static void give_up(struct patience *p, const struct tool *tool,
		    const char *path)
{
	struct pvfs_server dead;
	char who[32] = "the manager";

	if (!find_dead(path, &dead)) {
		atomic_store(&p->timeouts, 0);
		return;
	}
	if (dead.role == PVFS_IOD)
		snprintf(who, sizeof(who), "iod %d", dead.index);
	tool_say(tool,
		 "%d calls timed out and %s (%s) does not answer (%s): giving "
		 "up, the rest is left alone",
		 PATIENCE_TIMEOUTS, who, dead.uri, strerror(errno));
	atomic_store(&p->over, true);
}

int patience_fail(struct patience *p, const struct tool *tool, const char *path)
{
	if (errno != ETIMEDOUT)
		return tool_fail(tool, path);
	if (patience_over(p))
		return 1;
	tool_fail(tool, path);
	if (atomic_fetch_add(&p->timeouts, 1) + 1 == PATIENCE_TIMEOUTS)
		give_up(p, tool, path);
	return 1;
}
