/* SPDX-License-Identifier: BSD-2-Clause */
/* collect.c - see collect.h. */
#include "client/tools/exporter/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "client/tools/common/tool.h"
#include "client/tools/exporter/worker.h"

#define FRESH_NS UINT64_C(1000000000)
#define SILENT_MS 50 /* given to who was silent the last time */
#define AGAIN_MS 1000 /* until the manager is asked again for the iods */

struct collect {
	struct collect_attr attr;
	char slow[64]; /* "does not answer within 1000 ms" */
	pthread_t thread, lister;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* anything of these */
	bool wanted, stop;
	struct round *round; /* the last one; or NULL */
	uint64_t rounds;
	struct worker **worker; /* the manager's first */
	unsigned int workers;
	struct pvfs_server *list; /* what the lister found */
	int listed; /* how many; -1: not known */
	int list_err;
};

/* ---- which servers there are ---- */

static int add_worker(struct collect *c, const struct pvfs_server *s,
		      int labels)
{
	struct worker *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	w->lock = &c->lock;
	w->changed = &c->changed;
	w->mount = c->attr.mount;
	w->timeout_ms = (int)c->attr.timeout_ms;
	w->labels = labels;
	w->is_mgr = s->role == PVFS_MGR;
	snprintf(w->address, sizeof(w->address), "%s", s->uri);
	snprintf(w->name, sizeof(w->name), w->is_mgr ? "mgr" : "iod%d",
		 s->index);
	rc = worker_start(w);
	if (rc)
		free(w);
	else
		c->worker[c->workers++] = w;
	return rc;
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

/* Under the lock: a worker for each iod, once they are known. */
static void add_iods(struct collect *c)
{
	struct worker **more;
	int rc = 0, labels;

	if (c->listed < 1 || c->workers > 1)
		return;
	more = realloc(c->worker, (size_t)c->listed * sizeof(*more));
	if (!more)
		return;
	c->worker = more;
	labels = view_labels(c->attr.labels, (unsigned int)c->listed - 1);
	for (int i = 1; i < c->listed && !rc; i++)
		rc = add_worker(c, &c->list[i], labels);
	if (rc)
		log_error(c->attr.log, "no thread for another server: %s",
			  strerror(-rc));
}

/* ---- a round ---- */

/* Whether all have answered, but for those that were silent before. */
static bool answered(const struct collect *c, bool silent_too)
{
	for (unsigned int i = 0; i < c->workers; i++) {
		const struct worker *w = c->worker[i];

		if (w->asks && (silent_too || !w->silent))
			return false;
	}
	return true;
}

static bool wait_until(struct collect *c, uint64_t deadline)
{
	struct timespec until = clock_timespec(deadline);

	return !pthread_cond_timedwait(&c->changed, &c->lock, &until);
}

static void ask_all(struct collect *c)
{
	uint64_t least = clock_after_ms(SILENT_MS),
		 most = clock_after_ms(c->attr.timeout_ms);

	/* at first only the manager is known, and soon the others are */
	while (c->listed < 0 && !c->list_err && !c->stop &&
	       wait_until(c, c->rounds ? least : most))
		;
	add_iods(c);
	for (unsigned int i = 0; i < c->workers; i++)
		worker_ask(c->worker[i]);
	while (!answered(c, true) && !c->stop && wait_until(c, least))
		;
	while (!answered(c, false) && !c->stop && wait_until(c, most))
		;
}

/* Once for each time that it is otherwise. */
static void say_change(struct collect *c, const struct worker *w,
		       const char *was, const char *reason)
{
	if (reason && (!was || strcmp(was, reason)))
		log_warn(c->attr.log, "%s (%s): %s", w->name, w->address,
			 reason);
	else if (!reason && was)
		log_info(c->attr.log, "%s (%s): answers", w->name, w->address);
}

static void view_worker(struct collect *c, struct worker *w,
			struct view_server *s)
{
	const char *was = w->reason, *reason = NULL;

	if (w->asks)
		reason = c->slow;
	else if (w->err)
		reason = tool_cause(w->err);
	w->silent |= w->asks;
	say_change(c, w, was, reason);
	w->reason = reason;
	*s = (struct view_server){ .is_mgr = w->is_mgr,
				   .address = w->address,
				   .reason = reason,
				   .report = reason ? NULL : w->last };
	memcpy(s->name, w->name, sizeof(s->name));
}

static void write_texts(struct round *r, const struct view *v)
{
	view_metrics(v, &r->metrics);
	view_status(v, &r->status);
	r->well = view_health(v, &r->health);
}

static struct round *write_round(struct collect *c, uint64_t took)
{
	struct view_server *s = calloc(c->workers, sizeof(*s));
	struct round *r = calloc(1, sizeof(*r));
	struct view v = { .mount = c->attr.mount,
			  .server = s,
			  .servers = c->workers,
			  .rounds = c->rounds,
			  .took_ns = took,
			  .wall_ms = (uint64_t)clock_wall() / 1000000 };

	if (c->listed < 0)
		v.no_iods = c->list_err ? tool_cause(c->list_err) : c->slow;
	for (unsigned int i = 0; s && i < c->workers; i++)
		view_worker(c, c->worker[i], &s[i]);
	if (r && s) {
		atomic_init(&r->refs, 1);
		r->at = clock_now();
		write_texts(r, &v);
	} else {
		free(r);
		r = NULL;
	}
	free(s);
	return r;
}

/* Under the lock. */
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

static void *run(void *arg)
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

/* ---- who asks ---- */

void round_put(struct round *r)
{
	if (atomic_fetch_sub(&r->refs, 1) != 1)
		return;
	text_free(&r->metrics);
	text_free(&r->status);
	text_free(&r->health);
	free(r);
}

static bool fresh(const struct collect *c)
{
	return c->round && clock_now() - c->round->at < FRESH_NS;
}

/* Whom there were before rounds when he came, and who knows number after. */
static bool serves(const struct collect *c, uint64_t before, uint64_t after)
{
	return c->rounds != before || (fresh(c) && c->rounds > after);
}

/* For the next round; the servers are not asked before the last one is old. */
static void wait_round(struct collect *c, uint64_t deadline)
{
	if (fresh(c)) {
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
	while (!c->stop && !serves(c, before, after) && clock_now() < deadline)
		wait_round(c, deadline);
	if (!c->stop && serves(c, before, after))
		r = c->round;
	if (r)
		atomic_fetch_add(&r->refs, 1);
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* ---- begin and end ---- */

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
	rc = -pthread_create(&c->thread, NULL, run, c);
	if (!rc)
		return 0;
	collect_stop(c);
	pthread_join(c->lister, NULL);
	return rc;
}

static void stop_workers(struct collect *c)
{
	pthread_mutex_lock(&c->lock);
	for (unsigned int i = 0; i < c->workers; i++)
		worker_stop(c->worker[i]);
	pthread_mutex_unlock(&c->lock);
	for (unsigned int i = 0; i < c->workers; i++) {
		worker_join(c->worker[i]);
		free(c->worker[i]);
	}
	free(c->worker);
}

static void destroy(struct collect *c)
{
	stop_workers(c);
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
	rc = pvfs_manager(attr->mount, &mgr) ? -errno : 0;
	c->worker = calloc(1, sizeof(struct worker *));
	if (!rc)
		rc = c->worker ? add_worker(c, &mgr, attr->labels) : -ENOMEM;
	if (!rc)
		rc = start_threads(c);
	if (rc)
		destroy(c);
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
}

void collect_close(struct collect *c)
{
	pthread_join(c->thread, NULL);
	pthread_join(c->lister, NULL);
	destroy(c);
}
