/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_kept.h - what clients that were evicted still have. */
#ifndef EVICT_KEPT_H
#define EVICT_KEPT_H

#include <pvfs.h>
#include "client/tools/common/tool.h"

/*
 * A line for each iod that had no room to set aside what it had lent, of those that run and
 * have confirmed the end; and for each that does not answer.  1: there is one of the former, or it
 * is not known where they are.
 */
int evict_kept(const struct tool *tool, const char *path,
	       const struct pvfs_evicted *done);

#endif
