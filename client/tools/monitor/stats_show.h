/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats_show.h - rows of a server as pvfs-stats shows them: the increase since the
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
	bool header; /* still to be printed */
	bool jobs; /* each job of a user separately */
	struct owner_names *owners;
};

/* stats_row.c: a JSON row of the server. */
struct json_object *stats_json(struct stats_show *show);
/* Mean, percentiles and maximum: as JSON; as four columns in us. */
void stats_json_times(struct json_object *o, const struct pvfs_metric *m);
void stats_text_times(const struct pvfs_metric *m);

/* stats_users.c: by user, or by user and job. */
void stats_users(struct stats_show *show);
/* stats_inside.c: times by way, of queues and of flushes; then the gauges. */
void stats_inside(struct stats_show *show);

#endif
