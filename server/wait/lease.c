/* SPDX-License-Identifier: BSD-2-Clause */
/* lease.c - the lease, and the changes that wait for one. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/wait/lease.h"

#define NS_PER_S UINT64_C(1000000000)
#define LEASE_MAX_NS (90000 * NS_PER_S)

struct parked {
	struct worker *worker;
	struct rpc_req *req;
	struct iod_session *ses;
	struct rpc_timer late;
	TAILQ_ENTRY(parked) link;
};

bool lease_had(const struct iod *iod)
{
	return atomic_load(&iod->lease.until);
}

static void unpark(struct parked *p)
{
	struct worker *w = p->worker;

	TAILQ_REMOVE(&w->parked, p, link);
	rpc_timer_clear(w->ctx, &p->late);
	free(p);
}

static void answer(struct parked *p, int status)
{
	struct iod_session *ses = p->ses;

	rpc_reply_status(p->req, status);
	unpark(p);
	session_work_end(ses);
}

static void too_late(struct rpc_timer *timer)
{
	struct parked *p = container_of(timer, struct parked, late);
	bool over = rpc_req_may_wait(p->req) || rpc_req_late(p->req);

	answer(p, over ? -ETIMEDOUT : -EINPROGRESS);
}

static void say_lost(struct iod *iod)
{
	uint64_t since = clock_boot() - atomic_load(&iod->lease.heard);

	if (atomic_exchange(&iod->lease.lost, true))
		return;
	log_warn(iod->log,
		 "the manager was not heard for %llu s: what clients write "
		 "waits until it is, reads go on; see whether it runs and "
		 "can reach this host",
		 (unsigned long long)(since / NS_PER_S));
}

static void park(struct worker *w, struct rpc_req *req)
{
	struct parked *p = calloc(1, sizeof(*p));

	if (!p) {
		rpc_reply_status(req, -ENOMEM);
		return;
	}
	p->worker = w;
	p->req = req;
	p->ses = session_of(req);
	p->late.fire = too_late;
	session_work_begin(p->ses);
	rpc_req_enter(req, RPC_QUEUE);
	TAILQ_INSERT_TAIL(&w->parked, p, link);
	rpc_timer_set(w->ctx, &p->late, rpc_req_patience(req));
	say_lost(w->iod);
}

bool lease_take(struct worker *w, struct rpc_req *req)
{
	uint64_t until = atomic_load_explicit(&w->iod->lease.until,
					      memory_order_acquire);

	if (clock_boot() >= until) {
		park(w, req);
		return false;
	}
	if (req->expiry > until)
		req->expiry = until;
	return true;
}

void lease_drop(struct worker *w, struct iod_session *ses)
{
	struct parked *p, *next;

	for (p = TAILQ_FIRST(&w->parked); p; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->ses == ses)
			answer(p, -ESTALE);
	}
}

/* Runs the parked changes in the order in which they came.  Some may be parked again. */
static void resume(struct mail *mail)
{
	struct worker *w = container_of(mail, struct worker, renewed);
	TAILQ_HEAD(, parked) again = TAILQ_HEAD_INITIALIZER(again);
	struct iod_session *ses;
	struct rpc_req *req;
	struct parked *p;

	atomic_store(&w->renewing, false);
	TAILQ_CONCAT(&again, &w->parked, link);
	while ((p = TAILQ_FIRST(&again))) {
		TAILQ_REMOVE(&again, p, link);
		rpc_timer_clear(w->ctx, &p->late);
		req = p->req;
		ses = p->ses;
		free(p);
		rpc_req_leave(req, RPC_QUEUE);
		w->iod->run(w, req);
		session_work_end(ses);
	}
}

static void renew(struct iod *iod, uint64_t until)
{
	unsigned int i;

	atomic_store_explicit(&iod->lease.until, until, memory_order_release);
	loan_table_set_lease(iod->loans, until);
	for (i = 0; i < iod->nworkers; i++)
		if (!atomic_exchange(&iod->worker[i].renewing, true))
			mailbox_post(&iod->worker[i].mail,
				     &iod->worker[i].renewed);
	if (clock_boot() < until && atomic_exchange(&iod->lease.lost, false))
		log_info(iod->log, "the manager is heard again: what clients "
				   "write goes on");
}

/* A delayed LEASE never shortens the lease. */
void lease_renew(struct iod *iod, uint64_t until)
{
	uint64_t now = clock_boot();

	if (until > now + LEASE_MAX_NS)
		until = now + LEASE_MAX_NS;
	loan_table_expire(iod->loans);
	atomic_store(&iod->lease.heard, now);
	if (until > atomic_load(&iod->lease.until))
		renew(iod, until);
}

void lease_open(struct worker *w)
{
	TAILQ_INIT(&w->parked);
	w->renewed.deliver = resume;
	atomic_init(&w->renewing, false);
}

void lease_close(struct worker *w)
{
	struct parked *p;

	while ((p = TAILQ_FIRST(&w->parked)))
		unpark(p);
}
