/* SPDX-License-Identifier: BSD-2-Clause */
/* api_server.c - statfs, and questions to servers by their address. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/api/api_int.h"
#include "client/lib/names/server_query.h"
#include "common/util/histogram.h"
#include "common/wire/security_mode.h"

#define ROUNDS 3

int pvfs_statfs(const char *path, struct statfs *st)
{
	struct where w;
	int rc = where_run(&w, path, 0, server_statfs, st);

	return rc == WHERE_ORDINARY ? statfs(w.path, st) : api_int(rc);
}

int pvfs_fstatfs(int fd, struct statfs *st)
{
	struct file *f = process_file(fd);
	int rc;

	if (!f)
		return fstatfs(fd, st);
	rc = f->fs ? api_int(api_run(PROFILE_META, f, server_statfs, st))
		   : fstatfs(fd, st);
	file_put(f);
	return rc;
}

/* ---- one server ---- */

/* The addresses in a URI: one server, or all managers of a file system. */
struct uri_list {
	unsigned int n;
	struct addr addr[WIRE_MGR_MAX];
};

/*
 * Parses one address of a list.  An address without a transport gets the transport of the first
 * one.  Returns 0, or -EINVAL, logged.
 */
static int parse_one(const char *uri, size_t len, struct uri_list *list)
{
	const char *scheme = list->n ? list->addr[0].scheme : FABRIC_ANY;
	char full[2 * ADDR_STRLEN];
	int n = snprintf(full, sizeof(full), "%s%s%.*s",
			 memmem(uri, len, "://", 3) ? "" : scheme,
			 memmem(uri, len, "://", 3) ? "" : "://", (int)len,
			 uri);

	if (list->n < WIRE_MGR_MAX && n < (int)sizeof(full) &&
	    !addr_parse(full, 0, &list->addr[list->n])) {
		list->n++;
		return 0;
	}
	log_error(process_log(),
		  "\"%.*s\" is no address of a server: %s; write HOST:PORT, or "
		  "TRANSPORT://HOST:PORT",
		  (int)len, uri,
		  list->n == WIRE_MGR_MAX ? "too many managers before it"
					  : addr_flaw(full, 0));
	return -EINVAL;
}

/* Returns -EINVAL and logs the reason. */
static int parse_uri(const char *uri, struct uri_list *list)
{
	int rc;

	list->n = 0;
	for (;;) {
		size_t len = strcspn(uri, ",");

		rc = parse_one(uri, len, list);
		if (rc || !uri[len])
			return rc;
		uri += len + 1;
	}
}

/*
 * Starts the deadline of the call, and opens a session with the server uri, with the options of the
 * mount fs (NULL: none).  If uri lists managers, the server is the one that leads.  The caller
 * releases *s with session_put().  Returns 0, or an error of pvfs_ping_mount() as -errno.
 */
static int api_probe(struct fs *fs, const char *uri, int timeout_ms,
		     struct session **s)
{
	struct session_attr attr = { 0 };
	struct uri_list list;
	int rc = uri ? parse_uri(uri, &list) : -EFAULT;

	if (fs)
		attr = fs_session_attr(fs);
	attr.addr = list.addr;
	attr.nmanagers = list.n > 1 ? list.n : 0;
	attr.name = "server";
	attr.timeout_ms = timeout_ms > 0 ? (unsigned int)timeout_ms
					 : process_timeout_ms();
	attr.probe = attr.tool = true;
	attr.log = process_log();
	if (rc)
		return rc;
	attr.auth.iod = fs && list.n == 1 ? fs_iod_at(fs, &list.addr[0]) : 0;
	deadline_begin();
	rc = fs ? fs_session_open(fs, &attr, s) : session_open(&attr, s);
	if (rc)
		return rc;
	/*
	 * If a manager gives no ticket, continue: the server then reports that it rejects us.  But
	 * if no manager leads, such a rejection would say nothing about this client, so fail.
	 */
	rc = session_prove(*s, &attr);
	if (rc != -ENOTCONN)
		return 0;
	session_put(*s);
	return rc;
}

static int ping_measure(struct session *s, struct pvfs_ping *ping)
{
	uint64_t start = clock_now(), took;
	int i, rc;

	rc = server_ping(s, s->mgr, ping);
	if (rc)
		return rc;
	ping->connect_ns = clock_now() - start;
	ping->rtt_ns = UINT64_MAX;
	for (i = 0; i < ROUNDS; i++) {
		start = clock_now();
		rc = server_ping(s, s->mgr, ping);
		took = clock_now() - start;
		if (rc)
			return rc;
		if (took < ping->rtt_ns)
			ping->rtt_ns = took;
	}
	return 0;
}

static int api_probe_ping(struct session *s, struct pvfs_ping *out)
{
	struct pvfs_ping ping = { 0 };
	int rc = ping_measure(s, &ping);

	if (rc)
		return rc;
	snprintf(ping.transport, sizeof(ping.transport), "%s",
		 rpc_peer_transport(s->mgr));
	snprintf(ping.reason, sizeof(ping.reason), "%s",
		 rpc_peer_reason(s->mgr));
	snprintf(ping.seal, sizeof(ping.seal), "%s",
		 seal_mode_name(rpc_peer_seal(s->mgr)));
	*out = ping;
	return 0;
}

/*
 * Adds the server's shortage of descriptors or sessions to the reason.  The server accepted this
 * connection from its reserve.
 */
static void reason_add_shortage(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);
	int shortage = rpc_peer_shortage(s->mgr);

	if (shortage)
		snprintf(ping->reason + n, sizeof(ping->reason) - n, "; %s",
			 shortage == -WIRE_ENOFILES ? RPC_NO_FILES
						    : RPC_NO_SEATS);
}

static void reason_add_leader(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);
	char uri[ADDR_STRLEN];

	snprintf(ping->reason + n, sizeof(ping->reason) - n, "; %s leads",
		 addr_format(rpc_peer_addr(s->mgr), uri, sizeof(uri)));
}

static void reason_add_trust(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);

	if (server_trusts_names(s, s->mgr))
		snprintf(ping->reason + n, sizeof(ping->reason) - n,
			 "; auth = sys: other hosts are believed");
}

/*
 * Over the local transport, reports what the server lends.  Sessions with capabilities do
 * not ask: iods of earlier releases require a capability for the question.
 */
static void reason_add_loans(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);
	unsigned int lends = 0;

	if (s->direct && !s->auth && !strcmp(ping->transport, "local"))
		lends = server_lends(s, s->mgr);
	if (lends)
		snprintf(ping->reason + n, sizeof(ping->reason) - n, "; %s",
			 lends & SERVER_LENDS_ALL
				 ? "lends objects, for writing too"
				 : "lends objects");
}

static int ping_one(struct fs *fs, const char *uri, int timeout_ms,
		    struct pvfs_ping *out)
{
	struct session *s;
	int rc = out ? api_probe(fs, uri, timeout_ms, &s) : -EFAULT;

	if (rc)
		return api_int(rc);
	rc = api_probe_ping(s, out);
	if (!rc) {
		if (strchr(uri, ','))
			reason_add_leader(s, out);
		reason_add_shortage(s, out);
		reason_add_trust(s, out);
		reason_add_loans(s, out);
	}
	session_put(s);
	return api_int(rc);
}

static int statfs_one(struct fs *fs, const char *uri, int timeout_ms,
		      struct statfs *st)
{
	struct session *s;
	int rc = st ? api_probe(fs, uri, timeout_ms, &s) : -EFAULT;

	if (rc)
		return api_int(rc);
	rc = server_statfs_one(s, s->mgr, st);
	session_put(s);
	return api_int(rc);
}

int pvfs_ping_server(const char *uri, int timeout_ms, struct pvfs_ping *ping)
{
	return ping_one(NULL, uri, timeout_ms, ping);
}

int pvfs_ping_mount(const char *path, const char *uri, int timeout_ms,
		    struct pvfs_ping *ping)
{
	struct where w;

	where_find(&w, path);
	return w.fs ? ping_one(w.fs, uri, timeout_ms, ping) : api_int(-ENODEV);
}

int pvfs_statfs_server(const char *uri, int timeout_ms, struct statfs *st)
{
	return statfs_one(NULL, uri, timeout_ms, st);
}

int pvfs_statfs_mount(const char *path, const char *uri, int timeout_ms,
		      struct statfs *st)
{
	struct where w;

	where_find(&w, path);
	return w.fs ? statfs_one(w.fs, uri, timeout_ms, st) : api_int(-ENODEV);
}

uint64_t pvfs_latency_ns(unsigned int i)
{
	return histogram_floor(i < HISTOGRAM_BUCKETS ? i : HISTOGRAM_BUCKETS);
}

/* ---- repeated questions to one server, on one connection ---- */

struct pvfs_watch {
	struct session *s;
};

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
	return api_int(server_statfs_one(w->s, w->s->mgr, st));
}

int pvfs_watch_metrics(struct pvfs_watch *w, unsigned int groups,
		       const uint64_t *handle, unsigned int n,
		       struct pvfs_metric **list)
{
	const struct metrics_query what = { groups, n, handle };

	if (!w || !list || (n && !handle))
		return api_int(-EFAULT);
	if (n > WIRE_METRIC_FILES || groups & ~PVFS_METRICS_ALL)
		return api_int(-EINVAL);
	deadline_begin();
	return api_int(server_metrics(w->s, w->s->mgr, &what, list));
}

void pvfs_metrics_free(struct pvfs_metric *list)
{
	server_metrics_free(list);
}

const char *pvfs_metric_label(const struct pvfs_metric *m, const char *key)
{
	for (unsigned int i = 0; i < m->labels; i++)
		if (!strcmp(m->label[i].key, key))
			return m->label[i].value;
	return "";
}

/* ---- listing and ending the sessions of a manager ---- */

int pvfs_watch_sessions(struct pvfs_watch *w, uint64_t after,
			struct pvfs_session *list, int max)
{
	struct pvfs_session part[SERVER_SESSIONS];
	struct session *s;
	int n;

	if (!w || max < 0 || (max && !list))
		return api_int(max < 0 ? -EINVAL : -EFAULT);
	s = w->s;
	deadline_begin();
	n = server_sessions(s, s->mgr, after, part);
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
	s = w->s;
	deadline_begin();
	return api_int(server_evict(s, s->mgr, what, done));
}

/* ---- the group of managers ---- */

int pvfs_watch_managers(struct pvfs_watch *w,
			enum pvfs_managers_command command, uint64_t id,
			struct pvfs_managers *state)
{
	if (!w || !state)
		return api_int(-EFAULT);
	if (command == PVFS_MANAGERS_STATUS
		    ? id != 0
		    : command != PVFS_MANAGERS_TRANSFER &&
			      (command != PVFS_MANAGERS_REMOVE || !id))
		return api_int(-EINVAL);
	deadline_begin();
	return api_int(server_managers(w->s, w->s->mgr, command, id, state));
}
