/* SPDX-License-Identifier: BSD-2-Clause */
/* evict.c - SESSIONS and EVICT, which administrators send to a manager. */
#include <errno.h>
#include <string.h>

#include "client/lib/session/ask.h"
#include "client/lib/names/store.h"

_Static_assert(STORE_SESSIONS == WIRE_SESSIONS_MAX, "store.h");
_Static_assert(PVFS_SESSION_AWAY == WIRE_SE_AWAY, "pvfs.h");
_Static_assert((int)PVFS_EVICT_SESSION == WIRE_EV_SESSION &&
		       (int)PVFS_EVICT_USER == WIRE_EV_USER &&
		       (int)PVFS_EVICT_JOB == WIRE_EV_JOB &&
		       (int)PVFS_EVICT_HOST == WIRE_EV_HOST,
	       "pvfs.h");
_Static_assert(PVFS_EVICT_IODS == WIRE_IOD_MAX, "pvfs.h");

struct taken {
	struct pvfs_session *list;
	int n;
};

static void take_session(const struct wire_session *from,
			 struct pvfs_session *to)
{
	*to = (struct pvfs_session){
		.id = le64toh(from->id),
		.age_ns = le64toh(from->age_ns),
		.uid = le32toh(from->uid),
		.gid = le32toh(from->gid),
		.opens = le32toh(from->opens),
		.locks = le32toh(from->locks),
		.flags = le32toh(from->flags),
	};
	memcpy(to->job, from->job, sizeof(from->job));
	memcpy(to->name, from->name, sizeof(from->name));
	memcpy(to->peer, from->peer, sizeof(from->peer));
}

static int take_sessions(void *arg, const struct wire_msg *reply)
{
	const struct wire_sessions_rep *rep = reply->body;
	const struct wire_session *session = reply->tail[0].ptr;
	struct taken *t = arg;

	t->n = (int)le32toh(rep->n);
	for (int i = 0; i < t->n; i++)
		take_session(&session[i], &t->list[i]);
	return 0;
}

int store_sessions(struct session *s, struct rpc_peer *peer, uint64_t after,
		   struct pvfs_session list[STORE_SESSIONS])
{
	const struct wire_sessions body = { .after = htole64(after) };
	struct taken t = { .list = list };
	struct ask c;
	int rc = store_knows(s, peer, WIRE_FT_EVICT);

	if (rc)
		return rc;
	ask_begin(&c, s, peer);
	ask_put(&c, &body, sizeof(body));
	rc = ask_run(&c, WIRE_SESSIONS, take_sessions, &t);
	if (!rc && t.n && list[0].id <= after)
		rc = -EPROTO;
	return rc ? rc : t.n;
}

static int take_evicted(void *arg, const struct wire_msg *reply)
{
	const struct wire_evict_rep *rep = reply->body;
	const le32 *iod = reply->tail[0].ptr;
	struct pvfs_evicted *done = arg;

	*done = (struct pvfs_evicted){ .sessions = le32toh(rep->n),
				       .left = le32toh(rep->left),
				       .iods = le32toh(rep->niods),
				       .until_ns = le64toh(rep->until_ns) };
	for (unsigned int i = 0; i < done->iods; i++)
		done->iod[i] = le32toh(iod[i]);
	return 0;
}

int store_evict(struct session *s, struct rpc_peer *peer,
		const struct pvfs_evict *what, struct pvfs_evicted *done)
{
	size_t len = what->text ? strlen(what->text) : 0;
	struct wire_evict body = {
		.session = htole64(what->session),
		.by = htole32((uint32_t)what->by),
		.uid = htole32(what->uid),
		/* the manager answers before our timeout */
		.wait_ms = htole32(s->timeout_ms / 4 * 3),
		.len = htole32((uint32_t)len),
	};
	struct ask c;
	int rc = len > WIRE_EV_TEXT ? -EINVAL
				    : store_knows(s, peer, WIRE_FT_EVICT);

	if (rc)
		return rc;
	ask_begin(&c, s, peer);
	c.patient = true;
	ask_put(&c, &body, sizeof(body));
	ask_put(&c, what->text ? what->text : "", len);
	return ask_run(&c, WIRE_EVICT, take_evicted, done);
}
