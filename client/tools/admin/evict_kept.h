/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_kept.h - what evicted clients still hold. */
#ifndef EVICT_KEPT_H
#define EVICT_KEPT_H

#include <pvfs.h>
#include "client/tools/common/tool.h"

/*
 * Prints a line for each iod that has confirmed the eviction, but had no room to set
 * aside what it had lent; and for each iod that does not answer.  Returns 1 if there is
 * one of the former, or if the iods are unknown.
 */
int evict_kept(const struct tool *tool, const char *path,
	       const struct pvfs_evicted *done);

#endif
