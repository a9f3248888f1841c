/* SPDX-License-Identifier: BSD-2-Clause */
/* view.c - chooses what is shown of a server: see view.h. */
#include "client/tools/monitor/exporter/view.h"

#include <stdlib.h>
#include <string.h>

#include "client/tools/common/metric.h"

bool view_op(const struct view_server *s, const struct pvfs_metric *m)
{
	return metric_is(m, "requests") &&
	       !(s->is_mgr && !strcmp(pvfs_metric_label(m, "op"), "DISK"));
}

/* ---- users and jobs ---- */

/* maximum bytes of the metrics that Prometheus gets at a time */
#define SCRAPE (1 << 20)
#define BYTES_SERVER 36864 /* of a server, without users and jobs */
#define BYTES_LABEL 256 /* of three series */

int view_labels(int wanted, unsigned int iods)
{
	int64_t n = iods ? iods : 1,
		left = SCRAPE - n * BYTES_SERVER - wanted * BYTES_LABEL,
		/*
		 * for each iod: `each` users with requests, `each` without, and the sums of the
		 * rest
		 */
		each = left / (n * 2 * BYTES_LABEL) - 1;

	if (each < VIEW_LABELS)
		each = VIEW_LABELS;
	return each < wanted ? (int)each : wanted;
}

static bool is_direct(const struct pvfs_metric *m)
{
	return pvfs_metric_label(m, "way")[0];
}

static bool is_others(const struct pvfs_metric *m)
{
	return !strcmp(pvfs_metric_label(m, "uid"), "others");
}

/* Sorts each kind together, its others last. */
static int by_requests(const void *a, const void *b)
{
	const struct pvfs_metric *x = a, *y = b;

	if (is_direct(x) != is_direct(y))
		return is_direct(x) ? 1 : -1;
	if (is_others(x) != is_others(y))
		return is_others(x) ? 1 : -1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return 0;
}

static struct pvfs_metric others_of(const struct pvfs_metric *like)
{
	return (struct pvfs_metric){
		.name = like->name,
		.labels = is_direct(like) ? 3 : 2,
		.label = { { "uid", "others" },
			   { "job", "" },
			   { "way", "direct" } },
	};
}

/*
 * Keeps the first max of the sorted rows of one kind.  Merges all other rows, and a row "others",
 * into one row with the name "others".
 */
static int bound_kind(struct pvfs_metric *user, int n, int max)
{
	struct pvfs_metric others = others_of(user);
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (kept < max && !is_others(&user[i]))
			user[kept++] = user[i];
		else
			metric_add(&others, &user[i]);
	if (kept < n)
		user[kept++] = others;
	return kept;
}

/* Direct accesses stay separate. */
static int bound_rows(struct pvfs_metric *user, int n, int max)
{
	int asked = 0, kept, direct;

	while (asked < n && !is_direct(&user[asked]))
		asked++;
	kept = asked ? bound_kind(user, asked, max) : 0;
	direct = n > asked ? bound_kind(user + asked, n - asked, max) : 0;
	memmove(user + kept, user + asked, (size_t)direct * sizeof(*user));
	return kept + direct;
}

int view_users(const struct pvfs_metric *rows, int max,
	       struct pvfs_metric **user)
{
	size_t all = 0;
	int n = 0;

	for (const struct pvfs_metric *m = rows; m; m = m->next)
		all += metric_is(m, "user");
	*user = all && max ? calloc(all, sizeof(**user)) : NULL;
	if (!*user)
		return 0;
	for (const struct pvfs_metric *m = rows; m; m = m->next)
		if (metric_is(m, "user"))
			(*user)[n++] = *m;
	qsort(*user, (size_t)n, sizeof(**user), by_requests);
	return bound_rows(*user, n, max);
}
