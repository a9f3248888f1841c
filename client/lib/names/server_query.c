/* SPDX-License-Identifier: BSD-2-Clause */
/* server_query.c - see server_query.h. */
#include "client/lib/names/server_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/server_call.h"
#include "client/lib/session/broadcast.h"

#define UNIT 4096u

static uint64_t blocks_to_units(le64 blocks, uint64_t bsize)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(le64toh(blocks), bsize, &bytes))
		bytes = UINT64_MAX;
	return bytes / UNIT;
}

static void add_space(struct statfs *st, const struct wire_statfs_rep *rep)
{
	uint64_t bsize = le64toh(rep->bsize);

	st->f_blocks += blocks_to_units(rep->blocks, bsize);
	st->f_bfree += blocks_to_units(rep->bfree, bsize);
	st->f_bavail += blocks_to_units(rep->bavail, bsize);
}

static void add_files(struct statfs *st, const struct wire_statfs_rep *rep)
{
	st->f_files += le64toh(rep->files);
	st->f_ffree += le64toh(rep->ffree);
}

static void statfs_begin(struct statfs *st, uint64_t fsid)
{
	*st = (struct statfs){
		.f_type = PVFS_SUPER_MAGIC,
		.f_bsize = UNIT,
		.f_frsize = UNIT,
		.f_namelen = WIRE_NAME_MAX,
	};
	memcpy(&st->f_fsid, &fsid, sizeof(st->f_fsid));
}

static int take_disk(void *arg, const struct wire_msg *reply)
{
	const struct wire_disk_rep *rep = reply->body;

	memcpy(arg, &rep->disk, sizeof(rep->disk));
	return 0;
}

static int take_one(void *arg, const struct wire_msg *reply)
{
	add_space(arg, reply->body);
	add_files(arg, reply->body);
	return 0;
}

int server_statfs_one(struct session *s, struct rpc_peer *peer,
		      struct statfs *st)
{
	struct statfs now;
	struct server_call c;
	int rc;

	statfs_begin(&now, 0);
	server_call_begin(&c, s, peer);
	rc = server_call_run(&c, WIRE_STATFS, take_one, &now);
	if (rc)
		return rc;
	server_call_begin(&c, s, peer);
	rc = server_call_run(&c, WIRE_DISK, take_disk, &now.f_fsid);
	/* a manager, or an iod of an earlier release */
	if (!rc || rc == -ENOSYS)
		*st = now;
	return rc == -ENOSYS ? 0 : rc;
}

/* Iods that share a disk count once. */
struct total {
	struct statfs *st;
	le64 *disk; /* of each iod; 0: unknown */
};

static int note_disk(void *arg, uint32_t k, const struct wire_msg *reply)
{
	struct total *t = arg;

	return take_disk(&t->disk[k], reply);
}

static bool shares_disk(void *arg, uint32_t k)
{
	const struct total *t = arg;
	uint32_t i;

	for (i = 0; i < k && t->disk[k]; i++)
		if (t->disk[i] == t->disk[k])
			return true;
	return false;
}

static int take_iod(void *arg, uint32_t k, const struct wire_msg *reply)
{
	const struct total *t = arg;

	add_space(t->st, reply->body);
	return 0;
}

static int total_space(struct session *s, struct statfs *st)
{
	struct dist all = all_iods_dist(s);
	struct total t = { st, calloc(all.pcount, sizeof(*t.disk)) };
	struct broadcast disks = {
		.s = s, .dist = &all, .take = note_disk, .arg = &t
	};
	struct broadcast space = { .s = s,
				   .dist = &all,
				   .skip = shares_disk,
				   .take = take_iod,
				   .arg = &t };
	int rc = t.disk ? broadcast_body(&disks, WIRE_DISK, NULL, 0) : -ENOMEM;

	/* iods of an earlier release: disks are unknown */
	if (!rc || rc == -ENOSYS)
		rc = broadcast_body(&space, WIRE_STATFS, NULL, 0);
	free(t.disk);
	return rc;
}

static int take_mgr(void *arg, const struct wire_msg *reply)
{
	add_files(arg, reply->body);
	return 0;
}

/* The path must only exist. */
int server_statfs(struct session *s, const struct target *t, void *arg)
{
	struct statfs now, *st = arg;
	struct attr attr;
	struct server_call c;
	int rc;

	rc = mgr_getattr(s, t, &attr);
	if (rc)
		return rc;
	statfs_begin(&now, s->fsid);
	rc = total_space(s, &now);
	if (rc)
		return rc;
	server_call_begin(&c, s, s->mgr);
	rc = server_call_run(&c, WIRE_STATFS, take_mgr, &now);
	if (!rc)
		*st = now;
	return rc;
}

static int take_ping(void *arg, const struct wire_msg *reply)
{
	const struct wire_ping_rep *rep = reply->body;
	struct pvfs_ping *ping = arg;
	size_t len = reply->tail[0].len;

	if (len >= sizeof(ping->version))
		len = sizeof(ping->version) - 1;
	memcpy(ping->version, reply->tail[0].ptr, len);
	ping->version[len] = '\0';
	ping->boot = le64toh(rep->boot);
	ping->uptime_ns = le64toh(rep->uptime_ns);
	ping->requests = le64toh(rep->requests);
	ping->sessions = le64toh(rep->sessions);
	return 0;
}

int server_ping(struct session *s, struct rpc_peer *peer,
		struct pvfs_ping *ping)
{
	struct server_call c;

	server_call_begin(&c, s, peer);
	return server_call_run(&c, WIRE_PING, take_ping, ping);
}

/* From the connection, as far as there was one. */
static bool is_v3(const struct rpc_peer *peer)
{
	return rpc_peer_features(peer) & WIRE_FT_V3;
}

static int take_lends(void *arg, const struct wire_msg *reply)
{
	const struct wire_borrow_rep *rep = reply->body;

	*(uint32_t *)arg = le32toh(rep->flags);
	return 0;
}

unsigned int server_lends(struct session *s, struct rpc_peer *peer)
{
	struct wire_borrow none = { .handle = htole64(WIRE_B_NO_OBJECT) };
	uint32_t flags = 0;
	struct server_call c;

	if (!is_v3(peer))
		return 0;
	server_call_begin(&c, s, peer);
	server_call_put(&c, &none, sizeof(none));
	if (server_call_run(&c, WIRE_BORROW, take_lends, &flags) ||
	    !(flags & WIRE_B_NONE))
		return 0;
	return SERVER_LENDS | (flags & WIRE_B_WRITE ? SERVER_LENDS_ALL : 0);
}

int server_check_v3(struct session *s, struct rpc_peer *peer)
{
	struct pvfs_ping ping;
	int rc = is_v3(peer) ? 0 : server_ping(s, peer, &ping);

	if (rc)
		return rc;
	return is_v3(peer) ? 0 : -ENOSYS;
}

int server_check_feature(struct session *s, struct rpc_peer *peer,
			 uint32_t feature)
{
	int rc = server_check_v3(s, peer);

	if (!rc && !(rpc_peer_features(peer) & feature))
		rc = -ENOSYS;
	return rc;
}

_Static_assert(SERVER_SESSIONS == WIRE_SESSIONS_MAX, "server_query.h");
_Static_assert(PVFS_SESSION_AWAY == WIRE_SE_AWAY, "pvfs.h");
_Static_assert((int)PVFS_EVICT_SESSION == WIRE_EV_SESSION &&
		       (int)PVFS_EVICT_USER == WIRE_EV_USER &&
		       (int)PVFS_EVICT_JOB == WIRE_EV_JOB &&
		       (int)PVFS_EVICT_HOST == WIRE_EV_HOST,
	       "pvfs.h");
_Static_assert(PVFS_EVICT_IODS == WIRE_IOD_MAX, "pvfs.h");

struct sessions_taken {
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
	struct sessions_taken *t = arg;

	t->n = (int)le32toh(rep->n);
	for (int i = 0; i < t->n; i++)
		take_session(&session[i], &t->list[i]);
	return 0;
}

int server_sessions(struct session *s, struct rpc_peer *peer, uint64_t after,
		    struct pvfs_session list[SERVER_SESSIONS])
{
	const struct wire_sessions body = { .after = htole64(after) };
	struct sessions_taken t = { .list = list };
	struct server_call c;
	int rc = server_check_feature(s, peer, WIRE_FT_EVICT);

	if (rc)
		return rc;
	server_call_begin(&c, s, peer);
	server_call_put(&c, &body, sizeof(body));
	rc = server_call_run(&c, WIRE_SESSIONS, take_sessions, &t);
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

int server_evict(struct session *s, struct rpc_peer *peer,
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
	struct server_call c;
	int rc = len > WIRE_EV_TEXT
			 ? -EINVAL
			 : server_check_feature(s, peer, WIRE_FT_EVICT);

	if (rc)
		return rc;
	server_call_begin(&c, s, peer);
	c.patient = true;
	server_call_put(&c, &body, sizeof(body));
	server_call_put(&c, what->text ? what->text : "", len);
	return server_call_run(&c, WIRE_EVICT, take_evicted, done);
}
