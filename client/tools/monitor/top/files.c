/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c - the busiest files over all servers: see gather.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/monitor/top/gather.h"
#include "client/tools/common/metric.h"

static int by_handle(const void *a, const void *b)
{
	const struct top_file *x = a, *y = b;

	return strcmp(x->handle, y->handle);
}

static int by_file_rates(const void *a, const void *b)
{
	const struct top_file *x = a, *y = b;
	int order = top_rates_busiest(&x->rates, &y->rates);

	return order ? order : by_handle(a, b);
}

void top_files_add(struct top *top, const struct pvfs_metric *row,
		   double seconds)
{
	struct top_file *f;

	f = reallocarray(top->file, top->files + 1, sizeof(*f));
	if (!f)
		return;
	top->file = f;
	f += top->files++;
	*f = (struct top_file){ .rates = top_rates_of(row, seconds) };
	snprintf(f->handle, sizeof(f->handle), "%s",
		 pvfs_metric_label(row, "handle"));
}

static const char *name_of(const struct top *top, const char *handle)
{
	for (unsigned int i = 0; i < top->servers; i++) {
		const struct pvfs_metric *m = top->server[i].last.names;

		for (; m; m = m->next)
			if (!strcmp(pvfs_metric_label(m, "handle"), handle) &&
			    pvfs_metric_label(m, "name")[0])
				return pvfs_metric_label(m, "name");
	}
	return "";
}

static void want_name(struct poller *p, const char *handle)
{
	uint64_t number = strtoull(handle, NULL, 16);

	for (unsigned int i = 0; i < p->nwanted; i++)
		if (p->wanted[i] == number)
			return;
	if (p->nwanted < PVFS_METRIC_FILES)
		p->wanted[p->nwanted++] = number;
}

static const struct pvfs_metric *next_file(const struct pvfs_metric *m)
{
	while (m && !metric_is(m, "file"))
		m = m->next;
	return m;
}

/*
 * The files of this page, then those that may be on the next: the busiest of each
 * server first.
 */
static void choose_wanted(struct top *top)
{
	const struct pvfs_metric **at = calloc(top->servers,
					       sizeof(struct pvfs_metric *));

	top->poller.nwanted = 0;
	for (unsigned int i = 0; i < top->files; i++)
		want_name(&top->poller, top->file[i].handle);
	for (unsigned int i = 0; at && i < top->servers; i++)
		at[i] = next_file(top->server[i].last.rows);
	for (int k = 0; at && k < PVFS_METRIC_FILES; k++)
		for (unsigned int i = 0; i < top->servers; i++) {
			if (!at[i])
				continue;
			want_name(&top->poller,
				  pvfs_metric_label(at[i], "handle"));
			at[i] = next_file(at[i]->next);
		}
	free(at);
}

void top_files_join(struct top *top)
{
	struct top_file *f = top->file;
	unsigned int n = 0;

	if (top->files)
		qsort(f, top->files, sizeof(*f), by_handle);
	for (unsigned int i = 0; i < top->files; i++) {
		if (!n || by_handle(&f[n - 1], &f[i])) {
			f[n] = f[i];
			f[n++].name = name_of(top, f[i].handle);
			continue;
		}
		top_rates_add(&f[n - 1].rates, &f[i].rates);
	}
	top->files = n;
	if (n)
		qsort(f, n, sizeof(*f), by_file_rates);
	choose_wanted(top);
}
