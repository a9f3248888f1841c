/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c - see change.h. */
#include "server/copyset/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/container.h"
#include "server/copyset/assignments.h"
#include "server/copyset/member_order.h"
#include "server/once/change_records.h"

/* The second check catches a removal since the first. */
int change_open_object(struct iod *iod, struct object_key key,
		       struct store_obj **obj)
{
	struct store_obj *made;
	int rc;

	if (recent_removal_has(iod->recent, key))
		return -ENOENT;
	rc = store_obj_get(iod->store, key, true, &made);
	if (rc)
		return rc;
	if (!recent_removal_has(iod->recent, key)) {
		*obj = made;
		return 0;
	}
	store_obj_put(made);
	rc = store_remove(iod->store, key, false);
	return rc ? rc : -ENOENT;
}

int change_check(struct iod *iod, const struct rpc_req *req,
		 struct object_key key, const struct store_seg *seg,
		 unsigned int n)
{
	if (rpc_req_late(req))
		return -ETIMEDOUT;
	return recent_changes_check(iod->recent, key, seg, n,
				    rpc_session_info(req->session)->id,
				    req->state_lost);
}

/* ---- making a change ---- */

static bool is_own(const struct store_obj *obj)
{
	return object_key_is_own(store_obj_key(obj));
}

static uint32_t copyset_id(const struct store_obj *obj)
{
	return (uint32_t)store_obj_key(obj).copyset;
}

/* With engine = direct, a write may write the blocks around its bytes again. */
static void set_range(struct group_change *c, uint64_t from, uint64_t end)
{
	c->from = from - from % STORE_BLOCK;
	c->end = end + (STORE_BLOCK - end % STORE_BLOCK) % STORE_BLOCK;
}

/* ---- bytes ---- */

static void end_ordered_write(struct file_access *change, int status)
{
	struct member_order *order = change->req->priv;

	/* before another primary may serve */
	if (!status)
		member_order_add_stored(order, change->io.len);
	copyset_leave(change->ses->worker->iod->assignments,
		      copyset_id(change->io.obj));
	change->done = change->change_done;
	change->done(change, status);
}

/* Bytes of the request that make it complete. */
static uint64_t request_total(const struct rpc_req *req)
{
	const struct wire_io *io = req->msg.body;
	const struct wire_copy *copy = req->msg.body;

	return le64toh(req->op == WIRE_COPY ? copy->len : io->total);
}

/* A primary has the records of its members. */
static void record_write(const struct file_access *change)
{
	const struct iod *iod = change->ses->worker->iod;
	const struct rpc_req *req = change->req;
	const struct change_id id = { .session = change->ses->id,
				      .origin = iod->conf.index,
				      .slot = req->slot,
				      .seq = req->seq };

	change_records_add(iod->change_records, &id, change->io.len,
			   request_total(req), req->expiry);
}

static void end_group_write(struct file_access *change, int status)
{
	if (!status)
		record_write(change);
	group_change_end(change->group, status);
	change->done = change->change_done;
	change->done(change, status);
}

static void on_members_written(struct group_change *c, int status)
{
	struct file_access *change = c->arg;

	change->change_done = change->done;
	change->group = c;
	if (status) {
		end_group_write(change, status);
		return;
	}
	change->done = end_group_write;
	file_access_write_in_gate(change);
}

/* From the first byte to the last one. */
static void set_range_of_pieces(struct group_change *c,
				const struct store_io *io)
{
	const struct store_seg *seg = io->seg;
	uint64_t skip = io->skip, from = UINT64_MAX, end = 0;
	size_t left, n;

	for (left = io->len; left; left -= n, seg++, skip = 0) {
		n = store_piece_len(seg, skip, left);
		from = seg->off + skip < from ? seg->off + skip : from;
		end = seg->off + skip + n > end ? seg->off + skip + n : end;
	}
	set_range(c, from, end);
}

/* All members must get the same bytes.  The client can change them in a Fast RDMA buffer. */
static int keep_bytes(struct group_change *c, struct file_access *change)
{
	if (change->mem || !rpc_req_data_may_change(change->req))
		return 0;
	c->copy = malloc(change->io.len);
	if (!c->copy)
		return -ENOMEM;
	memcpy(c->copy, change->io.buf, change->io.len);
	change->io.buf = c->copy;
	return 0;
}

static void write_in_group(struct group_change *c, struct file_access *change)
{
	struct ordered_change what = { .kind = WIRE_ORDER_WRITE,
				       .total = request_total(change->req) };
	int rc = keep_bytes(c, change);

	what.seg = change->io.seg;
	what.skip = change->io.skip;
	what.buf = change->io.buf;
	what.len = change->io.len;
	what.mem = change->mem;
	c->arg = change;
	c->ready = on_members_written;
	set_range_of_pieces(c, &change->io);
	group_change_start(c, &what, rc);
}

static int start_as_primary(struct file_access *change)
{
	struct group_change *c;
	int rc = group_change_create(change->ses, change->req, change->io.obj,
				     &c);

	if (!rc)
		write_in_group(c, change);
	return rc;
}

static int start_as_member(struct file_access *change)
{
	int rc = member_order_enter(change->ses->worker->iod, change->req,
				    &change->req->expiry);

	if (rc)
		return rc;
	change->change_done = change->done;
	change->done = end_ordered_write;
	file_access_write(change);
	return 0;
}

void change_start(struct file_access *change)
{
	int rc;

	/* objects of the own group need no permission: this iod is their only member */
	if (is_own(change->io.obj)) {
		file_access_write(change);
		return;
	}
	rc = change->req->op == WIRE_ORDER ? start_as_member(change)
					   : start_as_primary(change);
	if (rc)
		change->done(change, rc);
}

/* ---- other changes ---- */

/* The caller waits until the other members have made the change. */
static int order_and_wait(struct group_change *c,
			  const struct ordered_change *what)
{
	int rc;

	if (what->kind == WIRE_ORDER_RESIZE)
		set_range(c, 0, RANGE_LOCK_END - RANGE_LOCK_END % STORE_BLOCK);
	else if (what->kind == WIRE_ORDER_SPACE)
		set_range(c, what->arg[0], what->arg[0] + what->arg[1]);
	rc = group_change_wait(c, what);
	if (rc && rc != -ESHUTDOWN)
		group_change_end_in_pool(c, rc);
	return rc;
}

/* A change without `what` needs no order. */
static int enter_as_primary(struct iod *iod, const struct rpc_req *req,
			    struct store_obj *obj,
			    const struct ordered_change *what,
			    struct group_change **group)
{
	struct group_change *c;
	int rc;

	if (!what)
		return copyset_enter(iod->assignments,
				     wire_copyset(req->msg.hdr));
	rc = group_change_create(rpc_session_info(req->session)->priv, req, obj,
				 &c);
	if (!rc)
		rc = order_and_wait(c, what);
	if (!rc)
		*group = c;
	return rc;
}

static int enter_copyset(struct iod *iod, const struct rpc_req *req,
			 struct store_obj *obj,
			 const struct ordered_change *what,
			 struct change_entry *entry)
{
	uint64_t expiry = req->expiry;
	int rc = req->op == WIRE_ORDER
			 ? member_order_enter(iod, req, &expiry)
			 : enter_as_primary(iod, req, obj, what, &entry->group);

	if (rc || entry->group)
		return rc;
	rc = store_obj_enter(obj, expiry, &entry->gate);
	if (rc)
		copyset_leave(iod->assignments, copyset_id(obj));
	return rc;
}

int change_enter(struct iod *iod, const struct rpc_req *req,
		 struct store_obj *obj, const struct ordered_change *what,
		 struct change_entry *entry)
{
	entry->group = NULL;
	return is_own(obj) ? store_obj_enter(obj, req->expiry, &entry->gate)
			   : enter_copyset(iod, req, obj, what, entry);
}

void change_leave(struct iod *iod, struct store_obj *obj,
		  struct change_entry *entry, int status)
{
	if (entry->group) {
		group_change_end_in_pool(entry->group, status);
		return;
	}
	store_obj_leave(obj, &entry->gate);
	if (!is_own(obj))
		copyset_leave(iod->assignments, copyset_id(obj));
}

int change_order(const struct rpc_req *req, struct store_obj *obj,
		 const struct ordered_change *what)
{
	struct group_change *c;
	int rc = group_change_create(rpc_session_info(req->session)->priv, req,
				     obj, &c);

	if (!rc)
		rc = order_and_wait(c, what);
	if (!rc)
		group_change_end_in_pool(c, 0);
	return rc;
}

/* ---- flush ---- */

static void on_flush_mail(struct mailbox_item *mail)
{
	struct change_flush *f = container_of(mail, struct change_flush, mail);

	rpc_req_leave(f->req, RPC_FLUSH);
	f->done(f, dirty_objects_flush_end(&f->ses->dirty,
					   f->ses->worker->iod->store,
					   &f->dirty, f->status));
}

static void on_flush_complete(struct flush_wait *wait, int status)
{
	struct change_flush *f = container_of(wait, struct change_flush, wait);

	f->status = status;
	mailbox_post(&f->ses->worker->mail, &f->mail);
}

void change_flush_start(struct change_flush *f, struct iod_session *ses,
			struct store_obj *obj)
{
	f->ses = ses;
	rpc_req_enter(f->req, RPC_FLUSH);
	f->wait.done = on_flush_complete;
	f->mail.deliver = on_flush_mail;
	dirty_objects_flush_begin(&ses->dirty, store_obj_key(obj), &f->dirty);
	store_obj_flush(obj, ses->worker->iod->pool, ses->disk_client,
			&f->wait);
}
