/* SPDX-License-Identifier: BSD-2-Clause */
/* api_evict.c - listing and ending the sessions of a manager. */
#include <errno.h>

#include "client/lib/api/api_int.h"
#include "client/lib/api/api_probe_int.h"
#include "client/lib/names/store.h"

int pvfs_watch_sessions(struct pvfs_watch *w, uint64_t after,
			struct pvfs_session *list, int max)
{
	struct pvfs_session part[STORE_SESSIONS];
	struct session *s;
	int n;

	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	s = api_watch_session(w);
	deadline_begin();
	n = store_sessions(s, s->mgr, after, part);
	for (int i = 0; i < n && i < max; i++)
		list[i] = part[i];
	return api_int(n < max ? n : max);
}

static bool is_sound(const struct pvfs_evict *what)
{
	bool text = what->text && *what->text;

	switch (what->by) {
	case PVFS_EVICT_SESSION:
		return what->session && !text && !what->uid;
	case PVFS_EVICT_USER:
		return !what->session && !text;
	case PVFS_EVICT_JOB:
	case PVFS_EVICT_HOST:
		return !what->session && text && !what->uid;
	default:
		return false;
	}
}

int pvfs_watch_evict(struct pvfs_watch *w, const struct pvfs_evict *what,
		     struct pvfs_evicted *done)
{
	struct session *s;

	if (!w || !what || !done)
		return api_int(-EFAULT);
	if (!is_sound(what))
		return api_int(-EINVAL);
	s = api_watch_session(w);
	deadline_begin();
	return api_int(store_evict(s, s->mgr, what, done));
}
