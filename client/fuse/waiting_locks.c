/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting_locks.c - see waiting_locks.h.
 *
 *	one more, INTERRUPT .... recall: LOCK with WIRE_L_CANCEL, of the first
 *	the thread   LOCK_ANY of all ... one is granted, or: again, with those that wait then
 *
 * libfuse calls lock_interrupted() even if the interrupt came before the wait.
 */
#include "client/fuse/waits_int.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/quiet_thread.h"

#define STACK_SIZE (256u * 1024)

/* ---- recalling the LOCK_ANY ---- */

/*
 * Called with the lock.  Returns the session in which to cancel, with a reference, or
 * NULL.
 */
static struct session *recall_lock_any(struct waiting_locks *ws)
{
	bool post = ws->s && ws->started && !ws->recalled;

	ws->recalled = true;
	return post ? session_get(ws->s) : NULL;
}

/* A cancel that comes late recalls the next LOCK_ANY, which is repeated too. */
static void cancel_lock_any(struct session *s, const struct mgr_wanted *first)
{
	struct mgr_lock lock = first->lock;

	if (!s)
		return;
	lock.type = WIRE_L_UNLOCK;
	lock.flags = WIRE_L_CANCEL | (lock.flags & WIRE_L_WHOLE);
	mgr_unlock(s, first->handle, &lock);
	session_put(s);
}

static void lock_interrupted(fuse_req_t req, void *arg)
{
	struct waiting_lock *w = arg;
	struct waiting_locks *ws = w->c.d->waiting_locks;
	struct mgr_wanted first;
	struct session *s;

	deadline_begin();
	pthread_mutex_lock(&ws->lock);
	w->interrupted = true;
	s = recall_lock_any(ws);
	first = ws->wanted[0];
	pthread_mutex_unlock(&ws->lock);
	cancel_lock_any(s, &first);
}

/* ---- start and end ---- */

struct waiting_locks *waiting_locks_new(struct fsd *d)
{
	struct waiting_locks *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return NULL;
	ws->d = d;
	TAILQ_INIT(&ws->all);
	pthread_mutex_init(&ws->lock, NULL);
	pthread_cond_init(&ws->more, NULL);
	if (!quiet_thread(STACK_SIZE, waiting_locks_main, ws, &ws->thread))
		return ws;
	free(ws);
	return NULL;
}

void waiting_locks_free(struct waiting_locks *ws)
{
	struct mgr_wanted first;
	struct session *s;

	if (!ws)
		return;
	deadline_begin();
	pthread_mutex_lock(&ws->lock);
	ws->stop = true;
	s = recall_lock_any(ws);
	first = ws->wanted[0];
	pthread_cond_signal(&ws->more);
	pthread_mutex_unlock(&ws->lock);
	cancel_lock_any(s, &first);
	pthread_join(ws->thread, NULL);
	pthread_cond_destroy(&ws->more);
	pthread_mutex_destroy(&ws->lock);
	free(ws);
}

/* ---- a new wait ---- */

static struct waiting_lock *waiting_lock_new(const struct call *c,
					     struct file *f,
					     const struct mgr_lock *want,
					     uint64_t session)
{
	struct waiting_lock *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->c = *c;
	w->f = file_get(f);
	w->lock = *want;
	w->session = session;
	return w;
}

/*
 * lock_interrupted() is set before the thread knows the request, because the thread may
 * answer it from then on.
 */
static void lock_enqueue(struct waiting_locks *ws, struct waiting_lock *w)
{
	struct mgr_wanted first;
	struct session *s;

	fuse_req_interrupt_func(w->c.req, lock_interrupted, w);
	pthread_mutex_lock(&ws->lock);
	TAILQ_INSERT_TAIL(&ws->all, w, link);
	s = recall_lock_any(ws);
	first = ws->wanted[0];
	pthread_cond_signal(&ws->more);
	pthread_mutex_unlock(&ws->lock);
	cancel_lock_any(s, &first);
}

int waiting_locks_add(const struct call *c, struct file *f,
		      const struct mgr_lock *want, uint64_t session)
{
	struct waiting_locks *ws = c->d->waiting_locks;
	struct waiting_lock *w;
	bool room;

	pthread_mutex_lock(&ws->lock);
	room = ws->n < WAITING_LOCKS_MAX;
	ws->n += room;
	pthread_mutex_unlock(&ws->lock);
	w = room ? waiting_lock_new(c, f, want, session) : NULL;
	if (w) {
		lock_enqueue(ws, w);
		return 0;
	}
	pthread_mutex_lock(&ws->lock);
	ws->n -= room;
	pthread_mutex_unlock(&ws->lock);
	return -ENOLCK;
}
