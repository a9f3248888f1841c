/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * part.c - ended sessions without a fence: they said BYE or had changed nothing.  Their
 * capabilities end with them.  Iods need not store this on disk.  They reject these
 * sessions for the lifetime of a capability.  A restarted iod is told again, also after
 * a restart of the manager.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"
#include "common/util/log_pace.h"
#include "mgr/db/ended_sessions.h"

static struct unfenced_end *nth(const struct jobs *jobs, uint64_t n)
{
	return &jobs->parted.ring[n % UNFENCED_ENDS_MAX];
}

static void forget_old(struct jobs *jobs)
{
	uint64_t now = clock_boot();

	while (jobs->parted.first < jobs->parted.end &&
	       nth(jobs, jobs->parted.first)->until <= now)
		jobs->parted.first++;
}

/* ---- telling one iod ---- */

/* Collects the next sessions; p->sent is the number after the last one. */
static uint32_t gather(struct parter *p, le64 session[WIRE_FENCE_MAX])
{
	struct jobs *jobs = p->iod->mgr->jobs;
	uint32_t n = 0;

	forget_old(jobs);
	if (p->done < jobs->parted.first)
		p->done = jobs->parted.first;
	p->sent = p->done;
	while (p->sent < jobs->parted.end && n < WIRE_FENCE_MAX) {
		const struct unfenced_end *unfenced_end = nth(jobs, p->sent++);

		if (unfenced_end->session)
			session[n++] = htole64(unfenced_end->session);
	}
	return n;
}

static void kick(struct parter *p)
{
	le64 session[WIRE_FENCE_MAX];
	uint32_t n;

	if (p->call.state != IOD_CALL_IDLE)
		return;
	n = gather(p, session);
	if (n) {
		fence_ask(p->iod, &p->call, p->msg, WIRE_FN_MEMORY, session, n);
		return;
	}
	p->done = p->sent;
	lease_look(p->iod);
}

static void told(struct iod_call *call)
{
	struct parter *p = &call->iod->parter;

	if (call->status) {
		log_warn(call->iod->mgr->log,
			 "%s: ends of sessions: %s; tries again",
			 iod_name(call->iod), strerror(-call->status));
		iod_call_later(call);
		return;
	}
	p->done = p->sent;
	kick(p);
}

void part_open(struct iod *iod)
{
	iod->parter.iod = iod;
	iod->parter.call.done = told;
}

void part_claimed(struct iod *iod)
{
	iod_call_cancel(&iod->parter.call);
	iod->parter.done = 0;
	kick(&iod->parter);
}

bool part_has_all(const struct iod *iod)
{
	return iod->parter.done >= iod->mgr->jobs->parted.end;
}

/* ---- telling all iods ---- */

static int make_ring(struct jobs *jobs)
{
	if (!jobs->parted.ring)
		jobs->parted.ring = calloc(UNFENCED_ENDS_MAX,
					   sizeof(*jobs->parted.ring));
	return jobs->parted.ring ? 0 : -ENOMEM;
}

static int add(struct jobs *jobs, const struct unfenced_end *unfenced_end)
{
	int rc = make_ring(jobs);

	if (rc)
		return rc;
	forget_old(jobs);
	if (jobs->parted.end - jobs->parted.first == UNFENCED_ENDS_MAX)
		jobs->parted.first++;
	*nth(jobs, jobs->parted.end++) = *unfenced_end;
	return 0;
}

static int put(struct mgr *mgr, uint64_t n,
	       const struct unfenced_end *unfenced_end)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = unfenced_end_put(mgr->st, n, unfenced_end);
	if (!rc)
		return mgr_commit(mgr, NULL);
	ns_abort(&mgr->ns);
	return rc;
}

static void record(struct mgr *mgr, const struct unfenced_end *unfenced_end)
{
	struct jobs *jobs = mgr->jobs;
	int rc = put(mgr, jobs->parted.end - 1, unfenced_end);

	if (rc && log_pace(&jobs->parted.said))
		log_warn(mgr->log,
			 "session %016llx: its end is not recorded: %s; the "
			 "next start of the mgr does not know it, and what it "
			 "had open it keeps then until its capabilities end",
			 (unsigned long long)unfenced_end->session,
			 strerror(-rc));
}

void part_session(struct mgr *mgr, uint64_t session, uint64_t until)
{
	const struct unfenced_end unfenced_end = { session, until,
						   mgr->jobs->term,
						   until - clock_boot() };

	if (add(mgr->jobs, &unfenced_end)) {
		log_error(mgr->log,
			  "no memory to tell iods of the end of session "
			  "%016llx; what it had open it keeps until its "
			  "capabilities end",
			  (unsigned long long)session);
		return;
	}
	record(mgr, &unfenced_end);
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		kick(&mgr->jobs->iod[i].parter);
}

/* ---- entries of earlier runs of the manager ---- */

/*
 * Entries from an earlier boot of the host are on another clock.  They are kept for one
 * lifetime of a capability from this boot on (caps.c).
 */
static int take_up(void *arg, uint64_t n,
		   const struct unfenced_end *unfenced_end)
{
	struct jobs *jobs = arg;
	int rc = make_ring(jobs);

	if (rc)
		return rc;
	*nth(jobs, n) = *unfenced_end;
	if (unfenced_end->term < jobs->since)
		nth(jobs, n)->until = jobs->begun + unfenced_end->life;
	if (jobs->parted.end <= n)
		jobs->parted.end = n + 1;
	return 0;
}

int part_resume(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	int rc = unfenced_end_walk(mgr->st, take_up, jobs);

	if (rc)
		return rc;
	if (jobs->parted.end > UNFENCED_ENDS_MAX)
		jobs->parted.first = jobs->parted.end - UNFENCED_ENDS_MAX;
	return 0;
}

void part_close(struct mgr *mgr)
{
	free(mgr->jobs->parted.ring);
}
