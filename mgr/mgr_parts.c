/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_parts.c - opens and closes the parts of a manager, in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/incarnation.h"
#include "common/util/process_limits.h"
#include "common/util/random_id.h"
#include "common/util/stamp.h"
#include "mgr/auth/auth.h"
#include "mgr/backup/backup.h"
#include "mgr/filling.h"
#include "mgr/group/group.h"
#include "mgr/jobs/jobs.h"
#include "mgr/locks/lock_waits.h"
#include "mgr/membership.h"
#include "mgr/mgr_parts.h"
#include "mgr/mgr_service.h"
#include "mgr/op/mgr_ops.h"
#include "mgr/recovery.h"
#include "mgr/request/request.h"
#include "mgr/request/run_queue.h"
#include "mgr/session/evict.h"
#include "mgr/session/file_handover.h"
#include "mgr/session/session_table.h"
#include "mgr/state/open_paths.h"

#define MESSAGE_MAX (sizeof(struct wire_hdr) + WIRE_BODY_MAX)
/*
 * A request may wait this long for a flush of others.  Waking the flusher and being
 * woken by it takes nearly as long.
 */
#define FLUSH_QUICK_NS 300000

/* ---- the base ---- */

static int open_fabric(struct mgr *mgr)
{
	struct tp_dev_attr dev = {
		.log = mgr->log,
		.rdma = &mgr->conf.fabric.rdma,
		.dead_peer_ms = mgr->conf.fabric.dead_peer_s * 1000,
		.where = mgr->conf.fabric.where
	};
	int rc = fabric_open(&mgr->fabric, mgr_conf_scheme(&mgr->conf),
			     mgr->conf.fabric.option, &dev);

	return rc ? rc : rpc_server_try(&mgr->fabric, &mgr->conf.addr);
}

/* Without a key, peers are identified by their addresses. */
static int open_ring(struct mgr *mgr)
{
	if (mgr->conf.key[0])
		return keyring_open(mgr->conf.key, true, mgr->log, &mgr->ring);
	log_warn(mgr->log,
		 "[filesystem] key is not set: any process at the address of an "
		 "iod is accepted as that iod, and iods accept any process of "
		 "this host as the manager (docs/trust.md)");
	return 0;
}

static int open_store(struct mgr *mgr)
{
	struct stamp stamp = { mgr->conf.fsid, "mgr", 0 };
	struct store_attr attr = { .dir = mgr->conf.storage,
				   .cache_size = mgr->conf.cache_size,
				   .log = mgr->log,
				   .replicated = mgr->conf.mgrs.numbered,
				   .leave_unused_group = true };
	int rc;

	mgr->dirfd = stamp_open(mgr->conf.storage, &stamp, mgr->log);
	if (mgr->dirfd < 0)
		return mgr->dirfd;
	rc = recovery_check_over(mgr->dirfd, mgr->conf.storage, mgr->log);
	if (!rc)
		rc = filling_finish(mgr->conf.storage, mgr->log);
	if (!rc)
		rc = mgr_group_leave(mgr->conf.storage, mgr->conf.cache_size,
				     mgr->log, !attr.replicated);
	if (!rc)
		rc = store_open(&attr, &mgr->st);
	if (!rc)
		rc = stamp_step(mgr->dirfd, mgr->conf.storage, &stamp,
				mgr->log);
	return rc ? rc : checkpointer_open(mgr->st, &mgr->cp);
}

static int open_ctx(struct mgr *mgr)
{
	struct rpc_ctx_attr attr = { .log = mgr->log,
				     .poll_us = mgr->conf.poll_us,
				     .fabric = &mgr->fabric };

	return rpc_ctx_open(&attr, &mgr->ctx);
}

/* The server logs an error. */
static int open_server(struct mgr *mgr)
{
	struct rpc_server_attr attr = {
		.ctx = &mgr->ctx,
		.nctx = 1,
		.log = mgr->log,
		.addr = mgr->conf.addr,
		.fsid = mgr->conf.fsid,
		.boot = mgr->boot,
		.allow = &mgr->conf.allow,
		.prover = keyring_prover(mgr->ring),
		.keeper = mgr->keeper,
		.seal = mgr->conf.auth.seal,
		.role = WIRE_ROLE_MGR,
		.features = WIRE_FT_LACKS | WIRE_FT_SOLE | WIRE_FT_RECORDED |
			    (mgr->conf.auth.seal ? WIRE_FT_SEAL_IN_PLACE : 0) |
			    (mgr->conf.auth.caps ? WIRE_FT_CAPS : 0) |
			    (mgr->group ? WIRE_FT_RAFT : 0),
		.slots = mgr->conf.slots,
		.request_max = MESSAGE_MAX,
		.reply_max = MESSAGE_MAX,
		.max_sessions = mgr->conf.max_sessions,
		.host_sessions = mgr->conf.host_sessions,
		.session_ttl_ms = mgr->conf.session_ttl_ms,
		.slow_ms = mgr->conf.slow_ms,
		.service = mgr->group ? &mgr_member_service : &mgr_service,
		.arg = mgr,
	};

	return rpc_server_open(&attr, &mgr->server);
}

/* Does not touch the disk before it is certain that this host can serve. */
int parts_open_base(struct mgr *mgr)
{
	int rc = random_id(&mgr->boot);

	if (!rc)
		rc = clock_id(&mgr->clock);
	if (rc)
		return rc;
	descriptors_raise(); /* each client needs some */
	rc = open_fabric(mgr);
	if (!rc)
		rc = open_ring(mgr);
	if (!rc)
		rc = open_store(mgr);
	if (!rc)
		rc = open_ctx(mgr);
	return rc;
}

/* ---- a member of a group ---- */

int parts_open_member(struct mgr *mgr)
{
	int rc = membership_open(mgr);

	if (!rc)
		rc = mgr_auth_open(mgr);
	return rc ? rc : open_server(mgr);
}

/* ---- the service ---- */

static void on_durable(void *arg)
{
	struct mgr *mgr = arg;

	rpc_ctx_wake(mgr->ctx);
}

/*
 * Each deferred item occupies a slot of its client.  A client without a free slot would
 * stand still.
 */
static unsigned int most_deferred(const struct mgr *mgr)
{
	return (mgr->conf.slots + 1) / 2;
}

static int open_flusher(struct mgr *mgr)
{
	struct managers_log log;

	if (!mgr->group)
		return flusher_open(mgr->st, FLUSH_QUICK_NS, most_deferred(mgr),
				    on_durable, mgr, &mgr->fl);
	log = mgr_group_log(mgr->group);
	return flusher_open_replicated(mgr->st, &log, most_deferred(mgr),
				       &mgr->fl);
}

static int open_name_space(struct mgr *mgr)
{
	struct ns_attr ns = { .st = mgr->st,
			      .niods = mgr->conf.niods,
			      .ssize = mgr->conf.ssize,
			      .pcount = mgr->conf.pcount };

	return ns_open_space(&mgr->ns, &ns);
}

/* The database becomes ready for transactions. */
static int begin_to_lead(struct mgr *mgr)
{
	mgr->group_term = mgr_group_term(mgr->group);
	return mgr_group_lead(mgr->group);
}

/* Without it the manager serves: the disk may be full. */
static void open_backup(struct mgr *mgr)
{
	int rc = backup_server_open(mgr->st, mgr->dirfd, mgr->log,
				    &mgr->backup);

	if (rc)
		log_warn(mgr->log,
			 "pvfs-mgr --backup is not possible: socket in storage "
			 "%s: %s; correct this and restart the manager",
			 mgr->conf.storage, strerror(-rc));
}

int parts_open_service(struct mgr *mgr)
{
	int rc = mgr->group ? begin_to_lead(mgr) : 0;

	if (!rc)
		rc = open_name_space(mgr);
	if (!rc)
		rc = open_flusher(mgr);
	if (!rc)
		rc = run_queue_open(request_turn, &mgr->queue);
	if (!rc)
		rc = dir_buffers_open(mgr);
	if (!rc)
		rc = tokens_open(mgr);
	if (!rc)
		rc = lock_waits_open(mgr);
	if (!rc)
		rc = adopts_open(mgr);
	if (!rc)
		rc = evicts_open(mgr);
	if (!rc)
		mgr->open_paths = calloc(1, sizeof(*mgr->open_paths));
	if (!rc)
		rc = jobs_open(mgr, session_end_fenced);
	if (!rc)
		rc = sessions_open(mgr);
	if (!rc && !mgr->group)
		rc = mgr_auth_open(mgr);
	if (!rc && !mgr->group)
		rc = open_server(mgr);
	if (!rc)
		rc = sessions_reject_ended(mgr);
	if (!rc)
		open_backup(mgr);
	mgr->serves = !rc;
	return rc;
}

/* ---- the end ---- */

void parts_close(struct mgr *mgr)
{
	struct request *req;

	backup_server_close(mgr->backup);
	flusher_close(mgr->fl);
	mgr_auth_close(mgr);
	membership_stop(mgr);
	if (mgr->server)
		rpc_server_close(mgr->server);
	sessions_close(mgr);
	lock_waits_close(mgr);
	while ((req = LIST_FIRST(&mgr->requests)))
		request_drop(req);
	run_queue_close(mgr->queue);
	jobs_close(mgr);
	mgr_auth_free(mgr);
	free(mgr->open_paths);
	evicts_close(mgr);
	adopts_close(mgr);
	tokens_close(mgr);
	dir_buffers_close(mgr);
	membership_close(mgr);
	if (mgr->ctx)
		rpc_ctx_close(mgr->ctx);
	fabric_close(&mgr->fabric);
	checkpointer_close(mgr->cp);
	if (mgr->st && mgr->ns.root)
		ns_close_space(&mgr->ns, !mgr->group);
	store_close(mgr->st);
	keyring_close(mgr->ring);
	if (mgr->dirfd >= 0)
		close(mgr->dirfd);
	mgr_conf_free(&mgr->conf);
	free(mgr);
}
