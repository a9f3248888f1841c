/* SPDX-License-Identifier: BSD-2-Clause */
/* poller.c - see poller.h. */
#include "client/tools/monitor/poller.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"

#define SILENT_MS 50u /* for servers that were silent the last time */

struct poller_server {
	struct poller *poller;
	char *path, *uri;
	pthread_t thread;
	bool started, is_mgr;
	/* protected by the poller's lock: */
	pthread_cond_t asked;
	bool asks, stop;
	bool silent; /* timed out, and has not answered since */
	int err; /* of the last answer */
	/* used by the thread alone while it asks: */
	struct poller_answer next;
	unsigned int nwanted;
	uint64_t wanted[PVFS_METRIC_FILES];
	struct pvfs_watch *watch; /* or NULL */
};

/* ---- one server ---- */

/*
 * Asks for the rows of the metrics.  ENOSYS: the server is of an earlier release and has none, but
 * it serves, so this is no error if p->whole.
 */
static int ask_rows(struct poller_server *s)
{
	const struct poller *p = s->poller;
	struct poller_answer *to = &s->next;

	if (pvfs_watch_metrics(s->watch, p->groups, NULL, 0, &to->rows) < 0)
		return p->whole && errno == ENOSYS ? 0 : errno;
	if (!s->nwanted)
		return 0;
	return pvfs_watch_metrics(s->watch, PVFS_METRICS_FILES, s->wanted,
				  s->nwanted, &to->names) < 0
		       ? errno
		       : 0;
}

static int ask_all(struct poller_server *s)
{
	if (s->poller->whole && (pvfs_watch_ping(s->watch, &s->next.ping) ||
				 pvfs_watch_statfs(s->watch, &s->next.space)))
		return errno;
	return ask_rows(s);
}

/* 0, or errno: then the connection was closed. */
static int ask_once(struct poller_server *s)
{
	int err;

	poller_answer_free(&s->next);
	if (!s->watch &&
	    pvfs_watch_open(s->path, s->uri, s->poller->timeout_ms, &s->watch))
		return errno;
	err = ask_all(s);
	if (!err) {
		s->next.at = clock_now();
		return 0;
	}
	pvfs_watch_close(s->watch);
	s->watch = NULL;
	return err;
}

/* A server that was restarted does not know the connection. */
static int server_ask(struct poller_server *s)
{
	bool old = s->watch != NULL;
	int err = ask_once(s);

	return err && old && err != ETIMEDOUT && err != ENOSYS ? ask_once(s)
							       : err;
}

static void *server_work(void *arg)
{
	struct poller_server *s = arg;
	struct poller *p = s->poller;
	int err;

	pthread_mutex_lock(&p->lock);
	while (!s->stop) {
		if (!s->asks) {
			pthread_cond_wait(&s->asked, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		err = server_ask(s);
		pthread_mutex_lock(&p->lock);
		s->err = err;
		s->silent = err == ETIMEDOUT;
		s->asks = false;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	pvfs_watch_close(s->watch);
	return NULL;
}

static void server_free(struct poller_server *s)
{
	if (s->started)
		pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->asked);
	poller_answer_free(&s->next);
	free(s->uri);
	free(s->path);
	free(s);
}

/*
 * Starts the thread with the first question, when the program has set up its signals.
 */
static void server_begin(struct poller_server *s)
{
	const struct poller *p = s->poller;

	if (!s->asks) {
		s->nwanted = s->is_mgr ? p->nwanted : 0;
		memcpy(s->wanted, p->wanted, sizeof(s->wanted));
	}
	if (!s->started) {
		s->err = pthread_create(&s->thread, NULL, server_work, s);
		s->started = !s->err;
	}
	s->asks = s->started;
	pthread_cond_signal(&s->asked);
}

/* ---- all servers ---- */

void poller_init(struct poller *p)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &attr);
	pthread_condattr_destroy(&attr);
}

bool poller_add(struct poller *p, const char *path, const char *uri,
		bool is_mgr)
{
	struct poller_server *s = calloc(1, sizeof(*s)), **all;

	all = reallocarray(p->server, p->servers + 1,
			   sizeof(struct poller_server *));
	if (all)
		p->server = all;
	if (!s || !all) {
		free(s);
		return false;
	}
	pthread_cond_init(&s->asked, NULL);
	s->poller = p;
	s->is_mgr = is_mgr;
	s->path = path ? strdup(path) : NULL;
	s->uri = strdup(uri);
	if ((path && !s->path) || !s->uri) {
		server_free(s);
		return false;
	}
	all[p->servers++] = s;
	return true;
}

static bool all_answered(const struct poller *p, bool silent_too)
{
	for (unsigned int i = 0; i < p->servers; i++) {
		const struct poller_server *s = p->server[i];

		if (s->asks && (silent_too || !s->silent))
			return false;
	}
	return true;
}

static void wait_for(struct poller *p, bool silent_too, uint64_t deadline)
{
	const struct timespec until = clock_timespec(deadline);

	while (!p->stop && !all_answered(p, silent_too) &&
	       !pthread_cond_timedwait(&p->changed, &p->lock, &until))
		;
}

void poller_ask(struct poller *p, uint64_t deadline)
{
	uint64_t least = clock_after_ms(SILENT_MS);

	pthread_mutex_lock(&p->lock);
	for (unsigned int i = 0; i < p->servers; i++)
		server_begin(p->server[i]);
	wait_for(p, true, least < deadline ? least : deadline);
	wait_for(p, false, deadline);
	pthread_mutex_unlock(&p->lock);
}

int poller_take(struct poller *p, unsigned int i, struct poller_answer *answer)
{
	struct poller_server *s = p->server[i];
	struct poller_answer old = *answer;
	int err;

	pthread_mutex_lock(&p->lock);
	s->silent |= s->asks;
	err = s->asks ? ETIMEDOUT : s->err;
	if (!err) {
		*answer = s->next;
		s->next = old;
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

void poller_answer_free(struct poller_answer *answer)
{
	pvfs_metrics_free(answer->rows);
	pvfs_metrics_free(answer->names);
	*answer = (struct poller_answer){ 0 };
}

void poller_stop(struct poller *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void poller_fini(struct poller *p)
{
	pthread_mutex_lock(&p->lock);
	for (unsigned int i = 0; i < p->servers; i++) {
		p->server[i]->stop = true;
		pthread_cond_signal(&p->server[i]->asked);
	}
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->servers; i++)
		server_free(p->server[i]);
	free(p->server);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
}
