/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.c - opens and closes the connections to the iods.  The manager claims each iod when the
 * manager starts, and again when the iod was restarted or answers ESTALE.  A claimed iod gets the
 * ends of sessions and its copysets.  It gets its first lease only when it has confirmed them.  Other calls wait
 * only for the first claim; later an iod that is not claimed rejects them with EAGAIN.
 */
#include <errno.h>
#include <stdlib.h>

#include "mgr/jobs/jobs_int.h"

/* The iod was restarted, or has forgotten this manager. */
static void on_restart(void *arg, struct rpc_peer *peer)
{
	struct mgr_iod *iod = arg;

	iod->claimed = false;
	lease_reset(iod);
	claim_start(iod);
}

/* ECONNREFUSED: no iod runs there, and one that starts serves only after it was claimed. */
static void on_lost(void *arg, int status)
{
	struct mgr_iod *iod = arg;

	if (status == -ECONNREFUSED) {
		iod->claimed = false;
		iod->ended = rpc_peer_boot(iod->peer);
		iod->lease.until = 0;
		lease_reset(iod);
		fenced_ends_check_soon(iod->mgr);
	}
	if (status == -ESTALE)
		claim_start(iod);
}

static void on_renew(struct rpc_timer *timer)
{
	struct mgr_jobs *jobs = container_of(timer, struct mgr_jobs, renew);
	struct mgr *mgr = jobs->iod[0].mgr;

	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		struct mgr_iod *iod = &jobs->iod[i];

		/* an iod that seemed not to run may have run, and not have forgotten us */
		if (iod->open && !iod->claimed && rpc_peer_ready(iod->peer))
			claim_start(iod);
		else
			lease_renew(iod);
	}
	rpc_timer_set(mgr->ctx, timer, clock_after_ms(lease_pause_ms(mgr)));
}

static int open_peer(struct mgr_iod *iod)
{
	struct mgr *mgr = iod->mgr;
	struct rpc_cred cred = { .name = "pvfs-mgr" };
	char name[24];
	struct rpc_peer_attr attr = { .addr = mgr->conf.iod[iod->index],
				      .name = name,
				      .role = WIRE_ROLE_MGR,
				      .fsid = mgr->conf.fsid,
				      .session = mgr->jobs->session,
				      .cred = &cred,
				      .prover = keyring_prover(mgr->ring),
				      .seal = mgr->conf.auth.seal,
				      .features = WIRE_FT_EVICT | WIRE_FT_TERM |
						  WIRE_FT_COPIES,
				      .server = WIRE_ROLE_IOD,
				      .index = iod->index,
				      .on_new_session = on_restart,
				      .lost = on_lost,
				      .arg = iod };

	snprintf(name, sizeof(name), "iod %u", iod->index);
	return rpc_peer_open(mgr->ctx, &attr, &iod->peer);
}

static int iods_open(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	int rc = 0;

	jobs->iod = calloc(mgr->conf.niods, sizeof(jobs->iod[0]));
	if (!jobs->iod)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < mgr->conf.niods; i++) {
		struct mgr_iod *iod = &jobs->iod[i];

		iod_init(mgr, i, claim_refused);
		assign_open(iod);
		lease_open(iod);
		rc = open_peer(iod);
		if (!rc)
			rc = session_ends_open_iod(iod);
	}
	if (rc)
		return rc;
	jobs->renew.fire = on_renew;
	rpc_timer_set(mgr->ctx, &jobs->renew,
		      clock_after_ms(lease_pause_ms(mgr)));
	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		remove_open(&jobs->iod[i]);
		claim_start(&jobs->iod[i]);
	}
	if (mgr->fresh)
		missing_watch(mgr);
	return 0;
}

static void iods_close(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;

	missing_close(mgr);
	rpc_timer_clear(mgr->ctx, &jobs->renew);
	for (uint32_t i = 0; jobs->iod && i < mgr->conf.niods; i++) {
		struct mgr_iod *iod = &jobs->iod[i];

		lease_reset(iod);
		iod_call_cancel(&iod->claimer.call);
		rpc_timer_clear(mgr->ctx, &iod->assigner.timer);
		assign_close(iod);
		session_ends_close_iod(iod);
		iod_call_cancel(&iod->remover.call);
		rpc_timer_clear(mgr->ctx, &iod->remover.timer);
		if (iod->peer)
			rpc_peer_close(iod->peer, true);
	}
	free(jobs->iod);
}

int jobs_open(struct mgr *mgr,
	      void (*fenced)(struct mgr *mgr, uint64_t session))
{
	struct mgr_jobs *jobs = calloc(1, sizeof(*jobs));
	int rc;

	if (!jobs)
		return -ENOMEM;
	jobs->fenced = fenced;
	TAILQ_INIT(&jobs->ends);
	mgr->jobs = jobs;
	mgr->mark.item.durable = remove_durable;
	call_limit_open(mgr);
	rc = claim_open(mgr);
	if (!rc)
		rc = term_open(mgr);
	if (!rc)
		rc = session_ends_open(mgr);
	if (rc)
		return rc;
	/* the records that recovery found are durable, and their ids are below our first id */
	jobs->remove_limit = jobs->fence_limit = jobs->first_id;
	mgr->remove_id = mgr->mark.id = jobs->first_id;
	rc = iods_open(mgr);
	return rc ? rc : resize_resume(mgr);
}

void jobs_close(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	struct file_job *job, *next;

	if (!jobs)
		return;
	HASH_ITER(hh, jobs->table, job, next)
		job_free(job);
	iods_close(mgr);
	session_ends_close(mgr);
	free(jobs);
	mgr->jobs = NULL;
}

static void assign_to_members(struct mgr *mgr, const struct copyset *set)
{
	for (uint32_t i = 0; i < set->n; i++) {
		struct mgr_iod *iod = mgr_iod_find(mgr, set->member[i].iod);

		if (iod && iod->claimed)
			assign_start(iod);
	}
}

void copyset_changed(struct mgr *mgr, const struct copyset *old,
		     const struct copyset *now)
{
	if (old)
		assign_to_members(mgr, old);
	assign_to_members(mgr, now);
	jobs_send_to_primary(mgr, now);
}
