/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ending.c - each worker, on its own thread, marks the sessions that end.  Then it waits until
 * nothing of theirs is running, on its thread and in the pool.  The last worker reports to
 * home.
 */
#include <errno.h>
#include <stdlib.h>

#include "server/copy/copies.h"
#include "common/util/container.h"
#include "server/op/ending.h"
#include "server/wait/lease.h"
#include "server/xfer/xfer.h"

struct ending_mark {
	struct mail mail;
	struct session_idle wait;
	struct worker *worker;
	struct ending *e;
};

static void over(struct mail *mail)
{
	struct ending *e = container_of(mail, struct ending, mail);

	free(e->mark);
	e->done(e);
}

static void wait_for_next(struct ending_mark *mark)
{
	struct ending *e = mark->e;
	struct iod_session *ses;

	LIST_FOREACH(ses, &mark->worker->sessions, link) {
		if (ses->running && e->ends(e, ses)) {
			session_wait(ses, &mark->wait);
			return;
		}
	}
	if (atomic_fetch_sub(&e->left, 1) == 1)
		mailbox_post(&e->home->mail, &e->mail);
}

static void idle(struct session_idle *wait)
{
	wait_for_next(container_of(wait, struct ending_mark, wait));
}

/* Running bulk transfers end with the connection, which rpc_server_fence() closes. */
static void end(struct worker *w, struct iod_session *ses)
{
	ses->fenced = true;
	rpc_server_fence(w->iod->server, ses->id);
	loan_session_end(w->iod->loans, ses->id);
	lease_drop(w, ses);
	xfer_stop_all(w, ses, -ESTALE);
	copies_stop_session(w->copies, ses, -ESTALE);
}

static void mark_all(struct mail *mail)
{
	struct ending_mark *mark = container_of(mail, struct ending_mark, mail);
	struct ending *e = mark->e;
	struct iod_session *ses;

	LIST_FOREACH(ses, &mark->worker->sessions, link)
		if (e->ends(e, ses))
			end(mark->worker, ses);
	wait_for_next(mark);
}

int ending_start(struct ending *e, struct worker *home)
{
	struct iod *iod = home->iod;
	unsigned int i, n = iod->nworkers;

	e->mark = calloc(n, sizeof(e->mark[0]));
	if (!e->mark)
		return -ENOMEM;
	e->home = home;
	e->mail.deliver = over;
	atomic_init(&e->left, n);
	for (i = 0; i < n; i++) {
		e->mark[i].mail.deliver = mark_all;
		e->mark[i].wait.idle = idle;
		e->mark[i].worker = &iod->worker[i];
		e->mark[i].e = e;
		mailbox_post(&iod->worker[i].mail, &e->mark[i].mail);
	}
	return 0;
}
