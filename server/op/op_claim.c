/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_claim.c - CLAIM makes the iod obey the manager that sends it; LEASE extends the iod's
 * lease.
 *
 * A CLAIM names the store and the database that the manager expects.  If the iod has a wrong or
 * empty store, the process ends; otherwise it would return zeros instead of data.  If the store
 * belongs to another database, the iod rejects the CLAIM and keeps running.
 *
 * A CLAIM also has the manager's term, which the iod records.  From then on, the iod rejects
 * orders of managers with a lower term, and of another manager with the same term.  When the
 * CLAIM is answered, no such order is running.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/daemon.h"
#include "server/op/op_int.h"
#include "server/wait/lease.h"

struct claim_op {
	struct session_end ending;
	struct rpc_req *req;
};

static int claim_store(struct op_job *job)
{
	const struct wire_claim *body = job->req->msg.body;
	uint32_t flags = le32toh(body->flags);
	struct store_claim claim = { .owner = le64toh(body->owner),
				     .store = le64toh(body->store),
				     .fresh = flags & WIRE_C_FRESH,
				     .ask = flags & WIRE_C_ASK };
	struct object_store *store = job->worker->iod->store;
	int rc, verdict = store_claim(store, &claim);

	if (verdict != STORE_OURS || claim.ask)
		return verdict;
	rc = store_term_write(store, le64toh(body->term), job->ses->id);
	return rc ? rc : STORE_OURS;
}

static void log_replaced_store(struct iod *iod, uint64_t want)
{
	if (store_is_new(iod->store))
		log_error(iod->log,
			  "storage %s is empty, but this iod has held data: is "
			  "its file system not mounted, or was it wiped? mount "
			  "it or restore it from a backup and start again; if "
			  "the data is permanently lost: pvfs-iod --config %s "
			  "--index %u --new-store",
			  iod->conf.storage, iod->conf.path, iod->conf.index);
	else
		log_error(iod->log,
			  "storage %s holds store %016llx, but the manager "
			  "knows %016llx here: is the right file system "
			  "mounted? mount it, or correct 'storage', and start "
			  "again",
			  iod->conf.storage,
			  (unsigned long long)store_identity(iod->store),
			  (unsigned long long)want);
}

static void send_verdict(struct iod *iod, struct rpc_req *req, int verdict)
{
	struct wire_claim_rep rep = {
		.store = htole64(store_identity(iod->store)),
		.verdict = htole32((uint32_t)verdict),
		.term = htole64(store_term(iod->store)),
	};
	bool whole = rpc_session_info(req->session)->features & WIRE_FT_TERM;

	op_reply(req, &rep, whole ? sizeof(rep) : WIRE_CLAIM_REP_SHORT, NULL, 0,
		 RPC_REEXECUTE);
}

static bool session_ends(const struct session_end *e,
			 const struct iod_session *ses)
{
	(void)e;
	return session_is_stale(ses);
}

static void on_sessions_ended(struct session_end *e)
{
	struct claim_op *op = container_of(e, struct claim_op, ending);

	send_verdict(e->home->iod, op->req, STORE_OURS);
	free(op);
}

/* Answers when no order of another manager is running any more. */
static void accept_claim(struct worker *w, struct rpc_req *req)
{
	const struct wire_claim *body = req->msg.body;
	struct iod_session *ses = session_of(req);
	struct claim_op *op = malloc(sizeof(*op));

	if (!op) {
		rpc_reply_status(req, -EAGAIN);
		return;
	}
	op->ending.ends = session_ends;
	op->ending.ends_order = NULL;
	op->ending.done = on_sessions_ended;
	op->req = req;
	ses->term = le64toh(body->term);
	if (!session_end_start(&op->ending, w))
		return;
	rpc_reply_status(req, -EAGAIN);
	free(op);
}

#define END_MS 200u

static void on_stop_timer(struct rpc_timer *timer)
{
	daemon_fail(container_of(timer, struct worker, replaced)->iod->daemon);
}

/* Gives the manager time to read the answer and to log which iod this is. */
static void stop_iod_soon(struct worker *w)
{
	w->replaced.fire = on_stop_timer;
	rpc_timer_set(w->ctx, &w->replaced, clock_after_ms(END_MS));
}

static void claim_reject(struct worker *worker, struct rpc_req *req,
			 int verdict)
{
	const struct wire_claim *body = req->msg.body;
	struct iod *iod = worker->iod;

	if (verdict == STORE_FOREIGN)
		log_error(iod->log,
			  "%s: this is not the manager's database that storage "
			  "%s belongs to; see the log of the manager",
			  rpc_session_info(req->session)->peer,
			  iod->conf.storage);
	if (verdict == STORE_REPLACED)
		log_replaced_store(iod, le64toh(body->store));
	send_verdict(iod, req, verdict);
	if (verdict == STORE_REPLACED)
		stop_iod_soon(worker);
}

static void log_old_manager(struct iod *iod, struct rpc_req *req)
{
	const struct rpc_session_info *info = rpc_session_info(req->session);

	log_warn(iod->log,
		 "%s (%s): refused: another manager has this iod, one that was "
		 "started later or from another copy of the database; see the "
		 "log of the one that is refused",
		 info->peer, info->cred.name);
}

/* Other errors may be temporary, so they are answered -EAGAIN and the manager repeats the
 * claim. */
static void finish_claim(struct op_job *job, int status)
{
	const struct wire_claim *body = job->req->msg.body;
	struct worker *w = job->worker;
	struct rpc_req *req = job->req;

	free(job);
	if (status == -ESTALE)
		log_old_manager(w->iod, req);
	if (status < 0)
		rpc_reply_status(req, status == -ESTALE ? status : -EAGAIN);
	else if (status == STORE_OURS && !(le32toh(body->flags) & WIRE_C_ASK))
		accept_claim(w, req);
	else
		claim_reject(w, req, status);
}

void op_claim(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_CONTROL, claim_store, finish_claim);
}

/* ---- LEASE: extends the time for which the iod may work without its manager ---- */

void op_lease(struct worker *w, struct rpc_req *req)
{
	const struct wire_lease *body = req->msg.body;

	if (req->msg.body_len ==
	    /* a manager of version 2 gives no tickets, so it sends no clock */
	    sizeof(*body))
		mgr_clocks_update(&w->iod->mgr_clocks, session_of(req)->term,
				  le64toh(body->since), le64toh(body->clock));
	loan_table_expire(w->iod->loans);
	lease_renew(w->iod, le64toh(body->until));
	rpc_reply_status(req, 0);
	lease_announce_ready(w->iod);
}
