/* SPDX-License-Identifier: BSD-2-Clause */
/* copies.c - the operation COPY: its buffers, the turns of sessions, and the reply. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/copy/copies_int.h"

#define ALIGN 4096u

int copies_open(struct worker *w, struct copies **out)
{
	struct copies *copies = calloc(1, sizeof(*copies));
	unsigned int i;

	if (!copies)
		return -ENOMEM;
	copies->worker = w;
	TAILQ_INIT(&copies->turns);
	LIST_INIT(&copies->list);
	for (i = 0; i < COPY_PARTS; i++)
		copies->part[i].copies = copies;
	*out = copies;
	return 0;
}

static int alloc_buffers(struct copies *copies)
{
	unsigned int i;

	if (copies->block)
		return 0;
	copies->block = aligned_alloc(ALIGN, COPY_PARTS * COPY_PART_LEN);
	if (!copies->block)
		return -ENOMEM;
	for (i = 0; i < COPY_PARTS; i++)
		rail_mem_init(&copies->part[i].mem,
			      copies->block + i * COPY_PART_LEN, COPY_PART_LEN,
			      TP_REMOTE_READ | TP_REMOTE_WRITE);
	return 0;
}

static void remove_copy(struct object_copy *c)
{
	rpc_timer_clear(c->worker->ctx, &c->deadline);
	LIST_REMOVE(c, link);
}

static void free_copy(struct object_copy *c)
{
	struct iod_session *ses = c->ses;

	if (c->from)
		store_obj_put(c->from);
	store_obj_put(c->obj);
	free(c);
	session_work_end(ses);
}

void copies_close(struct copies *copies)
{
	struct object_copy *c;
	unsigned int i;

	if (!copies)
		return;
	while ((c = LIST_FIRST(&copies->list))) {
		remove_copy(c);
		free_copy(c);
	}
	for (i = 0; copies->block && i < COPY_PARTS; i++)
		rail_mem_fini(&copies->part[i].mem);
	free(copies->block);
	free(copies);
}

/* ---- the end of a copy ---- */

static void log_failure(const struct object_copy *c)
{
	const struct rpc_session_info *info = rpc_session_info(c->req->session);
	const struct wire_copy *body = copy_body(c);

	log_msg(c->worker->iod->log,
		c->status == -EIO ? LOG_LV_ERROR : LOG_LV_WARN,
		"%s (%s): copy of %llu bytes from object %016llx of %s %u to "
		"%016llx: %s%s",
		info->peer, info->cred.name,
		(unsigned long long)le64toh(body->len),
		(unsigned long long)le64toh(body->from),
		copy_source_copyset(c) ? "copyset" : "iod", le32toh(body->iod),
		(unsigned long long)le64toh(body->handle), strerror(-c->status),
		c->status == -EHOSTUNREACH ? "; the client goes on by itself"
					   : "");
}

static void reply_to_copy(struct object_copy *c, int status)
{
	rpc_reply_status(c->req, status);
	free_copy(c);
}

static void flush_complete(struct change_flush *f, int status)
{
	reply_to_copy(container_of(f, struct object_copy, flush), status);
}

static bool needs_flush(const struct object_copy *c)
{
	return !c->status && (c->worker->iod->conf.sync ||
			      le32toh(copy_body(c)->flags) & WIRE_IO_SYNC);
}

/* No part is busy. */
static void end_copy(struct object_copy *c)
{
	remove_copy(c);
	dirty_object_write_end(c->dirty);
	if (c->status)
		log_failure(c);
	if (!needs_flush(c)) {
		reply_to_copy(c, c->status);
		return;
	}
	c->flush.done = flush_complete;
	c->flush.req = c->req;
	change_flush_start(&c->flush, c->ses, c->obj);
}

/* ---- turns ---- */

static void dequeue_copy(struct object_copy *c)
{
	if (c->queued)
		TAILQ_REMOVE(&c->worker->copies->turns, c, turn);
	c->queued = false;
}

static void stop_copy(struct object_copy *c, int status)
{
	if (!c->status)
		c->status = status;
	dequeue_copy(c);
	if (!c->busy)
		end_copy(c);
}

static void on_deadline(struct rpc_timer *timer)
{
	stop_copy(container_of(timer, struct object_copy, deadline),
		  -ETIMEDOUT);
}

static void start_parts(struct copies *copies);

static void part_complete(struct copy_part *p, int status)
{
	struct copies *copies = p->copies;
	struct object_copy *c = p->copy;

	p->copy = NULL;
	c->busy--;
	c->ses->copy_parts--;
	if (atomic_load(&copies->worker->iod->stop))
		return;
	if (status && !c->status) {
		c->status = status;
		dequeue_copy(c);
	}
	if (!c->busy && !c->queued)
		end_copy(c);
	start_parts(copies);
}

static void read_complete(struct copy_part *p, int status)
{
	struct object_copy *c = p->copy;

	if (!status)
		status = c->ses->fenced ? -ESTALE : c->status;
	if (status || atomic_load(&c->worker->iod->stop))
		part_complete(p, status ? status : -ECANCELED);
	else
		copy_part_write(p, part_complete);
}

/* By mail, so that other requests and network events come between two parts. */
static void on_part_mail(struct mailbox_item *mail)
{
	struct copy_part *p = container_of(mail, struct copy_part, mail);

	if (p->copy->status || atomic_load(&p->copies->worker->iod->stop))
		part_complete(p, -ECANCELED);
	else
		copy_part_read(p, read_complete);
}

static struct copy_part *find_unused_part(struct copies *copies)
{
	unsigned int i;

	for (i = 0; i < COPY_PARTS; i++)
		if (!copies->part[i].copy)
			return &copies->part[i];
	return NULL;
}

/* The first copy of the session with the fewest parts, however many copies it has. */
static struct object_copy *find_next_turn(struct copies *copies)
{
	struct object_copy *c, *next = NULL;

	TAILQ_FOREACH(c, &copies->turns, turn)
		if (c->ses->copy_parts < COPY_PARTS_OF_SESSION &&
		    (!next || c->ses->copy_parts < next->ses->copy_parts))
			next = c;
	return next;
}

static void start_part(struct copy_part *p, struct object_copy *c)
{
	uint64_t left = le64toh(copy_body(c)->len) - c->next;

	p->copy = c;
	p->pos = c->next;
	p->len = left < COPY_PART_LEN ? (size_t)left : COPY_PART_LEN;
	c->next += p->len;
	c->busy++;
	c->ses->copy_parts++;
	dequeue_copy(c);
	if (p->len < left) {
		TAILQ_INSERT_TAIL(&p->copies->turns, c, turn);
		c->queued = true;
	}
	p->mail.deliver = on_part_mail;
	mailbox_post(&p->copies->worker->mail, &p->mail);
}

static void start_parts(struct copies *copies)
{
	struct copy_part *p;
	struct object_copy *c;

	while ((p = find_unused_part(copies)) && (c = find_next_turn(copies)))
		start_part(p, c);
}

static void cancel_parts(struct copies *copies, const struct object_copy *c)
{
	unsigned int i;

	for (i = 0; i < COPY_PARTS; i++)
		if (copies->part[i].copy == c)
			copy_part_cancel(&copies->part[i]);
}

void copies_stop_session(struct copies *copies, const struct iod_session *ses,
			 int status)
{
	struct object_copy *c, *next;

	for (c = LIST_FIRST(&copies->list); c; c = next) {
		next = LIST_NEXT(c, link);
		if (c->ses != ses)
			continue;
		c->busy++; /* keeps c until its parts are cancelled */
		stop_copy(c, status);
		cancel_parts(copies, c);
		if (!--c->busy)
			end_copy(c);
	}
}

/* ---- the start of a copy ---- */

/* -ENOMEM, or as tp_mr_reg(). */
static int add_copy(struct copies *copies, struct object_copy *c)
{
	int rc = alloc_buffers(copies);

	if (rc)
		return rc;
	LIST_INSERT_HEAD(&copies->list, c, link);
	TAILQ_INSERT_TAIL(&copies->turns, c, turn);
	c->queued = true;
	c->deadline.fire = on_deadline;
	rpc_timer_set(copies->worker->ctx, &c->deadline, c->req->deadline);
	start_parts(copies);
	return 0;
}

static int find_source(struct object_copy *c)
{
	const struct object_key key = { le64toh(copy_body(c)->from),
					copy_source_copyset(c) };
	int rc;

	c->here = copy_source_is_here(c);
	if (!c->here)
		return 0;
	rc = store_obj_get(c->worker->iod->store, key, false, &c->from);
	return rc == -ENOENT ? 0 : rc;
}

static int start_copy(struct object_copy *c)
{
	const struct wire_copy *body = copy_body(c);
	const struct store_seg seg = { le64toh(body->off), le64toh(body->len) };
	struct object_key key = request_key(c->req, body->handle);
	int rc = change_check(c->worker->iod, c->req, key, &seg, 1);

	if (!rc)
		rc = change_open_object(c->worker->iod, key, &c->obj);
	if (rc)
		return rc;
	rc = find_source(c);
	c->dirty = rc ? NULL
		      : dirty_objects_write_begin(&c->ses->dirty,
						  c->worker->iod->store, key);
	if (!rc)
		rc = add_copy(c->worker->copies, c);
	if (!rc)
		return 0;
	dirty_object_write_end(c->dirty);
	if (c->from)
		store_obj_put(c->from);
	store_obj_put(c->obj);
	return rc;
}

void op_copy(struct worker *w, struct rpc_req *req)
{
	struct object_copy *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (c) {
		c->worker = w;
		c->req = req;
		c->ses = session_of(req);
		session_work_begin(c->ses);
		rc = start_copy(c);
	}
	if (!rc)
		return;
	rpc_reply_status(req, rc);
	if (c)
		session_work_end(c->ses);
	free(c);
}
