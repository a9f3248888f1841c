/* SPDX-License-Identifier: BSD-2-Clause */
/* lease.c - the lease, the changes that wait for one, and the start of service with the first. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/daemon.h"
#include "server/wait/lease.h"

#define NS_PER_S UINT64_C(1000000000)
#define LEASE_MAX_NS (90000 * NS_PER_S)

struct lease_waiter {
	struct worker *worker;
	struct rpc_req *req;
	struct iod_session *ses;
	struct rpc_timer late;
	TAILQ_ENTRY(lease_waiter) link;
};

bool lease_was_given(const struct iod *iod)
{
	return atomic_load(&iod->lease.until);
}

static void free_waiter(struct lease_waiter *p)
{
	struct worker *w = p->worker;

	TAILQ_REMOVE(&w->lease_waiters, p, link);
	rpc_timer_clear(w->ctx, &p->late);
	free(p);
}

static void end_waiting(struct lease_waiter *p, int status)
{
	struct iod_session *ses = p->ses;

	rpc_reply_status(p->req, status);
	free_waiter(p);
	session_work_end(ses);
}

static void on_deadline(struct rpc_timer *timer)
{
	struct lease_waiter *p = container_of(timer, struct lease_waiter, late);
	bool over = rpc_req_may_wait(p->req) || rpc_req_late(p->req);

	end_waiting(p, over ? -ETIMEDOUT : -EINPROGRESS);
}

static void log_lost(struct iod *iod)
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

static void wait_for_lease(struct worker *w, struct rpc_req *req)
{
	struct lease_waiter *p = calloc(1, sizeof(*p));

	if (!p) {
		rpc_reply_status(req, -ENOMEM);
		return;
	}
	p->worker = w;
	p->req = req;
	p->ses = session_of(req);
	p->late.fire = on_deadline;
	session_work_begin(p->ses);
	rpc_req_enter(req, RPC_QUEUE);
	TAILQ_INSERT_TAIL(&w->lease_waiters, p, link);
	rpc_timer_set(w->ctx, &p->late, rpc_req_wait_until(req));
	log_lost(w->iod);
}

bool lease_check(struct worker *w, struct rpc_req *req)
{
	uint64_t until = atomic_load_explicit(&w->iod->lease.until,
					      memory_order_acquire);

	if (clock_boot() >= until) {
		wait_for_lease(w, req);
		return false;
	}
	if (req->expiry > until)
		req->expiry = until;
	return true;
}

void lease_stop_session(struct worker *w, struct iod_session *ses)
{
	struct lease_waiter *p, *next;

	for (p = TAILQ_FIRST(&w->lease_waiters); p; p = next) {
		next = TAILQ_NEXT(p, link);
		if (p->ses == ses)
			end_waiting(p, -ESTALE);
	}
}

/* Runs the waiting changes in the order in which they came.  Some may have to wait again. */
static void run_waiting(struct mailbox_item *mail)
{
	struct worker *w = container_of(mail, struct worker, renewed);
	TAILQ_HEAD(, lease_waiter) again = TAILQ_HEAD_INITIALIZER(again);
	struct iod_session *ses;
	struct rpc_req *req;
	struct lease_waiter *p;

	atomic_store(&w->renewing, false);
	TAILQ_CONCAT(&again, &w->lease_waiters, link);
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

static void extend_lease(struct iod *iod, uint64_t until)
{
	unsigned int i;

	atomic_store_explicit(&iod->lease.until, until, memory_order_release);
	loan_table_set_lease(iod->loans, until);
	for (i = 0; i < iod->nworkers; i++)
		if (!atomic_exchange(&iod->worker[i].renewing, true))
			mailbox_post(&iod->worker[i].mail,
				     &iod->worker[i].renewed);
	if (clock_boot() < until && atomic_exchange(&iod->lease.lost, false))
		log_info(iod->log, "the manager is heard again: writes of "
				   "clients continue");
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
		extend_lease(iod, until);
}

void lease_open(struct worker *w)
{
	TAILQ_INIT(&w->lease_waiters);
	w->renewed.deliver = run_waiting;
	atomic_init(&w->renewing, false);
}

void lease_close(struct worker *w)
{
	struct lease_waiter *p;

	while ((p = TAILQ_FIRST(&w->lease_waiters)))
		free_waiter(p);
}

/* ---- the start of service ---- */

static void log_settings(struct iod *iod)
{
	const struct iod_conf *conf = &iod->conf;
	char uri[ADDR_STRLEN], zones[ZONES_TEXT], fabric[FABRIC_LINE];
	struct addr addr;

	rpc_server_addr(iod->server, &addr);
	log_info(iod->log, "listens on: %s",
		 fabric_text(&iod->fabric, fabric, sizeof(fabric)));
	if (conf->adaptive)
		log_info(iod->log,
			 "rendezvous adaptive: with more than %llu KiB under "
			 "way clients move their data themselves",
			 (unsigned long long)conf->rendezvous_above / 1024);
	log_always(iod->log,
		   "ready: iod %u at %s, storage %s, version %s, sync %s, "
		   "engine %s, %u threads with %zu KiB of buffers each (%s)",
		   conf->index, addr_format(&addr, uri, sizeof(uri)),
		   conf->storage, PVFS_VERSION, conf->sync ? "on" : "off",
		   iod->engine->name, conf->threads,
		   zones_bytes(&conf->zones) / 1024,
		   iod_zones_format(&conf->zones, zones, sizeof(zones)));
}

void lease_announce_ready(struct iod *iod)
{
	if (!lease_was_given(iod) || atomic_exchange(&iod->ready, true))
		return;
	log_settings(iod);
	daemon_ready(iod->daemon);
}
