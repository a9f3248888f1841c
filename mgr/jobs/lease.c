/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lease.c - leases: the time until which an iod may execute changes of clients.  The
 * iod gets this time on its own clock.  The manager itself adds a margin to it.  So
 * after its lease, an unreachable iod does no harm.  After a restart or an expired
 * lease, an iod gets the next lease only when it has all fences.
 */
#include <errno.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t length(const struct iod *iod)
{
	return iod->mgr->conf.lease_s * NS_PER_S;
}

/*
 * The conversion to the iod's clock may be late by so much; the manager waits this much
 * longer.
 */
static uint64_t margin(uint64_t lease_ns)
{
	return NS_PER_S + lease_ns / 1000;
}

static unsigned int pause_ms(const struct mgr *mgr)
{
	return mgr->conf.lease_s * 1000 / 3;
}

static bool owes(struct iod *iod)
{
	if (clock_boot() >= iod->lease.until)
		iod->lease.good = false;
	if (!iod->lease.good)
		iod->lease.good = iod->claimed && fence_has_all(iod) &&
				  part_has_all(iod);
	return !iod->lease.good;
}

static void answered(struct rpc_call *call)
{
	struct iod *iod = call->arg;

	iod->lease.busy = false;
	if (call->status == -ECANCELED)
		return;
	/* the answer took long, so little of the lease is left */
	if (clock_boot() - iod->lease.sent >
	    pause_ms(iod->mgr) * CLOCK_NS_PER_MS)
		lease_look(iod);
}

/* An iod of version 2 only accepts until. */
static size_t body_len(const struct iod *iod)
{
	return rpc_peer_features(iod->peer) & WIRE_FT_V3
		       ? sizeof(struct wire_lease)
		       : WIRE_LEASE_V2;
}

/*
 * The next lease is sent after the answer to this one: an iod that does not answer gets
 * no more.
 */
static void send(struct iod *iod, uint64_t now, uint64_t until)
{
	struct lease *l = &iod->lease;
	struct wire_lease body = { .until = htole64(until),
				   .clock = htole64(now),
				   .since = htole64(iod->mgr->jobs->since) };
	struct wire_out out;

	wire_begin(&out, l->msg, sizeof(l->msg));
	wire_put(&out, &body, body_len(iod));
	l->call = (struct rpc_call){
		.msg = l->msg,
		.msg_len = (size_t)wire_end(&out, WIRE_LEASE, 0, 0),
		.deadline = clock_now() + length(iod) + margin(length(iod)),
		.quiet = true,
		.urgent = true,
		.done = answered,
		.arg = iod,
	};
	l->busy = true;
	l->sent = now;
	l->until = now + length(iod) + margin(length(iod));
	rpc_call_start(iod->peer, &l->call);
}

void lease_look(struct iod *iod)
{
	uint64_t now = clock_boot(), until;

	if (iod->lease.busy || !rpc_peer_ready(iod->peer) || owes(iod) ||
	    now - iod->lease.sent < pause_ms(iod->mgr) * CLOCK_NS_PER_MS / 2)
		return;
	until = rpc_peer_clock(iod->peer, now + length(iod));
	if (until)
		send(iod, now, until);
}

static void stop(struct iod *iod)
{
	iod->lease.good = false;
	iod->lease.sent = 0;
	if (iod->lease.busy)
		rpc_call_cancel(&iod->lease.call);
}

void lease_fresh(struct iod *iod)
{
	iod->claimed = false;
	stop(iod);
}

void lease_refused(struct iod *iod)
{
	iod->claimed = false;
	iod->lease.until = 0;
	stop(iod);
	ends_look_soon(iod->mgr);
}

/* An iod that seemed not to run may have run, and has not forgotten us. */
static void look(struct iod *iod)
{
	if (iod->open && !iod->claimed && rpc_peer_ready(iod->peer))
		claim_start(iod);
	else
		lease_look(iod);
}

static void renew(struct rpc_timer *timer)
{
	struct jobs *jobs = container_of(timer, struct jobs, renew);
	struct mgr *mgr = jobs->iod[0].mgr;

	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		look(&jobs->iod[i]);
	rpc_timer_set(mgr->ctx, timer, clock_after_ms(pause_ms(mgr)));
}

void leases_open(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	uint64_t before = jobs->lease_before_s * NS_PER_S;

	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		jobs->iod[i].lease.until = clock_boot() + before +
					   margin(before);
	jobs->renew.fire = renew;
	rpc_timer_set(mgr->ctx, &jobs->renew, clock_after_ms(pause_ms(mgr)));
}

void leases_close(struct mgr *mgr)
{
	rpc_timer_clear(mgr->ctx, &mgr->jobs->renew);
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		if (mgr->jobs->iod[i].peer)
			stop(&mgr->jobs->iod[i]);
}
