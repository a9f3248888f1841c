/* SPDX-License-Identifier: BSD-2-Clause */
/* api_watch.c - repeated questions to one server, on one connection. */
#include <stdlib.h>

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

int pvfs_watch_labels(struct pvfs_watch *w, struct pvfs_label *list, int max)
{
	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	deadline_begin();
	return api_int(api_probe_labels(w->s, list, max));
}

int pvfs_watch_stats(struct pvfs_watch *w, struct pvfs_op_stats *list, int max)
{
	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	deadline_begin();
	return api_int(api_probe_stats(w->s, list, max));
}

int pvfs_watch_hot(struct pvfs_watch *w, struct pvfs_hot *list, int max)
{
	struct pvfs_hot all[STORE_HOT];
	int n;

	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	deadline_begin();
	n = store_hot(w->s, w->s->mgr, all);
	for (int i = 0; i < n && i < max; i++)
		list[i] = all[i];
	return api_int(n);
}

int pvfs_watch_gauges(struct pvfs_watch *w, struct pvfs_gauge *list, int max)
{
	struct pvfs_gauge all[PVFS_GAUGES];
	int n;

	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	deadline_begin();
	n = store_gauges(w->s, w->s->mgr, all);
	for (int i = 0; i < n && i < max; i++)
		list[i] = all[i];
	return api_int(n);
}

static int watch_times(struct session *s, struct pvfs_times *list, int max)
{
	struct pvfs_times part[STORE_TIMES];
	uint32_t next = 0;
	int n = 0, got;

	do {
		got = store_times(s, s->mgr, next, part, &next);
		for (int i = 0; i < got && n + i < max; i++)
			list[n + i] = part[i];
		n += got;
	} while (got >= 0 && next);
	return got < 0 ? got : n;
}

int pvfs_watch_times(struct pvfs_watch *w, struct pvfs_times *list, int max)
{
	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	deadline_begin();
	return api_int(watch_times(w->s, list, max));
}

int pvfs_watch_names(struct pvfs_watch *w, struct pvfs_hot *list, int n)
{
	if (!w || n < 0 || n > STORE_HOT || (n && !list))
		return api_int(n < 0 || n > STORE_HOT ? -EINVAL : -EFAULT);
	deadline_begin();
	return api_int(store_names(w->s, w->s->mgr, list, n));
}
