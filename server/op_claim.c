/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_claim.c - CLAIM: the manager says which store it knows here.  With the wrong
 * one the iod ends: zeros in place of data would be an answer, too.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "op.h"

static int claim_run(struct op_job *job)
{
	const struct wire_claim *body = job->req->msg.body;
	uint32_t flags = le32toh(body->flags);
	struct store_claim claim = { .owner = le64toh(body->owner),
				     .store = le64toh(body->store),
				     .fresh = flags & WIRE_C_FRESH,
				     .ask = flags & WIRE_C_ASK };

	return store_claim(job->worker->iod->store, &claim);
}

static void say_replaced(struct iod *iod, uint64_t want)
{
	if (store_is_new(iod->store))
		log_error(iod->log,
			  "storage %s is empty, but this iod has held data: is "
			  "its file system not mounted, or was it wiped? mount "
			  "it or restore it from a backup and start again; if "
			  "the data is lost for good: pvfs-iod --index %u "
			  "--new-store",
			  iod->conf.storage, iod->conf.index);
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

static void end_refused(struct iod *iod)
{
	atomic_store(&iod->refused, true);
	kill(getpid(), SIGTERM);
}

/* -EAGAIN for what may pass: the manager asks again. */
static void claim_done(struct op_job *job, int status)
{
	const struct wire_claim *body = job->req->msg.body;
	struct iod *iod = job->worker->iod;
	uint64_t want = le64toh(body->store);
	struct wire_claim_rep rep = {
		.store = htole64(store_identity(iod->store)),
		.verdict = htole32((uint32_t)status),
	};

	if (status < 0) {
		op_job_reply(job, -EAGAIN);
		return;
	}
	if (status == STORE_FOREIGN)
		log_error(iod->log,
			  "%s: this is not the manager's data base that storage "
			  "%s belongs to; see the log of the manager",
			  rpc_session_info(job->req->session)->peer,
			  iod->conf.storage);
	op_reply(job->req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
	free(job);
	if (status == STORE_REPLACED) {
		say_replaced(iod, want);
		end_refused(iod);
	}
	iod_say_ready(iod);
}

void op_claim(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, claim_run, claim_done);
}
