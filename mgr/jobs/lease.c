/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lease.c - leases: the time until which an iod may execute changes of clients.  The iod gets this
 * time on its own clock.  The manager itself adds a margin to it.  So after its lease, an
 * unreachable iod does no harm.  After a restart or an expired lease, an iod gets the next lease
 * only when it knows all ends of sessions and all its copysets.
 */
#include <errno.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define NS_PER_S UINT64_C(1000000000)

static uint64_t lease_ns(const struct mgr_iod *iod)
{
	return iod->mgr->conf.lease_s * NS_PER_S;
}

/*
 * How much too late a time may be after its conversion to the iod's clock; the manager waits this
 * much longer.
 */
static uint64_t lease_margin_ns(uint64_t ns)
{
	return NS_PER_S + ns / 1000;
}

unsigned int lease_pause_ms(const struct mgr *mgr)
{
	return mgr->conf.lease_s * 1000 / 3;
}

/* The iod must first learn of ends of sessions, and of its copysets. */
static bool is_withheld(struct mgr_iod *iod)
{
	if (clock_boot() >= iod->lease.until)
		iod->lease.good = false;
	if (!iod->lease.good)
		iod->lease.good = iod->claimed && iod->assigner.done &&
				  iod_has_all_fences(iod) &&
				  iod_has_all_unfenced_ends(iod);
	return !iod->lease.good;
}

static void on_lease_answer(struct rpc_call *call)
{
	struct mgr_iod *iod = call->arg;

	iod->lease.busy = false;
	if (call->status == -ECANCELED)
		return;
	/* the answer took long, so little of the lease is left */
	if (clock_boot() - iod->lease.sent >
	    lease_pause_ms(iod->mgr) * CLOCK_NS_PER_MS)
		lease_renew(iod);
}

/* An iod of version 2 only accepts until. */
static size_t body_len(const struct mgr_iod *iod)
{
	return rpc_peer_features(iod->peer) & WIRE_FT_V3
		       ? sizeof(struct wire_lease)
		       : WIRE_LEASE_V2;
}

/*
 * The next lease is sent only after the answer to this one, so an iod that does not answer gets no
 * further lease.
 */
static void send_lease(struct mgr_iod *iod, uint64_t now, uint64_t until)
{
	uint64_t ns = lease_ns(iod) + lease_margin_ns(lease_ns(iod));
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
		.deadline = clock_now() + ns,
		.quiet = true,
		.urgent = true,
		.done = on_lease_answer,
		.arg = iod,
	};
	l->busy = true;
	l->sent = now;
	l->until = now + ns;
	rpc_call_start(iod->peer, &l->call);
}

void lease_renew(struct mgr_iod *iod)
{
	uint64_t now = clock_boot(), until;

	if (iod->lease.busy || !rpc_peer_ready(iod->peer) || is_withheld(iod) ||
	    now - iod->lease.sent <
		    lease_pause_ms(iod->mgr) * CLOCK_NS_PER_MS / 2)
		return;
	until = rpc_peer_server_time(iod->peer, now + lease_ns(iod));
	if (until && flusher_leads(iod->mgr->fl))
		send_lease(iod, now, until);
}

void lease_reset(struct mgr_iod *iod)
{
	iod->lease.good = false;
	iod->lease.sent = 0;
	if (iod->lease.busy)
		rpc_call_cancel(&iod->lease.call);
}

void lease_open(struct mgr_iod *iod)
{
	uint64_t before = iod->mgr->jobs->lease_before_s * NS_PER_S;

	iod->lease.until = clock_boot() + before + lease_margin_ns(before);
}
