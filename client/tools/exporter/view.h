/* SPDX-License-Identifier: BSD-2-Clause */
/* view.h - what is known of a file system at a moment, for those who write it down. */
#ifndef EXPORTER_VIEW_H
#define EXPORTER_VIEW_H

#include <stdbool.h>

#include <pvfs.h>
#include "client/tools/exporter/text.h"

/* What a server said of itself. */
struct report {
	const struct pvfs_ping *ping;
	const struct statfs *space;
	const struct pvfs_metric *rows; /* NULL: one of an earlier release, too */
	int users; /* those that are shown, the last one may be the others */
	struct pvfs_metric *user; /* rows of "user" */
};

struct view_server {
	char name[16]; /* "mgr", "iod12" */
	bool is_mgr;
	const char *address;
	const char *reason; /* why it is not up, or NULL */
	struct report report; /* if it is up: reason is NULL */
};

struct view {
	const char *mount;
	const char *
		no_iods; /* why it is not known which iods there are, or NULL */
	const struct view_server *server;
	unsigned int servers;
	uint64_t rounds; /* how often the servers were asked */
	uint64_t took_ns; /* for the last time */
	uint64_t wall_ms; /* when that was, since 1970 */
};

static inline bool view_is_up(const struct view_server *s)
{
	return !s->reason;
}

/* users.c: the busiest of rows, at most max by requests and max without, and the others of each;
 * free() them.  Returns how many. */
int view_users(const struct pvfs_metric *rows, int max,
	       struct pvfs_metric **user);
/*
 * metrics.c: a row of an operation that is shown.  What is asked for the manager's space counts as an
 * error there: it has no disk that it would share with iods.
 */
bool view_op(const struct view_server *s, const struct pvfs_metric *m);
/* In Prometheus' format. */
void view_metrics(const struct view *v, struct text *out);
/*
 * How many users and jobs of each iod are told where so many are wanted: with those of the
 * manager a scrape stays below a MiB, as far as VIEW_LABELS of each iod let it.
 */
#define VIEW_LABELS 8
int view_labels(int wanted, unsigned int iods);
/* ... inside.c: what servers have inside. */
void view_inside(const struct view *v, struct text *out);
/* status.c: as JSON, for the page; and what is wrong, whether nothing is. */
void view_status(const struct view *v, struct text *out);
bool view_health(const struct view *v, struct text *out);

static inline uint64_t view_bytes(const struct statfs *st, uint64_t blocks)
{
	return blocks * (uint64_t)st->f_bsize;
}

#endif
