/* SPDX-License-Identifier: BSD-2-Clause */
/* iod.c - calls to an iod, retried until it answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define TRY_MS 20000 /* of one try of a call without a deadline */
#define WAIT_FIRST_MS 100
#define WAIT_MAX_MS 5000

struct iod *iod_of(struct mgr *mgr, uint32_t index)
{
	return &mgr->jobs->iod[index];
}

const char *iod_name(const struct iod *iod)
{
	return rpc_peer_name(iod->peer);
}

/* Errors that the iod itself has decided; after any other error, a retry may succeed. */
static bool is_answer(int status)
{
	static const int answers[] = { 0,     ENOSPC, EDQUOT, EIO,
				       EFBIG, EROFS,  EINVAL, ENOSYS,
				       EPERM, EACCES, EISDIR, EMSGSIZE };

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (status == -answers[i])
			return true;
	return false;
}

static void say_state(struct iod *iod, int status)
{
	bool down = !is_answer(status);

	if (down && !iod->down && !iod->mgr->fresh)
		log_warn(iod->mgr->log,
			 "%s: %s; removals and truncations wait for it: see "
			 "whether it runs",
			 iod_name(iod), strerror(-status));
	if (down)
		missing_watch(iod->mgr);
	else if (!down && iod->down)
		log_info(iod->mgr->log, "%s: answers again", iod_name(iod));
	iod->down = down;
}

/* `when`, or the deadline of the call if that is earlier. */
static uint64_t not_beyond(const struct iod_call *call, uint64_t when)
{
	return call->deadline && call->deadline < when ? call->deadline : when;
}

static bool is_over(const struct iod_call *call)
{
	return call->deadline && clock_now() >= call->deadline;
}

/* status: the answer of the iod, or -ETIMEDOUT. */
static void end_call(struct iod_call *call, int status)
{
	call->state = IOD_CALL_IDLE;
	call->status = status;
	call->reply = &call->rpc.reply;
	call->done(call);
}

static void send_call(struct iod_call *call)
{
	call->state = IOD_CALL_SENT;
	call->rpc.msg = call->msg;
	call->rpc.msg_len = call->msg_len;
	call->rpc.deadline = call->deadline ? call->deadline
					    : clock_after_ms(TRY_MS);
	call->rpc.quiet = true; /* say_state() logs it once */
	rpc_call_start(call->iod->peer, &call->rpc);
}

static void send_again(struct rpc_timer *timer)
{
	struct iod_call *call = container_of(timer, struct iod_call, again);

	if (call->state == IOD_CALL_HELD)
		TAILQ_REMOVE(&call->iod->held, call, link);
	if (is_over(call))
		end_call(call, -ETIMEDOUT);
	else
		send_call(call);
}

void iod_call_later(struct iod_call *call)
{
	call->state = IOD_CALL_LATER;
	rpc_timer_set(call->iod->mgr->ctx, &call->again,
		      not_beyond(call, clock_after_ms(call->wait_ms)));
	call->wait_ms *= 2;
	if (call->wait_ms > WAIT_MAX_MS)
		call->wait_ms = WAIT_MAX_MS;
}

static void tell_refused(struct iod_call *call)
{
	if (call->refused)
		call->refused(call);
}

/* Also tells the calls that wait for this iod. */
static void tell_all_refused(struct iod_call *call)
{
	struct iod_call *held = TAILQ_FIRST(&call->iod->held), *next;

	for (; held; held = next) {
		next = TAILQ_NEXT(held, link);
		tell_refused(held);
	}
	tell_refused(call);
}

static void on_done(struct rpc_call *rpc)
{
	struct iod_call *call = rpc->arg;

	if (rpc->status == -ECANCELED) {
		call->state = IOD_CALL_IDLE;
		return;
	}
	if (rpc->status == -ESTALE) {
		iod_call_later(call);
		claim_refused(call);
		return;
	}
	say_state(call->iod, rpc->status);
	if (!is_answer(rpc->status) && is_over(call)) {
		end_call(call, -ETIMEDOUT);
		return;
	}
	if (!is_answer(rpc->status)) {
		iod_call_later(call);
		if (rpc->status == -ENXIO)
			tell_all_refused(call);
		return;
	}
	end_call(call, rpc->status);
}

void iod_call_start(struct iod *iod, struct iod_call *call)
{
	call->iod = iod;
	call->wait_ms = WAIT_FIRST_MS;
	call->again.fire = send_again;
	call->rpc.done = on_done;
	call->rpc.arg = call;
	if (iod->open || call->early) {
		send_call(call);
	} else {
		call->state = IOD_CALL_HELD;
		TAILQ_INSERT_TAIL(&iod->held, call, link);
		if (call->deadline)
			rpc_timer_set(iod->mgr->ctx, &call->again,
				      call->deadline);
	}
}

void iod_call_cancel(struct iod_call *call)
{
	switch (call->state) {
	case IOD_CALL_HELD:
		rpc_timer_clear(call->iod->mgr->ctx, &call->again);
		TAILQ_REMOVE(&call->iod->held, call, link);
		break;
	case IOD_CALL_SENT:
		rpc_call_cancel(&call->rpc);
		break;
	case IOD_CALL_LATER:
		rpc_timer_clear(call->iod->mgr->ctx, &call->again);
		break;
	case IOD_CALL_IDLE:
		break;
	}
	call->state = IOD_CALL_IDLE;
}

void iod_release_held(struct iod *iod)
{
	struct iod_call *call;

	iod->open = true;
	while ((call = TAILQ_FIRST(&iod->held))) {
		TAILQ_REMOVE(&iod->held, call, link);
		rpc_timer_clear(iod->mgr->ctx, &call->again);
		send_call(call);
	}
}

/* ECONNREFUSED: no iod runs there, and one that starts serves only after we have claimed it. */
static void lost(void *arg, int status)
{
	if (status == -ECONNREFUSED)
		lease_refused(arg);
	if (status == -ESTALE)
		claim_start(arg);
}

static int iod_open(struct iod *iod, const struct rpc_cred *cred)
{
	struct mgr *mgr = iod->mgr;
	char name[24];
	struct rpc_peer_attr attr = { .addr = mgr->conf.iod[iod->index],
				      .name = name,
				      .role = WIRE_ROLE_MGR,
				      .fsid = mgr->conf.fsid,
				      .session = mgr->jobs->session,
				      .cred = cred,
				      .prover = keyring_prover(mgr->ring),
				      .seal = mgr->conf.auth.seal,
				      .features = WIRE_FT_EVICT,
				      .server = WIRE_ROLE_IOD,
				      .index = iod->index,
				      .fresh = claim_again,
				      .lost = lost,
				      .arg = iod };

	TAILQ_INIT(&iod->held);
	snprintf(name, sizeof(name), "iod %u", iod->index);
	return rpc_peer_open(mgr->ctx, &attr, &iod->peer);
}

int iods_open(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	struct rpc_cred cred = { .name = "pvfs-mgr" };
	int rc = 0;

	jobs->iod = calloc(mgr->conf.niods, sizeof(jobs->iod[0]));
	if (!jobs->iod)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < mgr->conf.niods; i++) {
		jobs->iod[i].mgr = mgr;
		jobs->iod[i].index = i;
		rc = iod_open(&jobs->iod[i], &cred);
		if (!rc)
			rc = fence_open(&jobs->iod[i]);
	}
	leases_open(mgr);
	for (uint32_t i = 0; !rc && i < mgr->conf.niods; i++) {
		remove_open(&jobs->iod[i]);
		part_open(&jobs->iod[i]);
		claim_start(&jobs->iod[i]);
	}
	if (!rc && mgr->fresh)
		missing_watch(mgr);
	return rc;
}

void iods_close(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;

	missing_close(mgr);
	if (jobs->iod)
		leases_close(mgr);
	for (uint32_t i = 0; jobs->iod && i < mgr->conf.niods; i++) {
		struct iod *iod = &jobs->iod[i];

		iod_call_cancel(&iod->claimer.call);
		iod_call_cancel(&iod->fencer.call);
		iod_call_cancel(&iod->parter.call);
		iod_call_cancel(&iod->remover.call);
		rpc_timer_clear(mgr->ctx, &iod->remover.timer);
		if (iod->peer)
			rpc_peer_close(iod->peer, true);
	}
	free(jobs->iod);
}
