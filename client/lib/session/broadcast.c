/* SPDX-License-Identifier: BSD-2-Clause */
/* broadcast.c - the same message to several iods, and its users: GETSIZE, SYNC, PING. */
#include "client/lib/session/broadcast.h"
#include "client/lib/session/coroutine.h"

#include <errno.h>
#include <stdlib.h>

#include "client/lib/session/call_context.h"
#include "client/lib/session/copyset_call.h"

#define BROADCAST_CALLS 16
#define LOOK_MS 1500u /* shorter than the wait at the end of a program */

struct broadcast_call {
	struct copyset_call call;
	struct broadcast_op *broadcast;
	uint32_t k;
};

struct broadcast_op {
	struct drive_op op;
	uint64_t deadline;
	uint32_t user;
	bool begun; /* a server may have executed the request */
	const struct broadcast *broadcast;
	const struct wire_out *out;
	struct broadcast_call *call;
	struct broadcast_call few[BROADCAST_CALLS];
};

/* Calls that wait for a connection are given up. */
static void broadcast_failed(struct broadcast_op *f, int status)
{
	uint32_t k;

	if (!f->op.err)
		f->op.err = status > 0 ? -EPROTO : session_iod_status(status);
	for (k = 0; k < f->broadcast->dist->pcount; k++)
		copyset_call_cancel_unneeded(&f->call[k].call, f->broadcast->s,
					     f->broadcast->dist, status);
}

static void broadcast_done(struct rpc_call *rpc)
{
	struct broadcast_call *c = rpc->arg;
	const struct broadcast *broadcast = c->broadcast->broadcast;
	int rc = rpc->status;

	c->broadcast->begun |= !rc || rpc->unsure || rpc->reply.hdr;
	if (rc == 0 && broadcast->take)
		rc = broadcast->take(broadcast->arg, c->k, &rpc->reply);
	if (rc)
		broadcast_failed(c->broadcast, rc);
	op_put(&c->broadcast->op, 0);
}

static void broadcast_start(struct drive_op *op)
{
	struct broadcast_op *f = (struct broadcast_op *)op;
	const struct broadcast *broadcast = f->broadcast;
	struct session *s = broadcast->s;
	uint32_t i, n = broadcast->dist->pcount;
	int rc;

	for (i = 0; i < n; i++) {
		uint32_t k = (s->first + i) % n;
		struct broadcast_call *c = &f->call[k];

		c->call.rpc.p.peer = NULL;
		if (broadcast->skip && broadcast->skip(broadcast->arg, k))
			continue;
		c->broadcast = f;
		c->k = k;
		c->call.rpc = (struct rpc_call){ .msg = f->out->buf,
						 .msg_len = f->out->len,
						 .deadline = f->deadline,
						 .user = f->user,
						 .done = broadcast_done,
						 .arg = c };
		if (broadcast->aim)
			broadcast->aim(broadcast->arg, k, f->out->buf);
		rc = copyset_call_start(&c->call, s, broadcast->dist, k);
		if (rc)
			op->err = rc;
		else
			op_get(op);
	}
}

static int broadcast_status(const struct broadcast_op *f, int rc)
{
	if (!session_is_over(rc) || !f->broadcast->once || !f->begun)
		return rc;
	log_error(f->broadcast->s->log,
		  "the session ended during a change: it was "
		  "made, or a part of it, or not");
	return -ECONNABORTED;
}

int broadcast_run(const struct broadcast *broadcast, enum wire_op op,
		  struct wire_out *out)
{
	struct broadcast_op f;
	int rc;

	rc = wire_end(out, op, 0, 0);
	if (rc < 0)
		return rc;
	f.op.start = broadcast_start;
	f.op.finish = NULL;
	f.deadline = session_deadline(broadcast->s);
	f.user = call_user();
	f.begun = false;
	f.broadcast = broadcast;
	f.out = out;
	f.call = f.few;
	if (broadcast->dist->pcount > BROADCAST_CALLS)
		f.call = calloc(broadcast->dist->pcount, sizeof(*f.call));
	if (!f.call)
		return -ENOMEM;
	rc = broadcast_status(&f, op_run(&broadcast->s->drive, &f.op));
	if (f.call != f.few)
		free(f.call);
	return rc;
}

struct dist all_iods_dist(const struct session *s)
{
	return (struct dist){ .pcount = s->niods, .ssize = 65536 };
}

int broadcast_body(const struct broadcast *broadcast, enum wire_op op,
		   const void *body, size_t len)
{
	uint64_t buf[(sizeof(struct wire_hdr) + BROADCAST_BODY_MAX) / 8];
	struct wire_out out;

	wire_begin(&out, buf, sizeof(buf));
	if (len)
		wire_put(&out, body, len);
	return broadcast_run(broadcast, op, &out);
}

/* ---- checking all iods without waiting ---- */

struct look_call {
	struct rpc_call rpc;
	struct drive_op *op;
};

struct look {
	struct drive_op op;
	struct session *s;
	struct wire_out out;
	uint64_t buf[sizeof(struct wire_hdr) / 8];
	struct look_call call[]; /* niods elements */
};

static void look_done(struct rpc_call *rpc)
{
	op_put(((const struct look_call *)rpc->arg)->op, 0);
}

static void look_start(struct drive_op *op)
{
	struct look *look = (struct look *)op;
	uint32_t i;

	for (i = 0; i < look->s->niods; i++) {
		struct look_call *c = &look->call[i];

		c->op = op;
		c->rpc = (struct rpc_call){ .msg = look->buf,
					    .msg_len = look->out.len,
					    .deadline = clock_after_ms(LOOK_MS),
					    .patient = true,
					    .done = look_done,
					    .arg = c };
		op_get(op);
		rpc_call_start(look->s->iod[i], &c->rpc);
	}
}

static void look_finish(struct drive_op *op)
{
	struct look *look = (struct look *)op;

	atomic_fetch_sub(&look->s->posted, 1);
	free(look);
}

/* Usually one at a time, because a second one would report the same. */
void iods_check(struct session *s)
{
	struct look *look = NULL;

	if (!atomic_fetch_add(&s->posted, 1))
		look = calloc(1,
			      sizeof(*look) + s->niods * sizeof(look->call[0]));
	if (!look) {
		atomic_fetch_sub(&s->posted, 1);
		return;
	}
	look->op.start = look_start;
	look->op.finish = look_finish;
	look->s = s;
	wire_begin(&look->out, look->buf, sizeof(look->buf));
	wire_end(&look->out, WIRE_PING, 0, 0);
	op_post(&s->drive, &look->op);
}

/* ---- one object at each iod ---- */

#define OBJECT_MSG                                                             \
	(sizeof(struct wire_hdr) + sizeof(struct wire_objects) + sizeof(le64))

static void object_begin(struct wire_out *out, void *buf, uint64_t handle)
{
	struct wire_objects body = { .n = htole32(1) };
	le64 h = htole64(handle);

	wire_begin(out, buf, OBJECT_MSG);
	wire_put(out, &body, sizeof(body));
	wire_put(out, &h, sizeof(h));
}

struct size_query {
	const struct dist *dist;
	struct file_size size;
	bool (*skip)(void *arg, uint32_t k);
	void (*place)(void *arg, uint32_t k,
		      const struct wire_end_place *place);
	void *arg;
};

static bool size_skip(void *arg, uint32_t k)
{
	struct size_query *a = arg;

	return a->skip && a->skip(a->arg, k);
}

static int size_take(void *arg, uint32_t k, const struct wire_msg *reply)
{
	const struct wire_getsize_rep *rep = reply->body;
	const struct wire_objsize *obj = reply->tail[0].ptr;
	struct size_query *a = arg;
	uint64_t size;

	if (le32toh(rep->n) != 1)
		return -EPROTO;
	size = dist_file_size(a->dist, k, le64toh(obj->size));
	if (size > a->size.size)
		a->size.size = size;
	if ((int64_t)le64toh(obj->mtime) > a->size.mtime)
		a->size.mtime = (int64_t)le64toh(obj->mtime);
	a->size.blocks += le64toh(obj->blocks);
	if (rep->places && a->place)
		a->place(a->arg, k, reply->tail[1].ptr);
	return 0;
}

static int size_run(struct session *s, uint64_t handle, struct size_query *a,
		    struct file_size *size)
{
	struct broadcast broadcast = { .s = s,
				       .dist = a->dist,
				       .skip = size_skip,
				       .take = size_take,
				       .arg = a };
	uint64_t buf[OBJECT_MSG / 8];
	struct wire_out out;
	int rc;

	object_begin(&out, buf, handle);
	rc = broadcast_run(&broadcast, WIRE_GETSIZE, &out);
	if (!rc)
		*size = a->size;
	return rc;
}

int size_ask(struct session *s, uint64_t handle, const struct dist *dist,
	     bool (*skip)(void *arg, uint32_t k), void *arg,
	     struct file_size *size)
{
	struct size_query a = { .dist = dist, .skip = skip, .arg = arg };

	return size_run(s, handle, &a, size);
}

int size_ask_where(struct session *s, uint64_t handle, const struct dist *dist,
		   void (*place)(void *arg, uint32_t k,
				 const struct wire_end_place *place),
		   void *arg, struct file_size *size)
{
	struct size_query a = { .dist = dist, .place = place, .arg = arg };

	return size_run(s, handle, &a, size);
}

int size_sync(struct session *s, uint64_t handle, const struct dist *dist)
{
	struct broadcast broadcast = { .s = s, .dist = dist };
	uint64_t buf[OBJECT_MSG / 8];
	struct wire_out out;

	object_begin(&out, buf, handle);
	return broadcast_run(&broadcast, WIRE_SYNC, &out);
}
