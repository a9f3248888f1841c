/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_end.c - each worker, on its own thread, marks the sessions that end.  Then it waits until
 * nothing of theirs is running, on its thread and in the pool.  The last worker reports to
 * home.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/copy/copies.h"
#include "common/util/container.h"
#include "server/copyset/member_order.h"
#include "server/op/op_int.h"
#include "server/wait/lease.h"
#include "server/xfer/xfer.h"

struct session_end_worker {
	struct mailbox_item mail;
	struct session_idle_wait wait;
	struct worker *worker;
	struct session_end *e;
};

static void on_all_ended(struct mailbox_item *mail)
{
	struct session_end *e = container_of(mail, struct session_end, mail);

	free(e->worker_end);
	e->done(e);
}

static void wait_for_next_session(struct session_end_worker *end)
{
	struct session_end *e = end->e;
	struct iod_session *ses;

	LIST_FOREACH(ses, &end->worker->sessions, link) {
		if (ses->running && e->ends(e, ses)) {
			session_wait_idle(ses, &end->wait);
			return;
		}
	}
	if (e->ends_order &&
	    member_orders_wait(end->worker, e->ends_order, e, &end->wait))
		return;
	if (atomic_fetch_sub(&e->left, 1) == 1)
		mailbox_post(&e->home->mail, &e->mail);
}

static void on_session_idle(struct session_idle_wait *wait)
{
	wait_for_next_session(
		container_of(wait, struct session_end_worker, wait));
}

/* Running bulk transfers end with the connection, which rpc_server_fence() closes. */
static void end_session(struct worker *w, struct iod_session *ses)
{
	ses->fenced = true;
	rpc_server_fence(w->iod->server, ses->id);
	loan_session_end(w->iod->loans, ses->id);
	lease_stop_session(w, ses);
	xfer_stop_session(w, ses, -ESTALE);
	copies_stop_session(w->copies, ses, -ESTALE);
}

static void end_worker_sessions(struct mailbox_item *mail)
{
	struct session_end_worker *end =
		container_of(mail, struct session_end_worker, mail);
	struct session_end *e = end->e;
	struct iod_session *ses;

	LIST_FOREACH(ses, &end->worker->sessions, link)
		if (e->ends(e, ses))
			end_session(end->worker, ses);
	wait_for_next_session(end);
}

int session_end_start(struct session_end *e, struct worker *home)
{
	struct iod *iod = home->iod;
	unsigned int i, n = iod->nworkers;

	e->worker_end = calloc(n, sizeof(e->worker_end[0]));
	if (!e->worker_end)
		return -ENOMEM;
	e->home = home;
	e->mail.deliver = on_all_ended;
	atomic_init(&e->left, n);
	for (i = 0; i < n; i++) {
		e->worker_end[i].mail.deliver = end_worker_sessions;
		e->worker_end[i].wait.idle = on_session_idle;
		e->worker_end[i].worker = &iod->worker[i];
		e->worker_end[i].e = e;
		mailbox_post(&iod->worker[i].mail, &e->worker_end[i].mail);
	}
	return 0;
}
