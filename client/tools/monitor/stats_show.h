/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_show.h - shows the metrics of a server for pvfs-stats: the increase since the
 * previous query.
 */
#ifndef STATS_SHOW_H
#define STATS_SHOW_H

#include <stdbool.h>

#include "common/json/json_out.h"
#include <pvfs.h>

struct owner_names;

struct stats_show {
	const char *who, *uri; /* the server */
	const struct pvfs_metric *now, *before; /* lists; NULL: none */
	struct json_object *list; /* gets the rows; NULL: print them */
	bool header; /* the header is not printed yet */
	bool jobs; /* each job of a user separately */
	struct owner_names *owners;
};

/* Show the requests by operation. */
void stats_ops(struct stats_show *show);
/* Show the requests by user, or by user and job. */
void stats_users(struct stats_show *show);
/*
 * Show the request times by operation, transport and data path, then the times of queues and
 * flushes, then the present values.
 */
void stats_inside(struct stats_show *show);

#endif
