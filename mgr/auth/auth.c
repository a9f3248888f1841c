/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * auth.c - authentication of clients: its threads, a probe of munged, and the requests that need
 * authentication.
 */
#include "mgr/auth/mgr_auth_int.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/random_id.h"
#include "mgr/jobs/jobs.h"

#define THREADS 4u

/* ---- whether munged answers: checked at the start, before clients need it ---- */

struct munge_probe {
	struct pool_job job;
	struct mgr *mgr;
	struct munger *munger; /* a reference */
	int rc;
};

static void drop_probe(struct pool_job *job)
{
	struct munge_probe *probe = container_of(job, struct munge_probe, job);

	munger_put(probe->munger);
	free(probe);
}

static void run_probe(struct pool_job *job)
{
	struct munge_probe *probe = container_of(job, struct munge_probe, job);
	char cred[MUNGER_CRED_MAX];

	probe->rc = munger_encode(probe->munger, "", 0,
				  clock_after_ms(MUNGER_WAIT_MS), cred);
}

static void log_probe(struct pool_job *job)
{
	struct munge_probe *probe = container_of(job, struct munge_probe, job);

	if (probe->rc)
		log_warn(probe->mgr->log,
			 "[filesystem] auth = munge: clients of other hosts "
			 "get no ticket yet: %s",
			 munger_why(probe->rc));
	else
		log_info(probe->mgr->log, "munged of this host answers");
	drop_probe(job);
}

/* Checks in a thread whether munged answers, and logs it.  -ENOMEM, -EAGAIN. */
static int munge_probe_start(struct mgr *mgr)
{
	struct munge_probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return -ENOMEM;
	probe->job.work = run_probe;
	probe->job.done = log_probe;
	probe->job.drop = drop_probe;
	probe->mgr = mgr;
	probe->munger = munger_get(mgr->auth->munger);
	return pool_add(mgr->auth->pool, &probe->job);
}

/* ---- start and stop ---- */

static void wake_server(void *arg)
{
	struct mgr *mgr = arg;

	rpc_ctx_wake(mgr->ctx);
}

/*
 * A ticket of an earlier process of this manager brings its session back.  Its expiry is on the
 * same clock, unless the host was rebooted or is another one.  Then the expiry says nothing here,
 * and the ticket is valid for one lifetime from the time of jobs_clock_of(), after its issue.
 */
static int get_ticket_clock(void *arg, uint64_t term, uint64_t *now)
{
	struct mgr *mgr = arg;
	uint64_t here = clock_boot(), begun;

	if (!mgr->serves || !flusher_leads(mgr->fl))
		return -EAGAIN;
	begun = jobs_clock_of(mgr, term);
	if (term > jobs_term(mgr))
		return -ESTALE;
	if (begun && here - begun >= auth_ticket_life_ns(mgr))
		return -EKEYEXPIRED;
	*now = begun ? 0 : here;
	return 0;
}

static enum admission admission_of(const struct mgr *mgr)
{
	return mgr->conf.auth.mode == AUTH_SYS ? ADMIT_ALL : ADMIT_AS_NOBODY;
}

int mgr_auth_open(struct mgr *mgr)
{
	struct mgr_auth *auth = calloc(1, sizeof(*auth));
	int rc;

	if (!auth)
		return -ENOMEM;
	mgr->auth = auth;
	rc = random_bytes(auth->list_key, sizeof(auth->list_key));
	auth->house = (struct ticket_verifier){ mgr->ring, get_ticket_clock,
						mgr };
	auth->keeper = ticket_verifier_hooks(&auth->house, admission_of(mgr));
	if (mgr->ring)
		mgr->keeper = &auth->keeper;
	if (!rc && mgr->conf.auth.mode == AUTH_MUNGE)
		rc = munger_open(mgr->conf.auth.munge_socket, THREADS, mgr->log,
				 &auth->munger);
	if (!rc && mgr->conf.auth.mode != AUTH_SYS)
		rc = pool_open(THREADS, mgr->conf.max_sessions + 1, wake_server,
			       mgr, &auth->pool);
	if (!rc && mgr->conf.auth.mode == AUTH_MUNGE)
		rc = munge_probe_start(mgr);
	if (rc || mgr->conf.auth.mode != AUTH_SYS)
		return rc;
	log_warn(mgr->log,
		 "[filesystem] auth = sys: programs on other hosts are believed "
		 "whatever user they say they are: give this to trusted hosts "
		 "alone, or set auth = munge or key (docs/trust.md)");
	return 0;
}

void mgr_auth_close(struct mgr *mgr)
{
	if (!mgr->auth)
		return;
	pool_close(mgr->auth->pool);
	mgr->auth->pool = NULL;
}

void mgr_auth_free(struct mgr *mgr)
{
	if (mgr->auth) {
		munger_put(mgr->auth->munger);
		group_lists_free(&mgr->auth->lists);
	}
	free(mgr->auth);
	mgr->auth = NULL;
}

void mgr_auth_collect(struct mgr *mgr)
{
	struct pool *pool = mgr->auth->pool;
	struct pool_job *job;

	while (pool && (job = pool_collect(pool)))
		job->done(job);
}

/* ---- requests ---- */

static bool must_authenticate(const struct mgr *mgr,
			      const struct rpc_session_info *info)
{
	return mgr->conf.auth.mode != AUTH_SYS &&
	       info->role == WIRE_ROLE_CLIENT && !info->proved;
}

/*
 * The answer does not wait in the flusher for the lease of a leader.  That to GROUPS is about this
 * process only.
 */
static bool must_have_lease(const struct rpc_req *rpc)
{
	return rpc->op == WIRE_CHALLENGE || rpc->op == WIRE_AUTH;
}

bool mgr_auth_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	if (must_have_lease(rpc) && !flusher_leads(mgr->fl)) {
		auth_reply(rpc, -EAGAIN);
	} else if (rpc->op == WIRE_CHALLENGE) {
		auth_challenge_start(mgr, rpc);
	} else if (rpc->op == WIRE_AUTH) {
		auth_prove(mgr, rpc);
	} else if (must_authenticate(mgr, rpc_session_info(rpc->session)) ||
		   rpc_req_lacks_seal(rpc)) {
		auth_reply(rpc, -ENOKEY);
	} else if (session_ticket_has_expired(mgr, rpc->session)) {
		auth_reply(rpc, -EKEYEXPIRED);
	} else {
		return false;
	}
	return true;
}
