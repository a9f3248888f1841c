/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_state.c - the end of a transaction, including replies and removals that must wait until it is
 * durable; the log line `ready`; the reply to PING.
 */
#include <string.h>

#include "common/util/daemon.h"
#include "mgr/state/mgr_state.h"

/* ms; a deferred item waits this long for another one to share its flush */
#define DEFER_MS 2

static int commit_changes(struct mgr *mgr)
{
	uint64_t removed = mgr->ns.removed;
	bool changed = store_changed(mgr->st);
	int rc;

	rc = ns_commit(&mgr->ns);
	if (rc)
		return rc;
	if (changed)
		checkpointer_wake(mgr->cp);
	if (removed)
		mgr->remove_id = removed;
	return 0;
}

int mgr_commit(struct mgr *mgr, struct flusher_item *item)
{
	int rc = commit_changes(mgr);

	if (!rc && item)
		flusher_add(mgr->fl, item);
	return rc;
}

int mgr_end_transaction(struct mgr *mgr, int rc, struct flusher_item *item)
{
	if (!rc)
		return mgr_commit(mgr, item);
	ns_abort(&mgr->ns);
	return rc;
}

static void on_deferred_timer(struct rpc_timer *timer)
{
	struct mgr *mgr = container_of(timer, struct mgr, deferred);

	mgr->deferred_set = false;
	flusher_release_deferred(mgr->fl);
}

int mgr_commit_deferred(struct mgr *mgr, struct flusher_item *item)
{
	int rc = commit_changes(mgr);

	if (rc)
		return rc;
	flusher_add_deferred(mgr->fl, item);
	if (mgr->deferred_set)
		return 0;
	mgr->deferred_set = true;
	mgr->deferred.fire = on_deferred_timer;
	rpc_timer_set(mgr->ctx, &mgr->deferred, clock_after_ms(DEFER_MS));
	return 0;
}

bool mgr_submit(struct mgr *mgr)
{
	struct durable_mark *mark = &mgr->mark;

	if (mgr->remove_id > mark->id && !mark->inside) {
		mark->id = mgr->remove_id;
		mark->inside = true;
		flusher_add(mgr->fl, &mark->item);
	}
	return flusher_submit(mgr->fl);
}

struct ns_op mgr_own_op(struct mgr *mgr)
{
	static const struct ns_cred self = { 0 };

	return (struct ns_op){ .ns = &mgr->ns,
			       .cred = &self,
			       .now = clock_wall() };
}

void mgr_put_ping(const struct mgr *mgr, struct wire_out *out)
{
	struct rpc_server_stats stats;
	struct wire_ping_rep rep;

	rpc_server_stats(mgr->server, &stats);
	rep = (struct wire_ping_rep){
		.boot = htole64(mgr->boot),
		.uptime_ns = htole64(clock_now() - mgr->started),
		.requests = htole64(stats.requests),
		.sessions = htole64(stats.sessions),
		.version_len = htole32(strlen(PVFS_VERSION)),
	};
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, PVFS_VERSION, strlen(PVFS_VERSION));
}

void mgr_say_ready(struct mgr *mgr)
{
	char uri[ADDR_STRLEN], fabric[FABRIC_LINE];
	struct addr addr;

	rpc_server_addr(mgr->server, &addr);
	log_info(mgr->log, "listens on: %s",
		 fabric_text(&mgr->fabric, fabric, sizeof(fabric)));
	log_always(mgr->log,
		   "ready: mgr at %s, storage %s, version %s, %u iods, "
		   "%s%llu inodes, cache %llu MiB",
		   addr_format(&addr, uri, sizeof(uri)), mgr->conf.storage,
		   PVFS_VERSION, mgr->conf.niods,
		   mgr->ns.count.next ? "at least " : "",
		   (unsigned long long)mgr->ns.inodes,
		   (unsigned long long)(mgr->conf.cache_size >> 20));
	daemon_ready(mgr->daemon);
}
