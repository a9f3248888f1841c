/* SPDX-License-Identifier: BSD-2-Clause */
/* collect.c - see collect.h. */
#include "client/tools/monitor/exporter/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "client/tools/monitor/poller.h"
#include "client/tools/common/tool.h"
#include "client/tools/monitor/exporter/view.h"

#define FRESH_NS UINT64_C(1000000000)
#define LIST_MS                                                                \
	50 /* for the manager to tell the iods, except in the first round */
#define AGAIN_MS 1000 /* until the manager is asked again for the iods */

struct collect_server {
	char name[16];
	bool is_mgr;
	int labels; /* so many users and jobs, and the others; 0: none */
	char address[288];
	const char *reason; /* why it was down in the last round */
	struct poller_answer last;
};

struct collect {
	struct collect_attr attr;
	char slow[64]; /* "does not answer within 1000 ms" */
	pthread_t thread, lister;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* when any of these changes */
	bool wanted, stop;
	struct round *round; /* the last one; or NULL */
	uint64_t rounds;
	struct pvfs_server *list; /* the result of the lister */
	int listed; /* how many; -1: unknown */
	int list_err;
	/* used by the thread of the rounds */
	struct poller poller;
	struct collect_server *server; /* the manager first */
	unsigned int servers;
};

/* ---- which servers there are ---- */

static bool add_server(struct collect *c, const struct pvfs_server *s,
		       int labels)
{
	struct collect_server *all, *to;

	all = reallocarray(c->server, c->servers + 1, sizeof(*all));
	if (!all)
		return false;
	c->server = all;
	to = &all[c->servers];
	*to = (struct collect_server){ .is_mgr = s->role == PVFS_MGR,
				       .labels = labels };
	snprintf(to->address, sizeof(to->address), "%s", s->uri);
	snprintf(to->name, sizeof(to->name), to->is_mgr ? "mgr" : "iod%d",
		 s->index);
	if (!poller_add(&c->poller, c->attr.mount, s->uri, to->is_mgr))
		return false;
	c->servers++;
	return true;
}

static void *list_servers(void *arg)
{
	struct collect *c = arg;
	struct pvfs_server *list;
	struct timespec until;
	int n, err;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && c->listed < 0) {
		pthread_mutex_unlock(&c->lock);
		n = tool_servers(c->attr.mount, &list);
		err = errno;
		pthread_mutex_lock(&c->lock);
		c->list = n < 0 ? NULL : list;
		c->listed = n;
		c->list_err = n < 0 ? err : 0;
		pthread_cond_broadcast(&c->changed);
		until = clock_timespec(clock_after_ms(AGAIN_MS));
		while (n < 0 && !c->stop &&
		       pthread_cond_timedwait(&c->changed, &c->lock, &until) !=
			       ETIMEDOUT)
			;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Called with the lock: adds all iods, once they are known. */
static void add_iods(struct collect *c)
{
	bool added = true;
	int labels;

	if (c->listed < 1 || c->servers > 1)
		return;
	labels = view_labels(c->attr.labels, (unsigned int)c->listed - 1);
	for (int i = 1; i < c->listed && added; i++)
		added = add_server(c, &c->list[i], labels);
	if (!added)
		log_error(c->attr.log, "no memory for another server");
}

/* ---- a round ---- */

static bool wait_until(struct collect *c, uint64_t deadline)
{
	struct timespec until = clock_timespec(deadline);

	return !pthread_cond_timedwait(&c->changed, &c->lock, &until);
}

/*
 * At first only the manager is known; the others follow soon.  Called with the lock,
 * which is released while waiting.
 */
static void ask_all(struct collect *c)
{
	uint64_t deadline = clock_after_ms(c->attr.timeout_ms),
		 least = clock_after_ms(LIST_MS);

	while (c->listed < 0 && !c->list_err && !c->stop &&
	       wait_until(c, c->rounds ? least : deadline))
		;
	add_iods(c);
	pthread_mutex_unlock(&c->lock);
	poller_ask(&c->poller, deadline);
	pthread_mutex_lock(&c->lock);
}

/* Logs each change once. */
static void log_change(struct collect *c, const struct collect_server *s,
		       const char *was)
{
	if (s->reason && (!was || strcmp(was, s->reason)))
		log_warn(c->attr.log, "%s (%s): %s", s->name, s->address,
			 s->reason);
	else if (!s->reason && was)
		log_info(c->attr.log, "%s (%s): answers", s->name, s->address);
}

static void view_server(struct collect *c, unsigned int i,
			struct view_server *v)
{
	struct collect_server *s = &c->server[i];
	const char *was = s->reason;
	int err = poller_take(&c->poller, i, &s->last);

	s->reason = err == ETIMEDOUT ? c->slow : err ? tool_cause(err) : NULL;
	log_change(c, s, was);
	*v = (struct view_server){ .is_mgr = s->is_mgr,
				   .address = s->address,
				   .reason = s->reason };
	memcpy(v->name, s->name, sizeof(v->name));
	if (err)
		return;
	v->report.ping = &s->last.ping;
	v->report.space = &s->last.space;
	v->report.rows = s->last.rows;
	v->report.users = view_users(s->last.rows, s->labels, &v->report.user);
}

static void write_texts(struct round *r, const struct view *v)
{
	view_metrics(v, &r->metrics);
	view_status(v, &r->status);
	r->well = view_health(v, &r->health);
}

static struct round *write_round(struct collect *c, uint64_t took)
{
	struct view_server *s = calloc(c->servers, sizeof(*s));
	struct round *r = calloc(1, sizeof(*r));
	struct view v = { .mount = c->attr.mount,
			  .server = s,
			  .servers = c->servers,
			  .rounds = c->rounds,
			  .took_ns = took,
			  .wall_ms = (uint64_t)clock_wall() / 1000000 };

	if (c->listed < 0)
		v.no_iods = c->list_err ? tool_cause(c->list_err) : c->slow;
	for (unsigned int i = 0; s && i < c->servers; i++)
		view_server(c, i, &s[i]);
	if (r && s) {
		atomic_init(&r->refs, 1);
		r->at = clock_now();
		write_texts(r, &v);
	} else {
		free(r);
		r = NULL;
	}
	for (unsigned int i = 0; s && i < c->servers; i++)
		free(s[i].report.user);
	free(s);
	return r;
}

/* Called with the lock. */
static void run_round(struct collect *c)
{
	uint64_t start = clock_now();
	struct round *r;

	ask_all(c);
	if (c->stop)
		return;
	c->rounds++;
	r = write_round(c, clock_now() - start);
	if (c->round)
		round_put(c->round);
	c->round = r;
	c->wanted = false;
	pthread_cond_broadcast(&c->changed);
}

static void *run_rounds(void *arg)
{
	struct collect *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		if (c->wanted)
			run_round(c);
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- readers ---- */

void round_put(struct round *r)
{
	if (atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	text_free(&r->metrics);
	text_free(&r->status);
	text_free(&r->health);
	free(r);
}

static bool round_is_fresh(const struct collect *c)
{
	return c->round && clock_now() - c->round->at < FRESH_NS;
}

/*
 * Whether the last round serves a reader that arrived after `before` rounds and has already seen
 * round number `after`.
 */
static bool round_serves(const struct collect *c, uint64_t before,
			 uint64_t after)
{
	return c->rounds != before || (round_is_fresh(c) && c->rounds > after);
}

/*
 * Waits for the next round.  Servers are not asked again while the last round is fresh.
 */
static void wait_round(struct collect *c, uint64_t deadline)
{
	if (round_is_fresh(c)) {
		wait_until(c, c->round->at + FRESH_NS);
		return;
	}
	c->wanted = true;
	pthread_cond_broadcast(&c->changed);
	wait_until(c, deadline);
}

struct round *collect_get(struct collect *c, uint64_t after)
{
	uint64_t deadline = clock_after_ms(c->attr.timeout_ms + 3000), before;
	struct round *r = NULL;

	pthread_mutex_lock(&c->lock);
	before = c->rounds;
	while (!c->stop && !round_serves(c, before, after) &&
	       clock_now() < deadline)
		wait_round(c, deadline);
	if (!c->stop && round_serves(c, before, after))
		r = c->round;
	if (r)
		atomic_fetch_add(&r->refs, 1);
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* ---- start and end ---- */

static void init_sync(struct collect *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
}

static int start_threads(struct collect *c)
{
	int rc = -pthread_create(&c->lister, NULL, list_servers, c);

	if (rc)
		return rc;
	rc = -pthread_create(&c->thread, NULL, run_rounds, c);
	if (!rc)
		return 0;
	collect_stop(c);
	pthread_join(c->lister, NULL);
	return rc;
}

static void free_collect(struct collect *c)
{
	poller_fini(&c->poller);
	for (unsigned int i = 0; i < c->servers; i++)
		poller_answer_free(&c->server[i].last);
	free(c->server);
	free(c->list);
	if (c->round)
		round_put(c->round);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

int collect_open(const struct collect_attr *attr, struct collect **out)
{
	struct collect *c = calloc(1, sizeof(*c));
	struct pvfs_server mgr;
	int rc;

	if (!c)
		return -ENOMEM;
	c->attr = *attr;
	c->listed = -1;
	snprintf(c->slow, sizeof(c->slow), "does not answer within %u ms",
		 attr->timeout_ms);
	init_sync(c);
	c->poller.timeout_ms = (int)attr->timeout_ms;
	c->poller.groups = PVFS_METRICS_OPS | PVFS_METRICS_INSIDE |
			   (attr->labels ? PVFS_METRICS_USERS : 0);
	c->poller.whole = true;
	poller_init(&c->poller);
	rc = pvfs_manager(attr->mount, &mgr) ? -errno : 0;
	if (!rc && !add_server(c, &mgr, attr->labels))
		rc = -ENOMEM;
	if (!rc)
		rc = start_threads(c);
	if (rc)
		free_collect(c);
	else
		*out = c;
	return rc;
}

void collect_stop(struct collect *c)
{
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	poller_stop(&c->poller);
}

void collect_close(struct collect *c)
{
	pthread_join(c->thread, NULL);
	pthread_join(c->lister, NULL);
	free_collect(c);
}
