/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_inside.h - what each server has inside, and how long what takes it, as pvfs-stats shows it. */
#ifndef STATS_INSIDE_H
#define STATS_INSIDE_H

#include <stdbool.h>

#include "common/json/json_out.h"
#include "client/tools/stats_seen.h"

/* Zero it, then set what has no comment. */
struct stats_inside {
	int timeout_ms;
	bool show; /* not yet: what is asked now is for the next time */
	struct json_object *list; /* NULL: text */
	/* private */
	struct stats_seen *seen;
};

/* Asks one server, shows what came since it was asked the last time.  0; -1 and errno. */
int stats_inside(struct stats_inside *in, const char *path, const char *who,
		 const char *uri);
void stats_inside_free(struct stats_inside *in);

#endif
