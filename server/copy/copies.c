/* SPDX-License-Identifier: BSD-2-Clause */
/* copies.c - buffers, and whose turn it is. */
#include <errno.h>
#include <stdlib.h>

#include "server/copy/copies_int.h"

#define ALIGN 4096u

int copies_open(struct worker *w, struct copies **copies)
{
	struct copies *all = calloc(1, sizeof(*all));
	unsigned int i;

	if (!all)
		return -ENOMEM;
	all->worker = w;
	TAILQ_INIT(&all->turns);
	LIST_INIT(&all->list);
	for (i = 0; i < COPY_PARTS; i++)
		all->part[i].all = all;
	*copies = all;
	return 0;
}

static int make_buffers(struct copies *all)
{
	unsigned int i;

	if (all->block)
		return 0;
	all->block = aligned_alloc(ALIGN, COPY_PARTS * COPY_PART);
	if (!all->block)
		return -ENOMEM;
	for (i = 0; i < COPY_PARTS; i++)
		rail_mem_init(&all->part[i].mem, all->block + i * COPY_PART,
			      COPY_PART, TP_REMOTE_WRITE);
	return 0;
}

/* Nothing of ours refers to it any more. */
static void leave(struct copy *c)
{
	rpc_timer_clear(c->worker->ctx, &c->late);
	LIST_REMOVE(c, link);
}

static void end(struct copy *c)
{
	leave(c);
	copy_end(c);
}

void copies_close(struct copies *all)
{
	struct copy *c;
	unsigned int i;

	if (!all)
		return;
	peers_close(all);
	while ((c = LIST_FIRST(&all->list))) {
		leave(c);
		copy_free(c);
	}
	for (i = 0; all->block && i < COPY_PARTS; i++)
		rail_mem_fini(&all->part[i].mem);
	free(all->block);
	free(all);
}

/* ---- turns ---- */

static void leave_queue(struct copy *c)
{
	if (c->queued)
		TAILQ_REMOVE(&c->worker->copies->turns, c, turn);
	c->queued = false;
}

static void stop(struct copy *c, int status)
{
	if (!c->status)
		c->status = status;
	leave_queue(c);
	if (!c->busy)
		end(c);
}

static void too_late(struct rpc_timer *timer)
{
	stop(container_of(timer, struct copy, late), -ETIMEDOUT);
}

static void take_turns(struct copies *all);

static void part_done(struct copy_part *p, int status)
{
	struct copies *all = p->all;
	struct copy *c = p->copy;

	p->copy = NULL;
	c->busy--;
	c->ses->copying--;
	if (atomic_load(&all->worker->iod->stop))
		return;
	if (status && !c->status) {
		c->status = status;
		leave_queue(c);
	}
	if (!c->busy && !c->queued)
		end(c);
	take_turns(all);
}

static void is_read(struct copy_part *p, int status)
{
	struct copy *c = p->copy;

	if (!status)
		status = c->ses->fenced ? -ESTALE : c->status;
	if (status || atomic_load(&c->worker->iod->stop))
		part_done(p, status ? status : -ECANCELED);
	else
		part_file(p, true, c->obj, le64toh(copy_body(c)->off) + p->pos,
			  part_done);
}

/* Others, and what the network brings, come between two of the parts. */
static void read_soon(struct mail *mail)
{
	struct copy_part *p = container_of(mail, struct copy_part, mail);

	if (p->copy->status || atomic_load(&p->all->worker->iod->stop))
		part_done(p, -ECANCELED);
	else
		part_read(p, is_read);
}

static struct copy_part *free_part(struct copies *all)
{
	unsigned int i;

	for (i = 0; i < COPY_PARTS; i++)
		if (!all->part[i].copy)
			return &all->part[i];
	return NULL;
}

/* Of a session that has few of them, however many copies it asks for. */
static struct copy *next_turn(struct copies *all)
{
	struct copy *c, *next = NULL;

	TAILQ_FOREACH(c, &all->turns, turn)
		if (c->ses->copying < COPY_OWN &&
		    (!next || c->ses->copying < next->ses->copying))
			next = c;
	return next;
}

static void begin_part(struct copy_part *p, struct copy *c)
{
	uint64_t left = le64toh(copy_body(c)->len) - c->next;

	p->copy = c;
	p->pos = c->next;
	p->len = left < COPY_PART ? (size_t)left : COPY_PART;
	c->next += p->len;
	c->busy++;
	c->ses->copying++;
	leave_queue(c);
	if (p->len < left) {
		TAILQ_INSERT_TAIL(&p->all->turns, c, turn);
		c->queued = true;
	}
	p->mail.deliver = read_soon;
	mailbox_post(&p->all->worker->mail, &p->mail);
}

static void take_turns(struct copies *all)
{
	struct copy_part *p;
	struct copy *c;

	while ((p = free_part(all)) && (c = next_turn(all)))
		begin_part(p, c);
}

int copies_add(struct copies *all, struct copy *c)
{
	int rc = make_buffers(all);

	if (rc)
		return rc;
	LIST_INSERT_HEAD(&all->list, c, link);
	TAILQ_INSERT_TAIL(&all->turns, c, turn);
	c->queued = true;
	c->late.fire = too_late;
	rpc_timer_set(all->worker->ctx, &c->late, c->req->deadline);
	take_turns(all);
	return 0;
}

static void forget_parts(struct copies *all, const struct copy *c)
{
	unsigned int i;

	for (i = 0; i < COPY_PARTS; i++)
		if (all->part[i].copy == c)
			part_forget(&all->part[i]);
}

void copies_stop(struct copies *all, const struct iod_session *ses, int status)
{
	struct copy *c, *next;

	for (c = LIST_FIRST(&all->list); c; c = next) {
		next = LIST_NEXT(c, link);
		if (c->ses != ses)
			continue;
		c->busy++; /* it stays until we are done with it */
		stop(c, status);
		forget_parts(all, c);
		if (!--c->busy)
			end(c);
	}
}

/* ---- the file ---- */

static void filed(struct mail *mail)
{
	struct copy_part *p = container_of(mail, struct copy_part, mail);

	p->got(p, p->io_status);
}

static void io_done(struct store_io *io, int status)
{
	struct copy_part *p = container_of(io, struct copy_part, io);

	p->io_status = status;
	p->mail.deliver = filed;
	mailbox_post(&p->all->worker->mail, &p->mail);
}

void part_file(struct copy_part *p, bool write, struct store_obj *obj,
	       uint64_t off, void (*got)(struct copy_part *p, int status))
{
	int rc;

	p->got = got;
	p->seg = (struct store_seg){ off, p->len };
	p->io = (struct store_io){ .obj = obj,
				   .seg = &p->seg,
				   .buf = p->mem.addr,
				   .len = p->len,
				   .done = io_done };
	rc = session_file(p->copy->ses, p->copy->req, &p->io, write);
	if (rc != -EINPROGRESS)
		got(p, rc);
}
