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
#include "mgr/db/partings.h"

static struct parting *nth(const struct jobs *jobs, uint64_t n)
{
	return &jobs->parted.ring[n % PARTINGS_MAX];
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
		const struct parting *parting = nth(jobs, p->sent++);

		if (parting->session)
			session[n++] = htole64(parting->session);
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
		jobs->parted.ring = calloc(PARTINGS_MAX,
					   sizeof(*jobs->parted.ring));
	return jobs->parted.ring ? 0 : -ENOMEM;
}

static int add(struct jobs *jobs, const struct parting *parting)
{
	int rc = make_ring(jobs);

	if (rc)
		return rc;
	forget_old(jobs);
	if (jobs->parted.end - jobs->parted.first == PARTINGS_MAX)
		jobs->parted.first++;
	*nth(jobs, jobs->parted.end++) = *parting;
	return 0;
}

static int put(struct mgr *mgr, uint64_t n, const struct parting *parting)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = parting_put(mgr->st, n, parting);
	if (!rc)
		return mgr_commit(mgr, NULL);
	ns_abort(&mgr->ns);
	return rc;
}

static void record(struct mgr *mgr, const struct parting *parting)
{
	struct jobs *jobs = mgr->jobs;
	int rc = put(mgr, jobs->parted.end - 1, parting);

	if (rc && log_pace(&jobs->parted.said))
		log_warn(mgr->log,
			 "session %016llx: its end is not recorded: %s; the "
			 "next start of the mgr does not know it, and what it "
			 "had open it keeps then until its capabilities end",
			 (unsigned long long)parting->session, strerror(-rc));
}

void part_session(struct mgr *mgr, uint64_t session, uint64_t until)
{
	const struct parting parting = { session, until, mgr->jobs->term,
					 until - clock_boot() };

	if (add(mgr->jobs, &parting)) {
		log_error(mgr->log,
			  "no memory to tell iods of the end of session "
			  "%016llx; what it had open it keeps until its "
			  "capabilities end",
			  (unsigned long long)session);
		return;
	}
	record(mgr, &parting);
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		kick(&mgr->jobs->iod[i].parter);
}

/* ---- entries of earlier runs of the manager ---- */

/*
 * Entries from an earlier boot of the host are on another clock.  They are kept for one
 * lifetime of a capability from this boot on (caps.c).
 */
static int take_up(void *arg, uint64_t n, const struct parting *parting)
{
	struct jobs *jobs = arg;
	int rc = make_ring(jobs);

	if (rc)
		return rc;
	*nth(jobs, n) = *parting;
	if (parting->term < jobs->since)
		nth(jobs, n)->until = jobs->begun + parting->life;
	if (jobs->parted.end <= n)
		jobs->parted.end = n + 1;
	return 0;
}

int part_resume(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	int rc = parting_walk(mgr->st, take_up, jobs);

	if (rc)
		return rc;
	if (jobs->parted.end > PARTINGS_MAX)
		jobs->parted.first = jobs->parted.end - PARTINGS_MAX;
	return 0;
}

void part_close(struct mgr *mgr)
{
	free(mgr->jobs->parted.ring);
}
