/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_place.c - PLACE and SHARE: tell a client where a counter lies, for RDMA atomics, and where
 * the shared blocks lie, for RDMA Reads.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/op/op_int.h"
#include "server/state/rdma_places.h"

/* ---- PLACE ---- */

/* If the transport needs a process for atomics, a request is as fast. */
static bool device_serves_counters(const struct iod *iod,
				   const struct tp_dev *dev)
{
	unsigned int does = tp_dev_serves(dev);

	switch (iod->conf.words) {
	case IOD_WORDS_ON:
		return does == (TP_ALONE | TP_ATOMICS);
	case IOD_WORDS_ALL:
		return does & TP_ATOMICS;
	case IOD_WORDS_OFF:
		break;
	}
	return false;
}

struct placing {
	struct tp_dev *dev;
	struct counter_loan place;
};

static struct counter_loan_request loan_request_of(const struct op_job *job)
{
	const struct wire_place *body = job->req->msg.body;
	const struct placing *p = job->req->priv;

	return (struct counter_loan_request){
		.key = request_key(job->req, body->handle),
		.number = le32toh(body->number),
		.dev = p->dev,
		.step = (int64_t)le64toh(body->step),
		.raise = le32toh(body->flags) & WIRE_PL_RAISE,
		.upto = (int64_t)le64toh(body->upto),
	};
}

/* A ceiling of an earlier process is refused: that process may have given the same values to
 * another client. */
static int check_place_request(const struct op_job *job)
{
	const struct wire_place *body = job->req->msg.body;

	if (le64toh(body->step) > WIRE_PL_STEP)
		return -EINVAL;
	if (le32toh(body->flags) & WIRE_PL_RAISE &&
	    le64toh(body->life) != job->worker->iod->boot)
		return -ECONNABORTED;
	return store_fence_has(job->worker->iod->store, job->ses->id) ? -ESTALE
								      : 0;
}

/* The second check catches a removal since the first. */
static int lend_counter(struct op_job *job)
{
	const struct counter_loan_request wish = loan_request_of(job);
	struct placing *p = job->req->priv;
	struct iod *iod = job->worker->iod;
	struct store_obj *obj;
	int rc = check_place_request(job);

	if (!rc)
		rc = change_open_object(iod, wish.key, &obj);
	if (rc)
		return rc;
	rc = counter_lend_to_device(iod->counters, &wish, &p->place);
	store_obj_put(obj);
	if (!recent_removal_has(iod->recent, wish.key))
		return rc;
	counters_remove_file(iod->counters, wish.key);
	return -ENOENT;
}

static void send_counter_place(struct op_job *job)
{
	const struct placing *p = job->req->priv;
	struct wire_place_rep rep = {
		.addr = htole64(p->place.addr),
		.ceiling = htole64((uint64_t)p->place.ceiling),
		.life = htole64(job->worker->iod->boot),
		.rkey = htole32(p->place.rkey),
	};

	op_reply(job->req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}

static void finish_place(struct op_job *job, int status)
{
	struct placing *p = job->req->priv;

	if (status) {
		op_job_reply(job, status);
	} else {
		send_counter_place(job);
		free(job);
	}
	free(p);
}

void op_place(struct worker *w, struct rpc_req *req)
{
	struct tp_dev *dev = rpc_ctx_rails(w->ctx)->dev[rpc_req_rail(req)];
	struct placing *p;

	/* the other members of a copyset would not know the values */
	if (wire_copyset(req->msg.hdr).id ||
	    !device_serves_counters(w->iod, dev)) {
		rpc_reply_status(req, -EOPNOTSUPP);
		return;
	}
	p = malloc(sizeof(*p));
	if (!p) {
		rpc_reply_status(req, -ENOMEM);
		return;
	}
	p->dev = dev;
	req->priv = p;
	op_job_start(w, req, DISK_CHANGE, lend_counter, finish_place);
}

/* ---- SHARE ---- */

void op_share(struct worker *w, struct rpc_req *req)
{
	struct wire_share_rep rep;
	int rc = block_place_get(w->iod, req, &rep);

	if (rc)
		rpc_reply_status(req, rc);
	else
		op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}
