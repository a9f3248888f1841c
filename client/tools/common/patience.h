/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patience.h - when a tool with many files stops waiting for a dead server.
 *
 * Each call to a dead server waits for the full timeout.  After PATIENCE_TIMEOUTS timeouts, the
 * tool asks every server of the mount.  If one does not answer, the tool prints a line that names
 * it, and skips the remaining files.  If all answer, the tool counts from 0 again.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "client/tools/common/tool.h"

#define PATIENCE_TIMEOUTS 3
#define PATIENCE_PING_MS 3000 /* per server */

/* Initialize with zeros; threads share it. */
struct patience {
	atomic_int timeouts;
	atomic_bool over;
};

/*
 * tool_fail() with errno for a call on path; also counts timeouts.  When the tool has given up,
 * further timeouts print no line.
 */
int patience_fail(struct patience *p, const struct tool *tool,
		  const char *path);

static inline bool patience_over(const struct patience *p)
{
	return atomic_load(&p->over);
}

#endif
