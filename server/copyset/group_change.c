/* SPDX-License-Identifier: BSD-2-Clause */
/* group_change.c - see group_change.h. */
#include "server/copyset/group_change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/util/container.h"

static struct group_change *alloc_change(struct iod_session *ses,
					 const struct rpc_req *req,
					 struct store_obj *obj)
{
	struct group_change *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->worker = ses->worker;
	c->ses = ses;
	c->req = req;
	c->obj = store_obj_ref(obj);
	sem_init(&c->over, 0, 0);
	c->sender.worker = ses->worker;
	c->sender.req = req;
	c->sender.key = store_obj_key(obj);
	c->sender.copyset = wire_copyset(req->msg.hdr);
	return c;
}

int group_change_create(struct iod_session *ses, const struct rpc_req *req,
			struct store_obj *obj, struct group_change **out)
{
	struct copyset_targets targets;
	int rc = copyset_enter_targets(ses->worker->iod->assignments,
				       wire_copyset(req->msg.hdr), &targets);
	struct group_change *c;

	if (rc)
		return rc;
	c = alloc_change(ses, req, obj);
	if (!c) {
		copyset_leave(ses->worker->iod->assignments,
			      wire_copyset(req->msg.hdr).id);
		return -ENOMEM;
	}
	c->sender.targets = targets;
	*out = c;
	return 0;
}

/* ---- the end ---- */

static void log_stop(const struct group_change *c, int status)
{
	log_error(c->worker->iod->log,
		  "a change of %s (%s) may be made at some iods of its group "
		  "only: changes of group %u stop until the managers assign "
		  "new members; look at the logs of these iods",
		  object_key_text(c->sender.key).s, strerror(-status),
		  c->sender.copyset.id);
}

static void free_change(struct group_change *c)
{
	LIST_REMOVE(c, link);
	store_obj_put(c->obj);
	sem_destroy(&c->over);
	free(c->copy);
	free(c);
}

static void end_steps(struct group_change *c, int status)
{
	struct iod *iod = c->worker->iod;

	if (status && c->sender.made &&
	    copyset_stop(iod->assignments, c->sender.copyset))
		log_stop(c, status);
	if (c->entered)
		store_obj_leave(c->obj, &c->entry);
	if (c->locked)
		range_lock_release(iod->ranges, &c->lock);
	copyset_leave(iod->assignments, c->sender.copyset.id);
}

void group_change_end(struct group_change *c, int status)
{
	end_steps(c, status);
	free_change(c);
}

static void on_end_mail(struct mailbox_item *mail)
{
	free_change(container_of(mail, struct group_change, mail));
}

void group_change_end_in_pool(struct group_change *c, int status)
{
	end_steps(c, status);
	c->mail.deliver = on_end_mail;
	mailbox_post(&c->worker->mail, &c->mail);
}

void group_changes_free(struct worker *w)
{
	struct group_change *c;

	while ((c = LIST_FIRST(&w->group_changes))) {
		order_sender_abandon(&c->sender);
		if (c->entered)
			store_obj_leave(c->obj, &c->entry);
		free_change(c);
	}
}

/* ---- the steps ---- */

static void on_ordered(struct order_sender *sender, int status)
{
	struct group_change *c = container_of(sender, struct group_change,
					      sender);

	c->ready(c, status);
}

/* The deadline is compared last: from here on the change is carried out. */
static void on_locked(struct mailbox_item *mail)
{
	struct group_change *c = container_of(mail, struct group_change, mail);
	int rc = c->ses->fenced ? -ESTALE : c->status;

	if (!rc && c->from < c->end) {
		rc = store_obj_enter(c->obj, c->req->expiry, &c->entry);
		c->entered = !rc;
	}
	if (rc)
		c->ready(c, rc);
	else
		order_sender_start(&c->sender);
}

static void on_granted(struct range_lock *lock)
{
	struct group_change *c = container_of(lock, struct group_change, lock);

	mailbox_post(&c->worker->mail, &c->mail);
}

static void start_change(struct mailbox_item *mail)
{
	struct group_change *c = container_of(mail, struct group_change, mail);
	struct worker *w = c->worker;

	LIST_INSERT_HEAD(&w->group_changes, c, link);
	c->sender.done = on_ordered;
	c->mail.deliver = on_locked;
	if (c->from < c->end) {
		c->lock = (struct range_lock){ .object = c->sender.key,
					       .from = c->from,
					       .end = c->end,
					       .granted = on_granted };
		c->locked = true;
		if (!range_lock_acquire(w->iod->ranges, &c->lock))
			return;
	}
	on_locked(&c->mail);
}

void group_change_start(struct group_change *c,
			const struct ordered_change *change, int status)
{
	c->sender.change = *change;
	c->status = status;
	start_change(&c->mail);
}

static void on_ready(struct group_change *c, int status)
{
	c->status = status;
	sem_post(&c->over);
}

/* When the iod stops, nothing is ready any more. */
int group_change_wait(struct group_change *c,
		      const struct ordered_change *change)
{
	struct timespec until;

	c->sender.change = *change;
	c->ready = on_ready;
	c->mail.deliver = start_change;
	mailbox_post(&c->worker->mail, &c->mail);
	do {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		if (!sem_timedwait(&c->over, &until))
			return c->status;
	} while (!atomic_load(&c->worker->iod->stop));
	return -ESHUTDOWN;
}
