/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c - see change.h. */
#include "server/copyset/change.h"

#include <errno.h>

#include "common/util/container.h"
#include "server/copyset/assignments.h"
#include "server/copyset/member_order.h"

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

static int enter_as_primary(struct iod *iod, const struct rpc_req *req)
{
	struct copyset_ref ref = wire_copyset(req->msg.hdr);
	int rc = copyset_enter(iod->assignments, ref);

	if (rc || !copyset_has_others(iod->assignments, ref.id))
		return rc;
	copyset_leave(iod->assignments, ref.id);
	return -EOPNOTSUPP;
}

/* Changes of a copyset need permission.  *expiry: the time until which the change must begin. */
static int enter_copyset(struct iod *iod, const struct rpc_req *req,
			 uint64_t *expiry)
{
	return req->op == WIRE_ORDER ? member_order_enter(iod, req, expiry)
				     : enter_as_primary(iod, req);
}

static void end_change(struct file_access *change, int status)
{
	struct member_order *order = change->req->priv;

	/* before another primary may serve */
	if (change->req->op == WIRE_ORDER && !status)
		member_order_add_stored(order, change->io.len);
	copyset_leave(change->ses->worker->iod->assignments,
		      copyset_id(change->io.obj));
	change->done = change->change_done;
	change->done(change, status);
}

void change_start(struct file_access *change)
{
	int rc;

	/* objects of the own group need no permission: this iod is their only member */
	if (is_own(change->io.obj)) {
		file_access_write(change);
		return;
	}
	rc = enter_copyset(change->ses->worker->iod, change->req,
			   &change->req->expiry);
	if (rc) {
		change->done(change, rc);
		return;
	}
	change->change_done = change->done;
	change->done = end_change;
	file_access_write(change);
}

int change_enter(struct iod *iod, const struct rpc_req *req,
		 struct store_obj *obj, struct gate_entry *entry)
{
	uint64_t expiry = req->expiry;
	int rc = is_own(obj) ? 0 : enter_copyset(iod, req, &expiry);

	if (rc)
		return rc;
	rc = store_obj_enter(obj, expiry, entry);
	if (rc && !is_own(obj))
		copyset_leave(iod->assignments, copyset_id(obj));
	return rc;
}

void change_leave(struct iod *iod, struct store_obj *obj,
		  struct gate_entry *entry)
{
	store_obj_leave(obj, entry);
	if (!is_own(obj))
		copyset_leave(iod->assignments, copyset_id(obj));
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
