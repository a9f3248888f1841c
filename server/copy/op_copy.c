/* SPDX-License-Identifier: BSD-2-Clause */
/* op_copy.c - COPY: bytes of an object from another one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/copy/copies_int.h"

static void log_failure(const struct copy *c)
{
	const struct rpc_session_info *info = rpc_session_info(c->req->session);
	const struct wire_copy *body = copy_body(c);

	log_msg(c->worker->iod->log,
		c->status == -EIO ? LOG_LV_ERROR : LOG_LV_WARN,
		"%s (%s): copy of %llu bytes from object %016llx of iod %u to "
		"%016llx: %s%s",
		info->peer, info->cred.name,
		(unsigned long long)le64toh(body->len),
		(unsigned long long)le64toh(body->from), le32toh(body->iod),
		(unsigned long long)le64toh(body->handle), strerror(-c->status),
		c->status == -EHOSTUNREACH ? "; the client goes on by itself"
					   : "");
}

void copy_free(struct copy *c)
{
	struct iod_session *ses = c->ses;

	if (c->from)
		store_obj_put(c->from);
	store_obj_put(c->obj);
	free(c);
	session_finish(ses);
}

static void copy_answer(struct copy *c, int status)
{
	rpc_reply_status(c->req, status);
	copy_free(c);
}

static void flushed(struct flushing *f, int status)
{
	copy_answer(container_of(f, struct copy, flush), status);
}

static bool is_to_be_flushed(const struct copy *c)
{
	return !c->status && (c->worker->iod->conf.sync ||
			      le32toh(copy_body(c)->flags) & WIRE_IO_SYNC);
}

void copy_end(struct copy *c)
{
	mark_written(c->mark);
	if (c->status)
		log_failure(c);
	if (!is_to_be_flushed(c)) {
		copy_answer(c, c->status);
		return;
	}
	c->flush.done = flushed;
	c->flush.req = c->req;
	flushing_start(&c->flush, c->ses, c->obj);
}

/* ---- the beginning ---- */

static int find_source(struct copy *c)
{
	const struct wire_copy *body = copy_body(c);
	struct iod *iod = c->worker->iod;
	int rc;

	if (le32toh(body->iod) != iod->conf.index)
		return 0;
	rc = store_obj_get(iod->store, le64toh(body->from), false, &c->from);
	return rc == -ENOENT ? 0 : rc;
}

static int prepare(struct copy *c)
{
	const struct wire_copy *body = copy_body(c);
	const struct store_seg seg = { le64toh(body->off), le64toh(body->len) };
	uint64_t handle = le64toh(body->handle);
	int rc = change_may(c->worker->iod, c->req, handle, &seg, 1);

	if (!rc)
		rc = change_make(c->worker->iod, handle, &c->obj);
	if (rc)
		return rc;
	rc = find_source(c);
	c->mark = rc ? NULL
		     : marks_write(&c->ses->marks, c->worker->iod->store,
				   handle);
	if (!rc)
		rc = copies_add(c->worker->copies, c);
	if (!rc)
		return 0;
	mark_written(c->mark);
	if (c->from)
		store_obj_put(c->from);
	store_obj_put(c->obj);
	return rc;
}

void op_copy(struct worker *w, struct rpc_req *req)
{
	struct copy *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (c) {
		c->worker = w;
		c->req = req;
		c->ses = session_of(req);
		session_begin(c->ses);
		rc = prepare(c);
	}
	if (!rc)
		return;
	rpc_reply_status(req, rc);
	if (c)
		session_finish(c->ses);
	free(c);
}
