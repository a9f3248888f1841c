/* SPDX-License-Identifier: BSD-2-Clause */
/* api_labels.c - asking a server for the requests of users and jobs. */
#include <errno.h>

#include "client/lib/api/api_int.h"
#include "client/lib/api/api_probe_int.h"
#include "client/lib/names/store.h"

_Static_assert(sizeof(((struct pvfs_label *)0)->job) > WIRE_JOB_MAX, "pvfs.h");

/*
 * from must increase and the total is bounded, so that a server cannot make the loop
 * endless.
 */
int api_probe_labels(struct session *s, struct pvfs_label *list, int max)
{
	struct store_labels part;
	uint32_t from = 0;
	int n = 0, rc;

	do {
		rc = store_labels(s, s->mgr, from, &part);
		if (rc)
			return rc;
		for (int i = 0; i < part.n && n + i < max; i++)
			list[n + i] = part.label[i];
		n += part.n;
		if (part.next && (part.next <= from || n > PVFS_LABELS))
			return -EPROTO;
		from = part.next;
	} while (from);
	return n;
}

static int labels_one(struct fs *fs, const char *uri, int timeout_ms,
		      struct pvfs_label *list, int max)
{
	struct session *s;
	int rc = max < 0 ? -EINVAL : max && !list ? -EFAULT : 0;

	if (!rc)
		rc = api_probe(fs, uri, timeout_ms, &s);
	if (rc)
		return api_int(rc);
	rc = api_probe_labels(s, list, max);
	session_put(s);
	return api_int(rc);
}

int pvfs_labels_server(const char *uri, int timeout_ms, struct pvfs_label *list,
		       int max)
{
	return labels_one(NULL, uri, timeout_ms, list, max);
}

int pvfs_labels_mount(const char *path, const char *uri, int timeout_ms,
		      struct pvfs_label *list, int max)
{
	struct where w;

	where_find(&w, path);
	return w.fs ? labels_one(w.fs, uri, timeout_ms, list, max)
		    : api_int(-ENODEV);
}
