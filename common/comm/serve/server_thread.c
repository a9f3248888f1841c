/* SPDX-License-Identifier: BSD-2-Clause */
/* server_thread.c - the server's part on one context, and its mailbox. */
#include "common/comm/serve/conn_int.h"

#include <malloc.h>
#include <stdlib.h>

#define TRIM_SESSIONS 32u /* sessions that end before the heap is trimmed */
#define TRIM_MS 1000u

void lane_post(struct lane *lane, struct mail *mail)
{
	pthread_mutex_lock(&lane->lock);
	STAILQ_INSERT_TAIL(&lane->mails, mail, link);
	pthread_mutex_unlock(&lane->lock);
	ctx_hook_raise(lane->ctx, &lane->hook);
}

struct mail *lane_next_mail(struct lane *lane)
{
	struct mail *mail;

	pthread_mutex_lock(&lane->lock);
	mail = STAILQ_FIRST(&lane->mails);
	if (mail)
		STAILQ_REMOVE_HEAD(&lane->mails, link);
	pthread_mutex_unlock(&lane->lock);
	return mail;
}

/*
 * malloc() does not reuse the memory of ended sessions for new ones: their blocks are aligned to
 * pages, and smaller allocations split the free ones.  Without this the heap grows with each storm
 * of clients.  A trim takes up to 2 ms of the thread, so there is at most one each TRIM_MS.
 */
static void lane_trim(struct rpc_timer *timer)
{
	struct lane *lane = container_of(timer, struct lane, trim);

	atomic_store(&lane->server->ended, 0);
	malloc_trim(0);
}

void lane_session_ended(struct lane *lane)
{
	if (atomic_fetch_add(&lane->server->ended, 1) == TRIM_SESSIONS - 1)
		rpc_timer_set(lane->ctx, &lane->trim, clock_after_ms(TRIM_MS));
}

void lane_init(struct lane *lane, struct rpc_server *server, unsigned int index,
	       void (*run)(struct ctx_hook *hook))
{
	lane->server = server;
	lane->ctx = server->attr.ctx[index];
	lane->index = index;
	lane->hook.run = run;
	lane->trim.fire = lane_trim;
	pthread_mutex_init(&lane->lock, NULL);
	pthread_mutex_init(&lane->hot.lock, NULL);
	STAILQ_INIT(&lane->mails);
	LIST_INIT(&lane->conns);
	TAILQ_INIT(&lane->turns);
	/* a share of 0 would mean no limit, and so would half of 1 */
	if (server->attr.rdma_max)
		lane->rdma_max = server->attr.rdma_max / server->attr.nctx | 2;
	lane->carry_above = server->attr.carry_above / server->attr.nctx;
	ctx_hook_add(lane->ctx, &lane->hook);
}

void lane_fini(struct lane *lane)
{
	struct mail *mail;
	struct conn *conn;

	while ((mail = lane_next_mail(lane))) {
		if (mail == &mail->session->end_mail)
			continue;
		tp_reject(mail->req, NULL, 0);
		free(mail);
	}
	while ((conn = LIST_FIRST(&lane->conns)))
		conn_free(conn);
	shared_close(lane);
	tallies_free(&lane->tallies);
	pthread_mutex_destroy(&lane->hot.lock);
	rpc_timer_clear(lane->ctx, &lane->trim);
	ctx_hook_remove(lane->ctx, &lane->hook);
	pthread_mutex_destroy(&lane->lock);
}
