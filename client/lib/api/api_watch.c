/* SPDX-License-Identifier: BSD-2-Clause */
/* api_watch.c - repeated questions to one server, on one connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/api/api_int.h"
#include "client/lib/api/api_probe_int.h"
#include "client/lib/names/store.h"

struct pvfs_watch {
	struct session *s;
};

struct session *api_watch_session(struct pvfs_watch *w)
{
	return w->s;
}

static int watch_open(const char *path, const char *uri, int timeout_ms,
		      struct pvfs_watch *w)
{
	struct where where = { 0 };
	int rc;

	if (path)
		where_find(&where, path);
	if (path && !where.fs)
		return -ENODEV;
	rc = api_probe(where.fs, uri, timeout_ms, &w->s);
	if (!rc)
		session_keep(w->s);
	return rc;
}

int pvfs_watch_open(const char *path, const char *uri, int timeout_ms,
		    struct pvfs_watch **watch)
{
	struct pvfs_watch *w = watch ? calloc(1, sizeof(*w)) : NULL;
	int rc;

	if (!w)
		return api_int(watch ? -ENOMEM : -EFAULT);
	rc = watch_open(path, uri, timeout_ms, w);
	if (rc)
		free(w);
	else
		*watch = w;
	return api_int(rc);
}

void pvfs_watch_close(struct pvfs_watch *w)
{
	if (!w)
		return;
	deadline_begin();
	session_put(w->s);
	free(w);
}

int pvfs_watch_ping(struct pvfs_watch *w, struct pvfs_ping *ping)
{
	if (!w || !ping)
		return api_int(-EFAULT);
	deadline_begin();
	return api_int(api_probe_ping(w->s, ping));
}

int pvfs_watch_statfs(struct pvfs_watch *w, struct statfs *st)
{
	if (!w || !st)
		return api_int(-EFAULT);
	deadline_begin();
	return api_int(store_statfs_one(w->s, w->s->mgr, st));
}

int pvfs_watch_metrics(struct pvfs_watch *w, unsigned int groups,
		       const uint64_t *handle, unsigned int n,
		       struct pvfs_metric **list)
{
	const struct store_metrics what = { groups, n, handle };

	if (!w || !list || (n && !handle))
		return api_int(-EFAULT);
	if (n > WIRE_METRIC_FILES || groups & ~PVFS_METRICS_ALL)
		return api_int(-EINVAL);
	deadline_begin();
	return api_int(store_metrics(w->s, w->s->mgr, &what, list));
}

void pvfs_metrics_free(struct pvfs_metric *list)
{
	store_metrics_free(list);
}

const char *pvfs_metric_label(const struct pvfs_metric *m, const char *key)
{
	for (unsigned int i = 0; i < m->labels; i++)
		if (!strcmp(m->label[i].key, key))
			return m->label[i].value;
	return "";
}
