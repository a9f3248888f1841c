/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_kept.c - see evict_kept.h. */
#include "client/tools/admin/evict_kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS 1000 /* the wait for an iod that does not run */

static bool has_not_confirmed(const struct pvfs_evicted *done, int iod)
{
	for (unsigned int i = 0; i < done->iods; i++)
		if (done->iod[i] == (unsigned int)iod)
			return true;
	return false;
}

/* 0; -1 with errno: the iod does not say. */
static int kept_at(const char *path, const char *uri, uint64_t *kept)
{
	struct pvfs_metric *list = NULL;
	struct pvfs_watch *watch;
	int n, why;

	*kept = 0;
	if (pvfs_watch_open(path, uri, ASK_MS, &watch))
		return -1;
	n = pvfs_watch_metrics(watch, PVFS_METRICS_INSIDE, NULL, 0, &list);
	why = errno;
	pvfs_watch_close(watch);
	for (const struct pvfs_metric *m = list; m; m = m->next)
		if (!strcmp(m->name, "lent_kept"))
			*kept = m->n;
	pvfs_metrics_free(list);
	errno = why;
	return n < 0 ? -1 : 0;
}

/* An iod of an earlier release keeps nothing that it could report. */
static int say_silent(const struct tool *tool, int iod)
{
	if (errno != ENOSYS)
		tool_say(tool,
			 "iod %d cannot be reached from here (%s): if it does "
			 "not run, programs of its host that keep what it lent "
			 "them can change that until it does, where its store "
			 "lies in memory; start it, or end these",
			 iod, strerror(errno));
	return 0;
}

static int look_at(const struct tool *tool, const char *path,
		   const struct pvfs_server *server)
{
	uint64_t kept;

	if (kept_at(path, server->uri, &kept))
		return say_silent(tool, server->index);
	return kept ? tool_say(tool,
			       "iod %d has no room to set aside %" PRIu64
			       " objects that it had lent: programs that keep "
			       "them open can change them until it has; free "
			       "some space there, or end these: its log says "
			       "which",
			       server->index, kept)
		    : 0;
}

int evict_kept(const struct tool *tool, const char *path,
	       const struct pvfs_evicted *done)
{
	struct pvfs_server *list;
	int status = 0, n = tool_servers(path, &list);

	if (n < 0)
		return tool_fail(tool, path);
	for (int i = 0; i < n; i++)
		if (list[i].role == PVFS_IOD &&
		    !has_not_confirmed(done, list[i].index))
			status |= look_at(tool, path, &list[i]);
	free(list);
	return status;
}
