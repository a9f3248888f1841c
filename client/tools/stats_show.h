/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_show.h - rows of a server as pvfs-stats shows them: what came since it was asked before. */
#ifndef STATS_SHOW_H
#define STATS_SHOW_H

#include <stdbool.h>

#include "common/json/json_out.h"
#include <pvfs.h>

struct owners;

struct stats_show {
	const char *who, *uri; /* the server */
	const struct pvfs_metric *now, *before; /* lists; NULL: none */
	struct json_object
		*list; /* rows are added to it; NULL: they are printed */
	bool header; /* is still to be printed */
	bool jobs; /* each of a user's apart */
	struct owners *owners;
};

/* stats_row.c: a JSON row of the server. */
struct json_object *stats_json(struct stats_show *show);
/* Mean, percentiles and the longest, as JSON; as four columns, us. */
void stats_json_times(struct json_object *o, const struct pvfs_metric *m);
void stats_text_times(const struct pvfs_metric *m);

/* stats_users.c: by user, or by user and job. */
void stats_users(struct stats_show *show);
/* stats_inside.c: times by way, of queues and flushes; then what there is inside. */
void stats_inside(struct stats_show *show);

#endif
