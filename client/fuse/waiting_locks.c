/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waiting_locks.c - see waiting_locks.h.
 *
 * One thread sends LOCK_ANY for all waiting locks.  When one of them is granted, or the request
 * times out, it sends the next LOCK_ANY for the locks that wait then.  A new request or an
 * INTERRUPT must not wait for this, so it recalls the LOCK_ANY: with a LOCK with WIRE_L_CANCEL for
 * its first lock.
 *
 * libfuse calls lock_interrupted() even if the interrupt arrived before the wait.
 */
#include "client/fuse/waiting_locks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>

#include "client/fuse/lock_owners.h"
#include "client/lib/file/held.h"
#include "common/util/quiet_thread.h"

#define STACK_SIZE (256u * 1024)
#define TURN_MS 250u /* if more requests wait than one LOCK_ANY can name */

struct waiting_lock {
	struct call c;
	waiting_lock_end_fn *end; /* answers c */
	struct file *f;
	struct mgr_lock lock;
	/* where the lock was not free; 0: not tried in the current session */
	uint64_t session;
	bool interrupted;
	TAILQ_ENTRY(waiting_lock) link;
};
TAILQ_HEAD(waiting_lock_list, waiting_lock);

struct waiting_locks {
	struct fuse_daemon *d;
	pthread_t thread;

	/* protects all below; only the thread removes and frees list entries */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct waiting_lock_list all;
	unsigned int n;
	bool stop;

	/* The LOCK_ANY in flight. */
	struct session *s; /* NULL: no LOCK_ANY in flight */
	bool started; /* it was sent: a cancel arrives after it */
	bool recalled; /* it was cancelled, or must not be sent */
	uint32_t nasked; /* locks in it: wanted[i] for asked[i] */
	struct mgr_wanted wanted[WIRE_LOCK_ANY_MAX];
	struct waiting_lock *asked[WIRE_LOCK_ANY_MAX];
};

/* ---- ending a wait ---- */

static void lock_remove(struct waiting_locks *ws, struct waiting_lock *w)
{
	pthread_mutex_lock(&ws->lock);
	TAILQ_REMOVE(&ws->all, w, link);
	ws->n--;
	pthread_mutex_unlock(&ws->lock);
}

/* After this, lock_interrupted() is no longer called for w, which is freed. */
static void lock_end(struct waiting_locks *ws, struct waiting_lock *w, int rc)
{
	fuse_req_interrupt_func(w->c.req, NULL, NULL);
	lock_remove(ws, w);
	w->end(&w->c, w->f, rc);
	file_put(w->f); /* the kernel keeps the file open until the reply */
	free(w);
}

static void end_all(struct waiting_locks *ws, int rc)
{
	struct waiting_lock *w;

	pthread_mutex_lock(&ws->lock);
	while ((w = TAILQ_FIRST(&ws->all))) {
		pthread_mutex_unlock(&ws->lock);
		lock_end(ws, w, rc);
		pthread_mutex_lock(&ws->lock);
	}
	pthread_mutex_unlock(&ws->lock);
}

/*
 * Returns the first request that was interrupted, or that was not tried in this
 * session.
 */
static struct waiting_lock *find_untried(struct waiting_locks *ws,
					 const struct session *s)
{
	struct waiting_lock *w;

	pthread_mutex_lock(&ws->lock);
	TAILQ_FOREACH(w, &ws->all, link)
		if (w->interrupted || (s && w->session != s->id))
			break;
	pthread_mutex_unlock(&ws->lock);
	return w;
}

/* Sends the lock request of w by itself.  Returns false if the manager does not answer in time. */
static bool try_alone(struct waiting_locks *ws, struct waiting_lock *w)
{
	struct mgr_lock lock = w->lock;
	int rc;

	deadline_begin();
	rc = lock_owners_send_lock(w->f, &lock);
	if (rc != -EAGAIN)
		lock_end(ws, w, rc);
	else
		w->session = lock.session;
	return rc != -ETIMEDOUT;
}

/* ---- LOCK_ANY ---- */

/* A cancel from now on is sent after the LOCK_ANY. */
static bool lock_any_starts(void *arg)
{
	struct waiting_locks *ws = arg;
	bool go;

	pthread_mutex_lock(&ws->lock);
	ws->started = true;
	go = !ws->recalled;
	pthread_mutex_unlock(&ws->lock);
	return go;
}

/*
 * Whether a LOCK_ANY may be sent: since find_untried(), no request was interrupted, and the daemon
 * does not stop.  Called with the lock.
 */
static bool may_ask_all(const struct waiting_locks *ws)
{
	const struct waiting_lock *w;

	TAILQ_FOREACH(w, &ws->all, link)
		if (w->interrupted)
			return false;
	return !ws->stop;
}

/* Called with the lock. */
static void fill_wanted(struct waiting_locks *ws, const struct session *s)
{
	struct waiting_lock *w;

	ws->nasked = 0;
	TAILQ_FOREACH(w, &ws->all, link) {
		/* a request that has just come may have to be tried first */
		if (ws->nasked == WIRE_LOCK_ANY_MAX || w->session != s->id)
			break;
		ws->wanted[ws->nasked] = (struct mgr_wanted){ w->f->handle,
							      w->lock };
		ws->asked[ws->nasked++] = w;
	}
}

/*
 * Prepares a LOCK_ANY for the waiting lock requests.  Returns false if one of them was interrupted,
 * or the daemon stops: this must be handled first.
 */
static bool lock_any_prepare(struct waiting_locks *ws, struct session *s,
			     struct mgr_lock_any *any)
{
	bool go;

	pthread_mutex_lock(&ws->lock);
	fill_wanted(ws, s);
	go = may_ask_all(ws) && ws->nasked;
	ws->s = go ? s : NULL;
	ws->started = ws->recalled = false;
	*any = (struct mgr_lock_any){
		.wanted = ws->wanted,
		.n = ws->nasked,
		.wait_ms = ws->n > ws->nasked ? TURN_MS : WIRE_LOCK_WAIT_MS,
		.begins = lock_any_starts,
		.arg = ws,
	};
	pthread_mutex_unlock(&ws->lock);
	return go;
}

static void lock_granted(struct waiting_locks *ws, struct waiting_lock *w,
			 const struct session *s)
{
	struct mgr_lock got = w->lock;

	got.session = s->id;
	lock_record(w->f, &got);
	lock_end(ws, w, 0);
}

/* Moves the requests that were asked for to the end of the list. */
static void rotate_asked(struct waiting_locks *ws)
{
	pthread_mutex_lock(&ws->lock);
	for (uint32_t i = 0; i < ws->nasked && ws->n > ws->nasked; i++) {
		TAILQ_REMOVE(&ws->all, ws->asked[i], link);
		TAILQ_INSERT_TAIL(&ws->all, ws->asked[i], link);
	}
	pthread_mutex_unlock(&ws->lock);
}

/*
 * The manager rejected a LOCK_ANY: one of the locks is invalid, or the manager is of an earlier
 * version.  After a pause, each lock is requested separately.
 */
static void retry_each_alone(struct waiting_locks *ws)
{
	const struct timespec pause = { .tv_nsec = TURN_MS * 1000000l };

	nanosleep(&pause, NULL);
	for (uint32_t i = 0; i < ws->nasked; i++)
		ws->asked[i]->session = 0;
}

static void lock_any_complete(struct waiting_locks *ws, struct session *s,
			      int rc, uint32_t which)
{
	if (!rc)
		lock_granted(ws, ws->asked[which], s);
	else if (rc == -EAGAIN)
		rotate_asked(ws);
	else if (rc == -ETIMEDOUT)
		end_all(ws, rc);
	else if (rc != -EINTR && !fs_must_retry(&ws->d->fs, s, rc))
		retry_each_alone(ws);
}

static void lock_any_run(struct waiting_locks *ws, struct session *s)
{
	struct mgr_lock_any any;
	int rc;

	if (!lock_any_prepare(ws, s, &any))
		return;
	deadline_begin();
	rc = mgr_lock_any(s, &any);
	pthread_mutex_lock(&ws->lock);
	ws->s = NULL;
	pthread_mutex_unlock(&ws->lock);
	lock_any_complete(ws, s, rc, any.which);
}

/* ---- the thread ---- */

static bool wait_for_requests(struct waiting_locks *ws)
{
	bool go;

	pthread_mutex_lock(&ws->lock);
	while (!ws->stop && TAILQ_EMPTY(&ws->all))
		pthread_cond_wait(&ws->more, &ws->lock);
	go = !ws->stop;
	pthread_mutex_unlock(&ws->lock);
	return go;
}

static void serve_in_session(struct waiting_locks *ws, struct session *s)
{
	struct waiting_lock *w = find_untried(ws, s);

	if (!w)
		lock_any_run(ws, s);
	else if (w->interrupted)
		lock_end(ws, w, -EINTR);
	else if (!try_alone(ws, w))
		end_all(ws, -ETIMEDOUT);
}

static void *waiting_locks_main(void *arg)
{
	struct waiting_locks *ws = arg;
	struct session *s;
	int rc;

	while (wait_for_requests(ws)) {
		deadline_begin();
		rc = fs_session(&ws->d->fs, &s);
		if (rc) {
			end_all(ws, rc);
			continue;
		}
		serve_in_session(ws, s);
		session_put(s);
	}
	end_all(ws, -EINTR);
	return NULL;
}

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

/*
 * Cancels the LOCK_ANY in flight that begins with the lock `first`. If that LOCK_ANY has ended
 * meanwhile, this may cancel the next one, which is sent again, too.
 */
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

struct waiting_locks *waiting_locks_new(struct fuse_daemon *d)
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
					     uint64_t session,
					     waiting_lock_end_fn *end)
{
	struct waiting_lock *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->c = *c;
	w->end = end;
	w->f = file_get(f);
	w->lock = *want;
	w->session = session;
	return w;
}

/*
 * Sets lock_interrupted() before the request is in the list, because the thread may then
 * answer the request at any time.
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
		      const struct mgr_lock *want, uint64_t session,
		      waiting_lock_end_fn *end)
{
	struct waiting_locks *ws = c->d->waiting_locks;
	struct waiting_lock *w;
	bool room;

	pthread_mutex_lock(&ws->lock);
	room = ws->n < WAITING_LOCKS_MAX;
	ws->n += room;
	pthread_mutex_unlock(&ws->lock);
	w = room ? waiting_lock_new(c, f, want, session, end) : NULL;
	if (w) {
		lock_enqueue(ws, w);
		return 0;
	}
	pthread_mutex_lock(&ws->lock);
	ws->n -= room;
	pthread_mutex_unlock(&ws->lock);
	return -ENOLCK;
}
