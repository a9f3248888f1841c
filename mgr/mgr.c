/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr.c - the event loop of the manager. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "common/util/daemon.h"
#include "mgr/auth/auth.h"
#include "mgr/group/group.h"
#include "mgr/jobs/jobs.h"
#include "mgr/locks/lock_waits.h"
#include "mgr/membership.h"
#include "mgr/mgr.h"
#include "mgr/mgr_parts.h"
#include "mgr/op/mgr_ops.h"
#include "mgr/request/run_queue.h"
#include "mgr/session/file_handover.h"
#include "mgr/session/session_table.h"

#define DRAIN_MS 1000 /* at the end, for replies that wait for the disk */
#define LEASE_MS 2000 /* until a leader has its lease again, or does not lead */
#define QUEUE_ROUNDS 8 /* of the run queue before changes are flushed */
#define GATHER_ROUNDS 3 /* more rounds, for changes that can share a flush */

/* Does a part of the work that can wait; true: there is more. */
static bool do_chores(struct mgr *mgr)
{
	bool more = remove_drop_done(mgr);

	fences_drop_done(mgr);
	more |= sessions_end_some(mgr);
	more |= sessions_remove_unheld(mgr);
	more |= ns_count_some(&mgr->ns);
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

/* Nothing may be acknowledged any more, which is logged. */
static bool is_replaced(const struct mgr *mgr)
{
	return mgr->foreign || mgr->displaced ||
	       (mgr->group && mgr_group_state(mgr->group) != GROUP_LEADS);
}

/* As a member of its group, this manager can start again. */
static bool may_follow(const struct mgr *mgr)
{
	return mgr->group && !mgr->foreign && !mgr->superseded &&
	       !store_failed(mgr->st) &&
	       (mgr->displaced || mgr_group_state(mgr->group) == GROUP_LOST);
}

/*
 * One turn of the event loop.  The flusher starts before the replies of its last round
 * are sent, because these may lead to more changes.  0; 1: chores or requests are left;
 * -EIO: the store failed; -ESTALE: the iods belong to another database or manager, or
 * another manager may lead, and nothing more is acknowledged.
 */
static int run_turn(struct mgr *mgr, uint64_t deadline)
{
	bool more;

	collect_requests(mgr, deadline);
	if (is_replaced(mgr))
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
	return is_replaced(mgr) ? -ESTALE : more;
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

static bool is_stopped(const struct mgr *mgr)
{
	return atomic_load(&mgr->stop);
}

static void report_opened(struct mgr *mgr)
{
	if (mgr->fresh)
		log_info(mgr->log,
			 "a new file system: waits until all of its %u iods "
			 "have answered",
			 mgr->conf.niods);
	else
		mgr_say_ready(mgr);
}

/*
 * An iod rejected this manager because it obeys another one.  If that one led the same group, this
 * manager could not have the lease.  So if this manager has the lease, the other manager uses a
 * copy of the database.
 */
static void check_copied(struct mgr *mgr)
{
	uint64_t end = clock_after_ms(LEASE_MS);

	while (!flusher_leads(mgr->fl) && !is_stopped(mgr) &&
	       mgr_group_state(mgr->group) == GROUP_LEADS &&
	       clock_now() < end) {
		rpc_ctx_progress(mgr->ctx, clock_after_ms(1));
		mgr_group_collect(mgr->group);
	}
	if (!flusher_leads(mgr->fl))
		return;
	mgr->superseded = true;
	if (mgr->group)
		log_error(mgr->log,
			  "the iods obey a manager with another copy of the "
			  "database in %s, so this one ends; empty this "
			  "storage, and start it again to join that one, or "
			  "make this one go on in its place: pvfs-mgr "
			  "--recover",
			  mgr->conf.storage);
}

static int serve_clients(struct mgr *mgr)
{
	int rc = 1;

	report_opened(mgr);
	while (rc >= 0 && !is_stopped(mgr)) {
		uint64_t pulse = pulse_beat(daemon_pulse(mgr->daemon), 0);

		rc = run_turn(mgr, rc ? 0 : pulse);
	}
	if (rc >= 0)
		drain_replies(mgr);
	/* a group decides itself which of its managers the iods obey */
	if (mgr->displaced && !mgr->superseded)
		check_copied(mgr);
	if (mgr->superseded)
		jobs_note_displaced(mgr);
	if (mgr->group)
		membership_hand_over(mgr);
	return rc;
}

static void *mgr_main(void *arg)
{
	struct mgr *mgr = arg;
	int rc = mgr->conf.mgrs.numbered ? parts_open_member(mgr) : 0;

	if (!rc && mgr->group)
		rc = membership_follow(mgr);
	if (!rc && mgr->group)
		rc = parts_open_service(mgr);
	if (!rc)
		rc = serve_clients(mgr);
	if (rc == -EIO && store_failed(mgr->st))
		report_failure(mgr);
	if (rc < 0 && may_follow(mgr))
		daemon_restart(mgr->daemon);
	else if (rc < 0 && (mgr->retired || mgr->superseded))
		daemon_retire(mgr->daemon);
	else if (rc < 0 && rc != -ECANCELED)
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
		rc = parts_open_base(mgr);
	if (!rc && !mgr->conf.mgrs.numbered)
		rc = parts_open_service(mgr);
	if (!rc)
		rc = -pthread_create(&mgr->thread, NULL, mgr_main, mgr);
	if (rc) {
		parts_close(mgr);
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
	parts_close(mgr);
}

void mgr_reload(struct mgr *mgr)
{
	if (mgr->ring)
		keyring_reload(mgr->ring);
	else
		log_info(mgr->log, "SIGHUP: there is no key to read again");
}
