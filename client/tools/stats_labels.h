/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_labels.h - what users and jobs have asked each server for, as pvfs-stats shows it. */
#ifndef STATS_LABELS_H
#define STATS_LABELS_H

#include <stdbool.h>

#include "common/json/json_out.h"
#include "client/tools/stats_seen.h"

struct owners;

struct stats_labels {
	bool jobs; /* each of a user's apart */
	int timeout_ms;
	struct owners *owners;
	/* of this round */
	struct json_object
		*list; /* rows are added to it; NULL: they are printed */
	bool show; /* else it is only remembered */
	bool header; /* is still to be printed */
	/* its own; zero it */
	struct stats_seen *seen;
};

/* A server, of the mount that path lies on, or alone; what came since the last time.
 * -1 with errno. */
int stats_labels(struct stats_labels *l, const char *path, const char *who,
		 const char *uri);
void stats_labels_free(struct stats_labels *l);

#endif
