/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr.c - opens the parts of the manager, runs its event loop, closes the parts. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/session/file_handover.h"
#include "mgr/auth/auth.h"
#include "mgr/backup/backup.h"
#include "common/util/incarnation.h"
#include "mgr/state/open_paths.h"
#include "common/util/daemon.h"
#include "common/util/process_limits.h"
#include "mgr/session/evict.h"
#include "mgr/jobs/jobs.h"
#include "mgr/locks/lock_waits.h"
#include "mgr/mgr.h"
#include "mgr/op/mgr_ops.h"
#include "common/util/random_id.h"
#include "mgr/request/run_queue.h"
#include "mgr/mgr_service.h"
#include "mgr/session/session_table.h"
#include "common/util/stamp.h"

#define MESSAGE_MAX (sizeof(struct wire_hdr) + WIRE_BODY_MAX)
#define DRAIN_MS 1000 /* at the end, for replies that wait for the disk */
#define QUEUE_ROUNDS 8 /* of the run queue before changes are flushed */
#define GATHER_ROUNDS 3 /* more rounds, for changes that can share a flush */
/*
 * A request may wait this long for a flush of others.  Waking the flusher and being
 * woken by it takes nearly as long.
 */
#define FLUSH_QUICK_NS 300000

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

static int open_store(struct mgr *mgr)
{
	struct stamp stamp = { mgr->conf.fsid, "mgr", 0 };
	struct store_attr attr = { .dir = mgr->conf.storage,
				   .cache_size = mgr->conf.cache_size,
				   .log = mgr->log };
	struct ns_attr ns = { .niods = mgr->conf.niods,
			      .ssize = mgr->conf.ssize,
			      .pcount = mgr->conf.pcount };
	int rc;

	mgr->dirfd = stamp_open(mgr->conf.storage, &stamp, mgr->log);
	if (mgr->dirfd < 0)
		return mgr->dirfd;
	rc = store_open(&attr, &mgr->st);
	if (!rc)
		rc = stamp_step(mgr->dirfd, mgr->conf.storage, &stamp,
				mgr->log);
	if (rc)
		return rc;
	ns.st = mgr->st;
	rc = ns_open_space(&mgr->ns, &ns);
	if (!rc)
		rc = checkpointer_open(mgr->st, &mgr->cp);
	if (!rc)
		rc = flusher_open(mgr->st, FLUSH_QUICK_NS, most_deferred(mgr),
				  on_durable, mgr, &mgr->fl);
	return rc;
}

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
		.features = WIRE_FT_LACKS | WIRE_FT_SOLE |
			    (mgr->conf.auth.seal ? WIRE_FT_SEAL_IN_PLACE : 0) |
			    (mgr->conf.auth.caps ? WIRE_FT_CAPS : 0),
		.slots = mgr->conf.slots,
		.request_max = MESSAGE_MAX,
		.reply_max = MESSAGE_MAX,
		.max_sessions = mgr->conf.max_sessions,
		.host_sessions = mgr->conf.host_sessions,
		.session_ttl_ms = mgr->conf.session_ttl_ms,
		.slow_ms = mgr->conf.slow_ms,
		.service = &mgr_service,
		.arg = mgr,
	};

	return rpc_server_open(&attr, &mgr->server);
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

/* Does not touch the disk before it is certain that this host can serve. */
static int open_all(struct mgr *mgr)
{
	int rc = random_id(&mgr->boot);

	if (!rc)
		rc = boot_id(&mgr->host);
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
	if (!rc)
		rc = mgr_auth_open(mgr);
	if (!rc)
		rc = open_server(mgr);
	if (!rc)
		rc = sessions_reject_ended(mgr);
	if (!rc)
		open_backup(mgr);
	return rc;
}

static void close_all(struct mgr *mgr)
{
	struct request *req;

	backup_server_close(mgr->backup);
	flusher_close(mgr->fl);
	mgr_auth_close(mgr);
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
	if (mgr->ctx)
		rpc_ctx_close(mgr->ctx);
	fabric_close(&mgr->fabric);
	checkpointer_close(mgr->cp);
	if (mgr->st && mgr->ns.root)
		ns_close_space(&mgr->ns);
	store_close(mgr->st);
	keyring_close(mgr->ring);
	if (mgr->dirfd >= 0)
		close(mgr->dirfd);
	mgr_conf_free(&mgr->conf);
	free(mgr);
}

/* Does a part of the work that can wait; true: there is more. */
static bool do_chores(struct mgr *mgr)
{
	bool more = remove_drop_done(mgr);

	fences_drop_done(mgr);
	more |= sessions_end_some(mgr);
	more |= sessions_remove_unheld(mgr);
	return sessions_drop_some(mgr) || more;
}

static void wait_for_more_changes(struct mgr *mgr)
{
	struct gather *g = &mgr->gather;

	gather_begin(g, flusher_flush_ns(mgr->fl));
	while (gather_waits(g, clock_now()))
		if (!rpc_ctx_progress(mgr->ctx, 0))
			sched_yield();
	gather_end(g, clock_now());
}

/* Requests that arrive meanwhile wait for one round. */
static void run_queued(struct mgr *mgr)
{
	run_queue_round(mgr->queue);
	for (int i = 1; run_queue_waits(mgr->queue) && i < QUEUE_ROUNDS; i++) {
		rpc_ctx_progress(mgr->ctx, 0);
		run_queue_round(mgr->queue);
	}
}

static void collect_requests(struct mgr *mgr, uint64_t deadline)
{
	int n = rpc_ctx_progress(mgr->ctx, deadline);

	run_queued(mgr);
	for (int i = 0; n && i < GATHER_ROUNDS; i++)
		n = flusher_will_flush_here(mgr->fl)
			    ? rpc_ctx_progress(mgr->ctx, 0)
			    : 0;
	if (flusher_will_flush_here(mgr->fl))
		wait_for_more_changes(mgr);
	if (run_queue_waits(mgr->queue))
		run_queued(mgr);
}

/*
 * One turn of the event loop.  The flusher starts before the replies of its last round
 * are sent, because these may lead to more changes.  0; 1: chores or requests are left;
 * -EIO: the store failed; -ESTALE: the iods belong to another database or manager, and
 * nothing more is acknowledged.
 */
static int run_turn(struct mgr *mgr, uint64_t deadline)
{
	bool more;

	collect_requests(mgr, deadline);
	if (mgr->foreign || mgr->displaced)
		return -ESTALE;
	mgr_submit(mgr);
	flusher_collect(mgr->fl);
	mgr_auth_collect(mgr);
	adopts_run(mgr);
	more = call_limit_run(mgr);
	more |= dir_buffers_run(mgr);
	more |= lock_waits_run(mgr);
	more |= do_chores(mgr);
	more |= mgr_submit(mgr);
	more |= run_queue_waits(mgr->queue);
	if (store_failed(mgr->st))
		return -EIO;
	return mgr->foreign || mgr->displaced ? -ESTALE : more;
}

static void drain_replies(struct mgr *mgr)
{
	uint64_t end = clock_after_ms(DRAIN_MS);

	do {
		if (run_turn(mgr, clock_after_ms(1)) < 0)
			return;
	} while (!flusher_is_empty(mgr->fl) && clock_now() < end);
	rpc_ctx_progress(mgr->ctx, 0);
}

static void report_failure(const struct mgr *mgr)
{
	log_error(mgr->log, "the database failed, see above; %s",
		  store_was_full(mgr->st)
			  ? "its disk was full: free space, then the next "
			    "start recovers it"
			  : "the next start recovers it, unless a file of it "
			    "is damaged: then restore the folder from a "
			    "backup");
}

static void *mgr_main(void *arg)
{
	struct mgr *mgr = arg;
	int rc = 1;

	if (mgr->fresh)
		log_info(mgr->log,
			 "a new file system: waits until all of its %u iods "
			 "have answered",
			 mgr->conf.niods);
	else
		mgr_say_ready(mgr);
	while (rc >= 0 && !atomic_load(&mgr->stop)) {
		uint64_t pulse = pulse_beat(daemon_pulse(mgr->daemon), 0);

		rc = run_turn(mgr, rc ? 0 : pulse);
	}
	if (rc == -EIO)
		report_failure(mgr);
	if (rc >= 0)
		drain_replies(mgr);
	else
		daemon_fail(mgr->daemon);
	return NULL;
}

int mgr_start(const struct mgr_conf *conf, const struct log *log,
	      struct daemon *daemon, struct mgr **out)
{
	struct mgr *mgr = calloc(1, sizeof(*mgr));
	int rc;

	if (!mgr)
		return -ENOMEM;
	mgr->log = log;
	mgr->daemon = daemon;
	mgr->dirfd = -1;
	mgr->started = clock_now();
	LIST_INIT(&mgr->requests);
	gather_init(&mgr->gather);
	rc = mgr_conf_copy(&mgr->conf, conf);
	if (!rc)
		rc = open_all(mgr);
	if (!rc)
		rc = -pthread_create(&mgr->thread, NULL, mgr_main, mgr);
	if (rc) {
		close_all(mgr);
		return rc;
	}
	*out = mgr;
	return 0;
}

void mgr_stop(struct mgr *mgr)
{
	atomic_store(&mgr->stop, true);
	rpc_ctx_wake(mgr->ctx);
	pthread_join(mgr->thread, NULL);
	close_all(mgr);
}

void mgr_reload(struct mgr *mgr)
{
	if (mgr->ring)
		keyring_reload(mgr->ring);
	else
		log_info(mgr->log, "SIGHUP: there is no key to read again");
}
