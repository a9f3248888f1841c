/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patience.h - when a tool with many files stops to wait for a dead server.
 *
 * Each call on it waits for its own time-out.  After PATIENCE_TIMEOUTS of
 * them the tool asks every server of the mount; if one does not answer, one
 * line names it, and what is left is left alone.  If all answer, counting
 * begins again.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "client/tools/common/tool.h"

#define PATIENCE_TIMEOUTS 3
#define PATIENCE_PING_MS 3000 /* for each server */

/* Zero it; shared by threads. */
struct patience {
	atomic_int timeouts;
	atomic_bool over;
};

/* As tool_fail(), with errno, for a call on path; counts.  Once it is over,
 * further time-outs are not worth a line. */
int patience_fail(struct patience *p, const struct tool *tool,
		  const char *path);

static inline bool patience_over(const struct patience *p)
{
	return atomic_load(&p->over);
}

#endif
