/* SPDX-License-Identifier: BSD-2-Clause */
/* api_store.c - statfs, and asking servers by their address. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/api/api_int.h"
#include "client/lib/api/api_probe_int.h"
#include "common/util/histogram.h"
#include "common/wire/seal_mode.h"
#include "client/lib/names/store.h"

#define ROUNDS 3

int pvfs_statfs(const char *path, struct statfs *st)
{
	struct where w;
	int rc = where_run(&w, path, 0, store_statfs, st);

	return rc == WHERE_ORDINARY ? statfs(w.path, st) : api_int(rc);
}

int pvfs_fstatfs(int fd, struct statfs *st)
{
	struct file *f = process_file(fd);
	int rc;

	if (!f)
		return fstatfs(fd, st);
	rc = f->fs ? api_int(api_run(PROFILE_META, f, store_statfs, st))
		   : fstatfs(fd, st);
	file_put(f);
	return rc;
}

/* ---- one server ---- */

/* Returns -EINVAL and logs the reason. */
static int parse_uri(const char *uri, struct addr *addr)
{
	const char *scheme = strstr(uri, "://") ? "" : FABRIC_ANY "://";
	char full[2 * ADDR_STRLEN];

	snprintf(full, sizeof(full), "%s%s", scheme, uri);
	if (!addr_parse(full, 0, addr))
		return 0;
	log_error(process_log(),
		  "\"%s\" is no address of a server: %s; write HOST:PORT, or "
		  "TRANSPORT://HOST:PORT",
		  uri, addr_flaw(full, 0));
	return -EINVAL;
}

int api_probe(struct fs *fs, const char *uri, int timeout_ms,
	      struct session **s)
{
	struct session_attr attr = { 0 };
	struct addr addr;
	int rc = uri ? parse_uri(uri, &addr) : -EFAULT;

	if (fs)
		attr = fs_session_attr(fs);
	attr.addr = &addr;
	attr.name = "server";
	attr.timeout_ms = timeout_ms > 0 ? (unsigned int)timeout_ms
					 : process_timeout_ms();
	attr.probe = attr.tool = true;
	attr.log = process_log();
	if (rc)
		return rc;
	attr.auth.iod = fs ? fs_iod_at(fs, &addr) : 0;
	deadline_begin();
	rc = fs ? fs_session_open(fs, &attr, s) : session_open(&attr, s);
	/* without a ticket, the server at least reports that it rejects us */
	if (!rc)
		session_prove(*s, &attr);
	return rc;
}

static int ping_measure(struct session *s, struct pvfs_ping *ping)
{
	uint64_t start = clock_now(), took;
	int i, rc;

	rc = store_ping(s, s->mgr, ping);
	if (rc)
		return rc;
	ping->connect_ns = clock_now() - start;
	ping->rtt_ns = UINT64_MAX;
	for (i = 0; i < ROUNDS; i++) {
		start = clock_now();
		rc = store_ping(s, s->mgr, ping);
		took = clock_now() - start;
		if (rc)
			return rc;
		if (took < ping->rtt_ns)
			ping->rtt_ns = took;
	}
	return 0;
}

int api_probe_ping(struct session *s, struct pvfs_ping *out)
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

/* It has let us in all the same. */
static void say_full(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);
	int shortage = rpc_peer_shortage(s->mgr);

	if (shortage)
		snprintf(ping->reason + n, sizeof(ping->reason) - n, "; %s",
			 shortage == -WIRE_ENOFILES ? RPC_NO_FILES
						    : RPC_NO_SEATS);
}

static void say_believes(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);

	if (store_believes(s, s->mgr))
		snprintf(ping->reason + n, sizeof(ping->reason) - n,
			 "; auth = sys: other hosts are believed");
}

/*
 * Over the local transport, reports what the server lends.  Sessions with capabilities do
 * not ask: iods of earlier releases require a capability for the question.
 */
static void say_lends(struct session *s, struct pvfs_ping *ping)
{
	size_t n = strlen(ping->reason);
	unsigned int lends = 0;

	if (s->direct && !s->auth && !strcmp(ping->transport, "local"))
		lends = store_lends(s, s->mgr);
	if (lends)
		snprintf(ping->reason + n, sizeof(ping->reason) - n, "; %s",
			 lends & STORE_LENDS_ALL
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
		say_full(s, out);
		say_believes(s, out);
		say_lends(s, out);
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
	rc = store_statfs_one(s, s->mgr, st);
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
