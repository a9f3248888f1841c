/* SPDX-License-Identifier: BSD-2-Clause */
/* server_thread.c - the server's part on one context, and its mailbox. */
#include "common/comm/serve/conn_int.h"

#include <malloc.h>
#include <stdlib.h>

#define TRIM_SESSIONS 32u /* sessions that end before the heap is trimmed */
#define TRIM_MS 1000u

void server_thread_post(struct server_thread *thread, struct thread_mail *mail)
{
	pthread_mutex_lock(&thread->lock);
	STAILQ_INSERT_TAIL(&thread->mails, mail, link);
	pthread_mutex_unlock(&thread->lock);
	ctx_hook_raise(thread->ctx, &thread->hook);
}

struct thread_mail *server_thread_next_mail(struct server_thread *thread)
{
	struct thread_mail *mail;

	pthread_mutex_lock(&thread->lock);
	mail = STAILQ_FIRST(&thread->mails);
	if (mail)
		STAILQ_REMOVE_HEAD(&thread->mails, link);
	pthread_mutex_unlock(&thread->lock);
	return mail;
}

/*
 * malloc() does not reuse the memory of ended sessions for new ones: their blocks are aligned to
 * pages, and smaller allocations split the free ones.  Without this the heap grows with each
 * storm of clients.  A trim takes up to 2 ms of the thread, so there is at most one each TRIM_MS.
 */
static void server_thread_trim_heap(struct rpc_timer *timer)
{
	struct server_thread *thread = container_of(timer, struct server_thread,
						    trim);

	atomic_store(&thread->server->ended, 0);
/*
 * A sanitizer has its own malloc(), so two first calls at once would both initialize that of libc.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	malloc_trim(0);
#endif
}

void server_thread_session_ended(struct server_thread *thread)
{
	if (atomic_fetch_add(&thread->server->ended, 1) == TRIM_SESSIONS - 1)
		rpc_timer_set(thread->ctx, &thread->trim,
			      clock_after_ms(TRIM_MS));
}

void server_thread_init(struct server_thread *thread, struct rpc_server *server,
			unsigned int index, void (*run)(struct ctx_hook *hook))
{
	thread->server = server;
	thread->ctx = server->attr.ctx[index];
	thread->index = index;
	thread->hook.run = run;
	thread->trim.fire = server_thread_trim_heap;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_mutex_init(&thread->busy.lock, NULL);
	STAILQ_INIT(&thread->mails);
	LIST_INIT(&thread->conns);
	TAILQ_INIT(&thread->turns);
	/* a share of 0 would mean no limit, and so would half of 1 */
	if (server->attr.rdma_max)
		thread->rdma_max = server->attr.rdma_max / server->attr.nctx |
				   2;
	thread->carry_above = server->attr.carry_above / server->attr.nctx;
	ctx_hook_add(thread->ctx, &thread->hook);
}

void server_thread_fini(struct server_thread *thread)
{
	struct thread_mail *mail;
	struct conn *conn;

	while ((mail = server_thread_next_mail(thread))) {
		if (mail == &mail->session->expel_mail)
			continue;
		tp_reject(mail->req, NULL, 0);
		free(mail);
	}
	while ((conn = LIST_FIRST(&thread->conns)))
		conn_free(conn);
	receive_pool_close_all(thread);
	request_tallies_free(&thread->tallies);
	pthread_mutex_destroy(&thread->busy.lock);
	rpc_timer_clear(thread->ctx, &thread->trim);
	ctx_hook_remove(thread->ctx, &thread->hook);
	pthread_mutex_destroy(&thread->lock);
}
