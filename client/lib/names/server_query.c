/* SPDX-License-Identifier: BSD-2-Clause */
/* server_query.c - see server_query.h. */
#include "client/lib/names/server_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/server_call.h"
#include "client/lib/session/broadcast.h"
#include "common/util/histogram.h"

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

/* Whether the server named WIRE_FT_V3 when it was connected last. */
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

/* ---- MANAGERS ---- */

_Static_assert((int)PVFS_MANAGERS_STATUS == WIRE_MA_STATUS &&
		       (int)PVFS_MANAGERS_REMOVE == WIRE_MA_REMOVE &&
		       (int)PVFS_MANAGERS_TRANSFER == WIRE_MA_TRANSFER,
	       "pvfs.h");
_Static_assert((int)PVFS_MANAGERS_FOLLOWER == WIRE_MR_FOLLOWER &&
		       (int)PVFS_MANAGERS_CANDIDATE == WIRE_MR_CANDIDATE &&
		       (int)PVFS_MANAGERS_LEADER == WIRE_MR_LEADER,
	       "pvfs.h");
_Static_assert(PVFS_MANAGERS_LEASE == WIRE_MS_LEASE &&
		       PVFS_MANAGERS_LOG_FULL == WIRE_MS_FULL &&
		       PVFS_MANAGERS_CHANGE == WIRE_MS_CHANGE,
	       "pvfs.h");
_Static_assert(PVFS_MEMBER_VOTER == WIRE_MM_VOTER &&
		       PVFS_MEMBER_RECENT == WIRE_MM_RECENT &&
		       PVFS_MEMBER_FILLED == WIRE_MM_FILLED,
	       "pvfs.h");
_Static_assert(PVFS_MEMBERS_MAX == WIRE_MEMBERS_MAX, "pvfs.h");

static void take_member(const struct wire_member *from, struct pvfs_member *to)
{
	*to = (struct pvfs_member){ .id = le64toh(from->id),
				    .lag = le64toh(from->lag),
				    .filled = le64toh(from->filled),
				    .flags = le32toh(from->flags) };
	memcpy(to->address, from->uri, sizeof(from->uri));
}

static int take_managers(void *arg, const struct wire_msg *reply)
{
	const struct wire_managers_rep *rep = reply->body;
	const struct wire_member *member = reply->tail[0].ptr;
	struct pvfs_managers *state = arg;

	*state = (struct pvfs_managers){
		.group = le64toh(rep->group),
		.term = le64toh(rep->term),
		.leader = le64toh(rep->leader),
		.self = le64toh(rep->self),
		.first = le64toh(rep->first),
		.last = le64toh(rep->last),
		.committed = le64toh(rep->committed),
		.applied = le64toh(rep->applied),
		.log_bytes = le64toh(rep->log_bytes),
		.log_limit = le64toh(rep->log_limit),
		.role = (enum pvfs_managers_role)le32toh(rep->role),
		.flags = le32toh(rep->flags),
		.n = le32toh(rep->n),
	};
	for (unsigned int i = 0; i < state->n; i++)
		take_member(&member[i], &state->member[i]);
	return 0;
}

int server_managers(struct session *s, struct rpc_peer *peer,
		    enum pvfs_managers_command command, uint64_t id,
		    struct pvfs_managers *state)
{
	const struct wire_managers body = { .id = htole64(id),
					    .cmd = htole32((uint32_t)command) };
	struct server_call c;
	int rc = server_check_v3(s, peer);

	if (rc)
		return rc;
	server_call_begin(&c, s, peer);
	server_call_put(&c, &body, sizeof(body));
	return server_call_run(&c, WIRE_MANAGERS, take_managers, state);
}

/* ---- METRICS: the counts of a server, and its present state ---- */

_Static_assert(PVFS_LATENCIES == HISTOGRAM_BUCKETS, "pvfs.h");
_Static_assert(PVFS_METRIC_LABELS == WIRE_METRIC_LABELS, "pvfs.h");
_Static_assert(PVFS_METRIC_FILES == WIRE_METRIC_FILES, "pvfs.h");
_Static_assert((unsigned int)PVFS_NOW == WIRE_MK_NOW &&
		       (unsigned int)PVFS_TOTAL == WIRE_MK_TOTAL &&
		       (unsigned int)PVFS_TIMES == WIRE_MK_TIMES,
	       "pvfs.h");
_Static_assert(PVFS_METRICS_OPS == WIRE_MG_OPS &&
		       PVFS_METRICS_USERS == WIRE_MG_USERS &&
		       PVFS_METRICS_FILES == WIRE_MG_FILES &&
		       PVFS_METRICS_INSIDE == WIRE_MG_INSIDE,
	       "pvfs.h");

/* maximum rows of one server, which could otherwise send them without end */
#define ROWS_MOST 4096u

struct metrics_taken {
	struct pvfs_metric *first, **last;
	unsigned int n;
	uint64_t next;
};

/* latency: zeros; NULL: it has none. */
static void take_numbers(struct pvfs_metric *m, const struct wire_metric *from,
			 uint64_t *latency)
{
	const struct wire_metric_bucket *b = wire_metric_buckets(from);

	*m = (struct pvfs_metric){
		.kind = (enum pvfs_metric_kind)le16toh(from->kind),
		.n = le64toh(from->n),
		.errors = le64toh(from->errors),
		.bytes_in = le64toh(from->bytes_in),
		.bytes_out = le64toh(from->bytes_out),
		.ns = le64toh(from->ns),
		.most_ns = le64toh(from->most),
		.latency = latency,
	};
	for (unsigned int i = 0; i < le16toh(from->buckets); i++)
		latency[histogram_bucket(le64toh(b[i].from))] += le64toh(
			b[i].n);
}

static const char *take_string(const char **at)
{
	const char *s = *at;

	*at += strlen(s) + 1;
	return s;
}

static void take_text(struct pvfs_metric *m, const char *text)
{
	m->name = take_string(&text);
	m->help = take_string(&text);
	for (unsigned int i = 0; i < m->labels; i++) {
		m->label[i].key = take_string(&text);
		m->label[i].value = take_string(&text);
	}
}

/* Adds a copy of the row.  One allocation holds the row, its times and its texts. */
static int take_row(struct metrics_taken *t, const struct wire_metric *from)
{
	size_t len = le16toh(from->text_len),
	       times = from->buckets ? PVFS_LATENCIES * sizeof(uint64_t) : 0;
	struct pvfs_metric *m = calloc(1, sizeof(*m) + times + len);
	uint8_t *extra = (uint8_t *)(m + 1);

	if (!m)
		return -ENOMEM;
	take_numbers(m, from, times ? (void *)extra : NULL);
	m->labels = le16toh(from->labels);
	memcpy(extra + times, wire_metric_text(from), len);
	take_text(m, (const char *)extra + times);
	*t->last = m;
	t->last = &m->next;
	t->n++;
	return 0;
}

static int take_rows(void *arg, const struct wire_msg *reply)
{
	const struct wire_metrics_rep *rep = reply->body;
	const uint8_t *at = reply->tail[0].ptr;
	size_t left = reply->tail[0].len, len;
	struct metrics_taken *t = arg;
	const char *why;
	int rc = 0;

	for (; left && !rc; at += len, left -= len) {
		len = wire_metric_len((const void *)at, left, &why);
		rc = len && t->n < ROWS_MOST ? take_row(t, (const void *)at)
					     : -EPROTO;
	}
	t->next = le64toh(rep->next);
	return rc;
}

static int ask_page(struct session *s, struct rpc_peer *peer,
		    const struct metrics_query *what, uint64_t from,
		    struct metrics_taken *t)
{
	const struct wire_metrics body = { .from = htole64(from),
					   .groups = htole32(what->groups),
					   .n = htole32(what->n) };
	struct server_call c;
	int rc;

	server_call_begin(&c, s, peer);
	server_call_put(&c, &body, sizeof(body));
	for (unsigned int i = 0; i < what->n; i++) {
		le64 handle = htole64(what->handle[i]);

		server_call_put(&c, &handle, sizeof(handle));
	}
	rc = server_call_run(&c, WIRE_METRICS, take_rows, t);
	return !rc && t->next && t->next <= from ? -EPROTO : rc;
}

int server_metrics(struct session *s, struct rpc_peer *peer,
		   const struct metrics_query *what, struct pvfs_metric **list)
{
	struct metrics_taken t = { .last = &t.first };
	int rc = server_check_v3(s, peer);

	while (!rc) {
		rc = ask_page(s, peer, what, t.next, &t);
		if (!rc && !t.next) {
			*list = t.first;
			return (int)t.n;
		}
	}
	server_metrics_free(t.first);
	return rc;
}

void server_metrics_free(struct pvfs_metric *list)
{
	struct pvfs_metric *m;

	while ((m = list)) {
		list = m->next;
		free(m);
	}
}

bool server_trusts_names(struct session *s, struct rpc_peer *peer)
{
	const struct metrics_query inside = { .groups = WIRE_MG_INSIDE };
	bool local = !strcmp(rpc_peer_transport(peer), "local");
	struct pvfs_metric *list = NULL;
	bool believes = !local;

	if (s->auth || rpc_peer_features(peer) & WIRE_FT_CAPS)
		return false;
	if (!local || server_metrics(s, peer, &inside, &list) < 0)
		return believes;
	for (const struct pvfs_metric *m = list; m; m = m->next)
		if (!strcmp(m->name, "auth_sys"))
			believes = m->n;
	server_metrics_free(list);
	return believes;
}
