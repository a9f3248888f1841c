/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_order.c - ORDER: makes a change that the primary of a copyset is about to make.
 *
 *   op_order()      waits for orders of the same bytes (member_order.h)
 *   start_order()   starts a transfer with the buffers for orders, or work in the queue of the disk
 *                   pool for orders
 *   change_start(), change_enter()
 *                   check the version, the fence and the lease (copyset/change.c)
 *   finish_order()
 *
 * The buffers and the queue are apart from those of clients.  A change of a client at the primary
 * keeps its buffer until the order is answered.  If orders used the same buffers, two iods that are
 * primaries of each other could wait for each other for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/container.h"
#include "server/copyset/member_order.h"
#include "server/op/op_int.h"
#include "server/xfer/xfer.h"

/* 2 MiB for each worker */
static const struct zones_attr order_zones = {
	.n = 2,
	.zone = { { 64 << 10, 8 }, { 256 << 10, 6 } },
};

static struct object_key order_key(const struct rpc_req *req)
{
	return request_key(req, order_body(req)->io.handle);
}

/* ---- the end ---- */

static void log_failure(const struct rpc_req *req, int status)
{
	const struct rpc_session_info *info = rpc_session_info(req->session);

	log_msg(session_of((struct rpc_req *)req)->worker->iod->log,
		status == -EIO ? LOG_LV_ERROR : LOG_LV_WARN,
		"%s (%s): change of %s that the primary has ordered: %s",
		info->peer, info->cred.name, object_key_text(order_key(req)).s,
		strerror(-status));
}

/* Nothing was done: the primary may repeat the order, or give the change up. */
static bool is_refusal(int status)
{
	return status == -ESTALE || status == -EAGAIN ||
	       status == -WIRE_ECOPYSET;
}

/*
 * -ETIMEDOUT: the lease has ended before the change began.  Then the order waits for the next.  If a
 * part was made, it fails: begun again, it would record the bytes of this part twice.
 */
static void finish_order(struct member_order *order, int status)
{
	struct worker *w = order->worker;
	struct rpc_req *req = order->req;

	if (order->stored && (is_refusal(status) || status == -ETIMEDOUT))
		status = -EIO;
	member_order_end(order);
	free(order);
	if (status == -ETIMEDOUT) {
		req->expiry = UINT64_MAX;
		w->iod->run(w, req);
		return;
	}
	if (status && !is_refusal(status))
		log_failure(req, status);
	rpc_reply_status(req, status);
}

/* ---- writes ---- */

static void end_write(struct xfer *x)
{
	struct member_order *order = x->req->priv;
	struct rpc_req *req = x->req;
	bool broken = x->broken;
	int status = x->status;

	xfer_free(x);
	if (!broken) {
		finish_order(order, status);
		return;
	}
	member_order_end(order);
	free(order);
	rpc_req_abort(req);
}

static const struct xfer_ops write_ops = {
	.begin = xfer_fetch_chunk,
	.end = end_write,
};

static int open_buffers(struct worker *w)
{
	struct zones_attr attr = order_zones;

	attr.rails = rpc_ctx_rails(w->ctx);
	return w->order_zones ? 0 : zones_open(&attr, &w->order_zones);
}

/* Without memory for buffers, nothing is done: the primary repeats the order. */
static int prepare_write(struct xfer *x)
{
	struct iod *iod = x->worker->iod;
	struct object_key key = order_key(x->req);
	int rc = open_buffers(x->worker);

	if (rc)
		return -EAGAIN;
	x->zones = x->worker->order_zones;
	x->owner = &x->ses->order_owner;
	rc = recent_changes_check(iod->recent, key, x->seg, x->nseg,
				  le64toh(order_body(x->req)->session), false);
	return rc ? rc : change_open_object(iod, key, &x->obj);
}

static void start_write(struct member_order *order)
{
	struct xfer *x = xfer_create(order->worker, order->req, &write_ops);

	if (!x) { /* the request was answered */
		member_order_end(order);
		free(order);
		return;
	}
	x->status = prepare_write(x);
	if (x->status)
		end_write(x);
	else if (!xfer_write_message_data(x))
		xfer_write_chunks(x);
}

/* ---- other changes ---- */

static int truncate_object(struct iod *iod, const struct rpc_req *req)
{
	const struct wire_order *body = order_body(req);
	uint64_t size = le64toh(body->arg[0]);
	const struct store_seg cut = { size, UINT64_MAX - size };
	struct object_key key = order_key(req);
	struct recent_truncation *truncation;
	int rc;

	switch (recent_truncation_begin(iod->recent, key, le64toh(body->arg[1]),
					&truncation)) {
	case RECENT_TRUNCATION_DONE:
		return 0;
	case RECENT_TRUNCATION_RUNNING:
		return -EAGAIN;
	case RECENT_TRUNCATION_NEW:
		break;
	}
	rc = recent_changes_check(iod->recent, key, &cut, 1, 0, false);
	if (!rc)
		rc = resize_in_time(iod, req, key, size, 0);
	recent_truncation_end(iod->recent, truncation, !rc);
	return rc;
}

static int change_order_space(struct iod *iod, const struct rpc_req *req)
{
	const struct wire_order *body = order_body(req);
	const struct store_seg seg = { le64toh(body->arg[0]),
				       le64toh(body->arg[1]) };
	struct object_key key = order_key(req);
	int rc = recent_changes_check(iod->recent, key, &seg, 1,
				      le64toh(body->session), false);

	return rc ? rc
		  : change_space(iod, req, key, &seg, le32toh(body->flags));
}

/* The limit is known to the primary: it has ordered it. */
static int accept_limit(const struct counter_change *c, int64_t limit)
{
	return 0;
}

static int set_counter(struct iod *iod, const struct rpc_req *req)
{
	const struct wire_order *body = order_body(req);
	const struct counter_change c = {
		.key = order_key(req),
		.number = (unsigned int)le64toh(body->arg[1]),
		.set = true,
		.value = (int64_t)le64toh(body->arg[0]),
		.raise = accept_limit,
	};
	struct change_entry entry;
	struct store_obj *obj;
	int64_t old;
	int rc = change_open_object(iod, c.key, &obj);

	if (rc)
		return rc;
	rc = change_enter(iod, req, obj, NULL, &entry);
	if (!rc) {
		rc = counter_change(iod->counters, &c, false, &old);
		change_leave(iod, obj, &entry, rc);
	}
	store_obj_put(obj);
	return rc;
}

static int change_blocking(struct iod *iod, const struct rpc_req *req)
{
	switch (le32toh(order_body(req)->kind)) {
	case WIRE_ORDER_RESIZE:
		return truncate_object(iod, req);
	case WIRE_ORDER_SPACE:
		return change_order_space(iod, req);
	default:
		return set_counter(iod, req);
	}
}

static void on_changed(struct mailbox_item *mail)
{
	struct member_order *order = container_of(mail, struct member_order,
						  mail);

	rpc_req_leave_from(order->req, RPC_DISK, order->work.item.began);
	finish_order(order, order->status);
}

static void run_change(struct disk_work *work)
{
	struct member_order *order = container_of(work, struct member_order,
						  work);

	order->status = change_blocking(order->worker->iod, order->req);
	mailbox_post(&order->worker->mail, &order->mail);
}

static void start_blocking(struct member_order *order)
{
	order->work.run = run_change;
	order->mail.deliver = on_changed;
	rpc_req_enter(order->req, RPC_DISK);
	disk_pool_run(order->worker->iod->pool,
		      session_of(order->req)->disk_client, DISK_ORDER,
		      &order->work);
}

/* ---- the start ---- */

/* An order that is refused makes no object, so it is checked before, too. */
static void start_order(struct member_order *order)
{
	int rc = member_order_check(order->worker->iod, order->req);

	if (rc)
		finish_order(order, rc);
	else if (le32toh(order_body(order->req)->kind) == WIRE_ORDER_WRITE)
		start_write(order);
	else
		start_blocking(order);
}

/* The bytes from the first to the last region. */
static void find_range(const struct rpc_req *req, uint64_t *from, uint64_t *end)
{
	const struct wire_order *body = order_body(req);
	const struct wire_region *reg = req->msg.tail[0].ptr;

	*from = 0;
	*end = RANGE_LOCK_END;
	if (le32toh(body->kind) != WIRE_ORDER_WRITE)
		return;
	*from = UINT64_MAX;
	*end = 0;
	for (uint32_t i = 0; i < le32toh(body->io.nreg); i++) {
		uint64_t off = le64toh(reg[i].off);

		*from = off < *from ? off : *from;
		if (off + le64toh(reg[i].len) > *end)
			*end = off + le64toh(reg[i].len);
	}
}

void op_order(struct worker *w, struct rpc_req *req)
{
	struct member_order *order;
	uint64_t from, end;

	/* the order may have been executed, and this process is no member of that version */
	if (req->state_lost) {
		rpc_reply_status(req, -ECONNABORTED);
		return;
	}
	order = malloc(sizeof(*order));
	if (!order) {
		rpc_reply_status(req, -EAGAIN);
		return;
	}
	order->worker = w;
	order->req = req;
	order->start = start_order;
	req->priv = order;
	find_range(req, &from, &end);
	member_order_begin(order, order_key(req), from, end);
}
