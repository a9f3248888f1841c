/* SPDX-License-Identifier: BSD-2-Clause */
/* view.h - the state of a file system at a moment, for the output formats. */
#ifndef EXPORTER_VIEW_H
#define EXPORTER_VIEW_H

#include <stdbool.h>

#include <pvfs.h>
#include "client/tools/monitor/exporter/text.h"

/* The answer of a server. */
struct report {
	const struct pvfs_ping *ping;
	const struct statfs *space;
	const struct pvfs_metric
		*rows; /* NULL also for a server of an earlier release */
	int users; /* number of rows in user; the last one may be the sum of the others */
	struct pvfs_metric *user; /* rows of "user" that are shown */
};

struct view_server {
	char name[16]; /* "mgr", "iod12" */
	bool is_mgr;
	const char *address;
	const char *reason; /* why it is down, or NULL */
	struct report report; /* if it is up: reason is NULL */
};

struct view {
	const char *mount;
	const char *no_iods; /* why the iods are unknown, or NULL */
	const struct view_server *server;
	unsigned int servers;
	uint64_t rounds; /* number of rounds so far */
	uint64_t took_ns; /* duration of the last round */
	uint64_t wall_ms; /* time of the last round, since 1970 */
};

static inline bool view_is_up(const struct view_server *s)
{
	return !s->reason;
}

/*
 * Selects the rows of the busiest users: at most max with requests and max without, and a
 * row for the sum of the others of each kind.  The caller frees *user.  Returns the number
 * of rows.
 */
int view_users(const struct pvfs_metric *rows, int max,
	       struct pvfs_metric **user);
/*
 * Whether m is a row of an operation and is shown.  The manager hides one row: it shares
 * no disk with iods, so it counts requests for the space of a disk as errors.
 */
bool view_op(const struct view_server *s, const struct pvfs_metric *m);
/*
 * Returns how many users and jobs of each iod to show if `wanted` are requested: so few
 * that a scrape, including those of the manager, stays below a MiB, but at least
 * VIEW_LABELS.
 */
#define VIEW_LABELS 8
int view_labels(int wanted, unsigned int iods);
/* metrics.c: writes the view in Prometheus' format. */
void view_metrics(const struct view *v, struct text_buffer *out);
/* ... inside.c: the internals of servers. */
void view_inside(const struct view *v, struct text_buffer *out);
/*
 * status.c: view_status() writes JSON for the page. view_health() writes the faults as JSON, and
 * returns true if there are none.
 */
void view_status(const struct view *v, struct text_buffer *out);
bool view_health(const struct view *v, struct text_buffer *out);

static inline uint64_t view_bytes(const struct statfs *st, uint64_t blocks)
{
	return blocks * (uint64_t)st->f_bsize;
}

#endif
