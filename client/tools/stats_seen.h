/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_seen.h - what each server of pvfs-stats said the last time. */
#ifndef STATS_SEEN_H
#define STATS_SEEN_H

#include <stddef.h>

struct pvfs_op_stats;

/* The first member of what is kept of a server. */
struct stats_seen {
	struct stats_seen *next;
	char uri[288];
};

/*
 * What *all has of the server at uri, len bytes; made of zeros if there is none.  It is
 * the list's, until stats_seen_free().  NULL: no memory.
 */
void *stats_seen_of(struct stats_seen **all, const char *uri, size_t len);
void stats_seen_free(struct stats_seen *all);

/* Takes away what old had already; a server that was started anew begins at 0 again. */
void stats_subtract(struct pvfs_op_stats *s, const struct pvfs_op_stats *old);

#endif
