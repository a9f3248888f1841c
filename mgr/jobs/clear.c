/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clear.c - earlier lives of this mgr.  What one of them sent may still be
 * under way at an iod, and a late truncation would destroy what was written
 * since.  So each life has a session of its own, recorded before its first
 * use, and each iod is told to fence the earlier ones before it hears anything else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs_impl.h"
#include "random_id.h"

static void tell_next(struct iod *iod);

static int forget_old(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	int rc;

	rc = ns_begin(&mgr->ns);
	for (size_t i = 0; !rc && i < jobs->nold; i++)
		rc = intent_del(mgr->st, INTENT_FENCE, jobs->old[i].id);
	if (!rc)
		return mgr_commit(mgr, NULL);
	ns_abort(&mgr->ns);
	return rc;
}

static void cleared(struct iod *iod)
{
	struct mgr *mgr = iod->mgr;

	if (--mgr->jobs->uncleared == 0 && mgr->jobs->nold)
		forget_old(mgr);
	iod_release_held(iod);
}

static void told(struct iod_call *call)
{
	if (call->status)
		log_error(call->iod->mgr->log,
			  "%s: fencing an earlier life of this mgr: %s",
			  iod_name(call->iod), strerror(-call->status));
	tell_next(call->iod);
}

static void tell_next(struct iod *iod)
{
	struct jobs *jobs = iod->mgr->jobs;
	struct clearer *c = &iod->clearer;
	struct wire_fence body;
	struct wire_out out;

	if (c->next == jobs->nold) {
		cleared(iod);
		return;
	}
	body.session = htole64(jobs->old[c->next++].session);
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &body, sizeof(body));
	c->call.msg = c->msg;
	c->call.msg_len = (size_t)wire_end(&out, WIRE_FENCE, 0, 0);
	c->call.early = true;
	c->call.done = told;
	iod_call_start(iod, &c->call);
}

void clear_start(struct iod *iod)
{
	tell_next(iod);
}

static int read_old(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;
	struct intent in;
	uint64_t after = 0;
	void *grown;
	int rc;

	while (!(rc = intent_next(mgr->st, INTENT_FENCE, after, &in))) {
		grown = realloc(jobs->old,
				(jobs->nold + 1) * sizeof(jobs->old[0]));
		if (!grown)
			return -ENOMEM;
		jobs->old = grown;
		jobs->old[jobs->nold].id = after = in.id;
		jobs->old[jobs->nold++].session = in.session;
	}
	return rc == -ENOENT ? 0 : rc;
}

static int record_self(struct mgr *mgr)
{
	struct intent in = { .kind = INTENT_FENCE };
	int rc = random_id(&in.session);

	if (!rc)
		rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	in.id = store_id(mgr->st);
	rc = intent_put(mgr->st, &in);
	if (rc) {
		ns_abort(&mgr->ns);
		return rc;
	}
	mgr->jobs->self.id = in.id;
	mgr->jobs->self.session = in.session;
	rc = mgr_commit(mgr, NULL);
	return rc ? rc : store_flush(mgr->st);
}

int clear_open(struct mgr *mgr)
{
	int rc;

	mgr->jobs->uncleared = mgr->conf.niods;
	rc = read_old(mgr);
	return rc ? rc : record_self(mgr);
}

/* Nothing is under way and the peers will say BYE: nobody need hear of us.
 * Before any job is given up, which would look the same. */
void clear_close(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;

	if (!jobs->self.id || !jobs->iod || jobs->table ||
	    !LIST_EMPTY(&jobs->fences) || store_failed(mgr->st))
		return;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		if (jobs->iod[i].remover.busy)
			return;
	if (ns_begin(&mgr->ns))
		return;
	if (intent_del(mgr->st, INTENT_FENCE, jobs->self.id))
		ns_abort(&mgr->ns);
	else
		mgr_commit(mgr, NULL);
}
