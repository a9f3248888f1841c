/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_counter.c - COUNTER: fetch-and-add on a counter of a file.
 *
 * Unlike a write, a change of a counter must not be executed twice.  So if a change was sent to an
 * earlier process, which may have executed it, it is rejected.  Most changes need no disk access
 * and are executed at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/op/op_int.h"

static struct counter_change change_of(const struct rpc_req *req)
{
	const struct wire_counter *body = req->msg.body;

	return (struct counter_change){
		.key = request_key(req, body->handle),
		.number = le32toh(body->number),
		.set = le32toh(body->flags) & WIRE_CT_SET,
		.value = (int64_t)le64toh(body->value),
	};
}

struct limit_order {
	const struct rpc_req *req;
	struct store_obj *obj;
};

static int order_limit(const struct counter_change *c, int64_t limit)
{
	const struct limit_order *order = c->arg;
	const struct ordered_change what = {
		.kind = WIRE_ORDER_COUNTER,
		.arg = { (uint64_t)limit, c->number },
	};

	return change_order(order->req, order->obj, &what);
}

/* Changes the counter in time, or not at all. */
static int change_in_gate(struct iod *iod, const struct rpc_req *req,
			  const struct counter_change *c, struct store_obj *obj,
			  bool quick, int64_t *old)
{
	struct limit_order order = { req, obj };
	struct counter_change change = *c;
	struct change_entry entry;
	int rc = change_enter(iod, req, obj, NULL, &entry);

	if (rc)
		return rc;
	if (!object_key_is_own(c->key)) {
		change.raise = order_limit;
		change.arg = &order;
	}
	rc = counter_change(iod->counters, &change, quick, old);
	change_leave(iod, obj, &entry, rc);
	return rc;
}

/* A read does not make a missing object. */
static int open_counter_object(struct iod *iod, const struct counter_change *c,
			       struct store_obj **obj)
{
	return counter_change_is_read(c)
		       ? store_obj_get(iod->store, c->key, false, obj)
		       : change_open_object(iod, c->key, obj);
}

/* The second check catches a removal since the first. */
static int change_counter(struct iod *iod, const struct rpc_req *req,
			  bool quick, int64_t *old)
{
	const struct counter_change c = change_of(req);
	struct store_obj *obj;
	int rc = open_counter_object(iod, &c, &obj);

	if (rc == -ENOENT && counter_change_is_read(&c) &&
	    !recent_removal_has(iod->recent, c.key)) {
		*old = 0;
		return 0;
	}
	if (rc)
		return rc;
	rc = change_in_gate(iod, req, &c, obj, quick, old);
	store_obj_put(obj);
	if (!recent_removal_has(iod->recent, c.key))
		return rc;
	counters_remove_file(iod->counters, c.key);
	return -ENOENT;
}

static void send_old_value(struct rpc_req *req, int64_t old)
{
	struct wire_counter_rep rep = { .old = htole64((uint64_t)old) };

	op_reply(req, &rep, sizeof(rep), NULL, 0, 0);
}

static int change_blocking(struct op_job *job)
{
	int64_t *old = job->req->priv;

	if (rpc_req_late(job->req))
		return -ETIMEDOUT;
	if (store_fence_has(job->worker->iod->store, job->ses->id))
		return -ESTALE;
	return change_counter(job->worker->iod, job->req, false, old);
}

static void finish_change(struct op_job *job, int status)
{
	int64_t *old = job->req->priv;

	if (status) {
		op_job_reply(job, status);
	} else {
		send_old_value(job->req, *old);
		free(job);
	}
	free(old);
}

static void change_in_pool(struct worker *w, struct rpc_req *req)
{
	req->priv = malloc(sizeof(int64_t));
	if (req->priv)
		op_job_start(w, req, DISK_CHANGE, change_blocking,
			     finish_change);
	else
		rpc_reply_status(req, -ENOMEM);
}

static bool refuse_repeated_change(struct worker *w, struct rpc_req *req)
{
	const struct counter_change c = change_of(req);

	if (!req->state_lost || counter_change_is_read(&c))
		return false;
	log_warn(w->iod->log,
		 "%s: a change of a counter of %s comes again: an earlier "
		 "process of this iod has made it, or not, so it fails "
		 "(ECONNABORTED)",
		 rpc_session_info(req->session)->peer,
		 object_key_text(c.key).s);
	rpc_reply_status(req, -ECONNABORTED);
	return true;
}

void op_counter(struct worker *w, struct rpc_req *req)
{
	int64_t old;
	int rc;

	if (refuse_repeated_change(w, req))
		return;
	rc = rpc_req_late(req) ? -ETIMEDOUT
			       : change_counter(w->iod, req, true, &old);
	if (rc == -EAGAIN)
		change_in_pool(w, req);
	else if (rc)
		rpc_reply_status(req, rc);
	else
		send_old_value(req, old);
}
