/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_labels.c - see stats_labels.h. */
#include "client/tools/stats_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/owners.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

/* What a server said, in the order of same(). */
struct labels_seen {
	struct stats_seen is;
	int n;
	struct pvfs_label label[PVFS_LABELS];
};

static int same(const void *a, const void *b)
{
	const struct pvfs_label *x = a, *y = b;

	if (x->flags != y->flags)
		return x->flags < y->flags ? -1 : 1;
	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return strcmp(x->job, y->job);
}

static int busiest(const void *a, const void *b)
{
	const struct pvfs_label *x = a, *y = b;

	if (x->requests != y->requests)
		return x->requests > y->requests ? -1 : 1;
	return same(a, b);
}

static void add(struct pvfs_label *to, const struct pvfs_label *l)
{
	to->requests += l->requests;
	to->errors += l->errors;
	to->bytes_in += l->bytes_in;
	to->bytes_out += l->bytes_out;
	to->ns += l->ns;
}

/* A user's jobs together. */
static void join_jobs(struct labels_seen *s)
{
	int n = 0;

	for (int i = 0; i < s->n; i++) {
		s->label[i].job[0] = '\0';
		if (n && !same(&s->label[n - 1], &s->label[i]))
			add(&s->label[n - 1], &s->label[i]);
		else
			s->label[n++] = s->label[i];
	}
	s->n = n;
}

/* What came since; a server that was started anew begins at 0 again, and so does who was
 * counted among the others meanwhile. */
static void subtract(struct pvfs_label *l, const struct labels_seen *was)
{
	const struct pvfs_label *old = bsearch(l, was->label, (size_t)was->n,
					       sizeof(*l), same);

	if (!old || old->requests > l->requests)
		return;
	l->requests -= old->requests;
	l->errors -= old->errors;
	l->bytes_in -= old->bytes_in;
	l->bytes_out -= old->bytes_out;
	l->ns -= old->ns;
}

static void json_row(struct stats_labels *l, const char *who, const char *uri,
		     const struct pvfs_label *row)
{
	struct json_object *o = json_object_new_object();
	bool others = row->flags & PVFS_LABEL_OTHERS;

	json_str(o, "server", who);
	json_str(o, "uri", uri);
	json_str(o, "user",
		 others ? "others" : owners_user(l->owners, row->uid));
	json_yes(o, "direct", row->flags & PVFS_LABEL_DIRECT);
	if (!others)
		json_u64(o, "uid", row->uid);
	if (l->jobs)
		json_str(o, "job", row->job);
	json_u64(o, "requests", row->requests);
	json_u64(o, "errors", row->errors);
	json_u64(o, "bytes_in", row->bytes_in);
	json_u64(o, "bytes_out", row->bytes_out);
	json_u64(o, "mean_ns", row->requests ? row->ns / row->requests : 0);
	json_object_array_add(l->list, o);
}

static void text_row(struct stats_labels *l, const char *who,
		     const struct pvfs_label *row)
{
	bool others = row->flags & PVFS_LABEL_OTHERS;
	char in[32], out[32], user[64];

	if (l->header)
		printf("%-8s %-12s %10s %8s %10s %10s %9s%s\n", "server",
		       "user", "requests", "errors", "in", "out", "mean us",
		       l->jobs ? " job" : "");
	l->header = false;
	snprintf(user, sizeof(user), "%s%s",
		 others ? "(others)" : owners_user(l->owners, row->uid),
		 row->flags & PVFS_LABEL_DIRECT ? "*" : "");
	tool_human(row->bytes_in, in);
	tool_human(row->bytes_out, out);
	tool_line(stdout,
		  "%-8s %-12s %10" PRIu64 " %8" PRIu64 " %10s %10s %9.1f%s%s\n",
		  who, user, row->requests, row->errors, in, out,
		  row->requests ? (double)row->ns / (double)row->requests / 1e3
				: 0,
		  l->jobs ? " " : "", row->job[0] || !l->jobs ? row->job : "-");
}

static void show(struct stats_labels *l, const char *who, const char *uri,
		 struct labels_seen *rows)
{
	if (!l->jobs)
		join_jobs(rows);
	qsort(rows->label, (size_t)rows->n, sizeof(rows->label[0]), busiest);
	for (int i = 0; i < rows->n; i++) {
		if (!rows->label[i].requests)
			continue;
		if (l->list)
			json_row(l, who, uri, &rows->label[i]);
		else
			text_row(l, who, &rows->label[i]);
	}
}

static int ask(const struct stats_labels *l, const char *path, const char *uri,
	       struct labels_seen *now)
{
	int n = path ? pvfs_labels_mount(path, uri, l->timeout_ms, now->label,
					 PVFS_LABELS)
		     : pvfs_labels_server(uri, l->timeout_ms, now->label,
					  PVFS_LABELS);

	if (n < 0)
		return -1;
	now->n = n < PVFS_LABELS ? n : PVFS_LABELS;
	qsort(now->label, (size_t)now->n, sizeof(now->label[0]), same);
	return 0;
}

int stats_labels(struct stats_labels *l, const char *path, const char *who,
		 const char *uri)
{
	struct labels_seen *seen = stats_seen_of(&l->seen, uri, sizeof(*seen));
	struct labels_seen *now = calloc(1, sizeof(*now)),
			   *rows = calloc(1, sizeof(*rows));
	int rc = -1;

	if (seen && now && rows)
		rc = ask(l, path, uri, now);
	if (!rc) {
		*rows = *now;
		for (int i = 0; i < rows->n; i++)
			subtract(&rows->label[i], seen);
		seen->n = now->n;
		memcpy(seen->label, now->label, sizeof(now->label));
		if (l->show)
			show(l, who, uri, rows);
	} else if (seen) {
		seen->n = 0;
	}
	free(rows);
	free(now);
	return rc;
}

void stats_labels_free(struct stats_labels *l)
{
	stats_seen_free(l->seen);
	l->seen = NULL;
}
