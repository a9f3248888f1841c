/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c - see walk.h. */
#include "client/tools/job/stage/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/tools/files/copy/copy.h"

#define AHEAD 4096u /* files that are found ahead of walk_next() */

enum walk_state { WALKS, DONE, FINISHES, FINISHED };

struct walk {
	struct copy *copy;
	const char *from, *to;
	struct copy_dirs dirs; /* used by the thread */
	pthread_t thread;
	int event;
	pthread_mutex_t lock; /* protects the rest */
	pthread_cond_t changed;
	struct team_files found;
	unsigned int n;
	enum walk_state state;
};

static void signal_event(struct walk *w)
{
	uint64_t one = 1;

	if (write(w->event, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

static void add_found(struct walk *w, struct team_file *f)
{
	pthread_mutex_lock(&w->lock);
	while (w->n >= AHEAD)
		pthread_cond_wait(&w->changed, &w->lock);
	TAILQ_INSERT_TAIL(&w->found, f, link);
	w->n++;
	pthread_mutex_unlock(&w->lock);
	signal_event(w);
}

static struct team_file *make_file(struct walk *w, const char *from,
				   const char *to)
{
	struct team_file *f = calloc(1, sizeof(*f));

	if (f) {
		f->from = strdup(from);
		f->to = strdup(to);
	}
	if (f && f->from && f->to)
		return f;
	if (f)
		team_file_free(f);
	errno = ENOMEM;
	copy_failed(w->copy, from);
	return NULL;
}

static void file_found(void *arg, const char *from, const char *to,
		       const struct stat *st)
{
	struct walk *w = arg;
	struct team_file *f = make_file(w, from, to);

	atomic_fetch_add(&w->copy->files_found, 1);
	atomic_fetch_add(&w->copy->bytes_found, (uint64_t)st->st_size);
	if (!f)
		return;
	f->st = *st;
	add_found(w, f);
}

static void add_left_out(void *arg, const char *from, const char *why)
{
	struct walk *w = arg;
	struct team_file *f = make_file(w, from, "");

	if (!f)
		return;
	snprintf(f->why, sizeof(f->why), "%s", why);
	add_found(w, f);
}

static void set_state(struct walk *w, enum walk_state state)
{
	pthread_mutex_lock(&w->lock);
	w->state = state;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	signal_event(w);
}

static void *walk_thread(void *arg)
{
	struct walk *w = arg;

	copy_walk(w->copy, &w->dirs, w->from, w->to, NULL);
	atomic_store(&w->copy->walked, true);
	set_state(w, DONE);
	pthread_mutex_lock(&w->lock);
	while (w->state != FINISHES)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	copy_dirs_finish(w->copy, &w->dirs);
	set_state(w, FINISHED);
	return NULL;
}

int walk_start(struct copy *copy, const char *from, const char *to,
	       struct walk **walk)
{
	struct walk *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ENOMEM;
	w->copy = copy;
	w->from = from;
	w->to = to;
	w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	TAILQ_INIT(&w->found);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	copy->found = file_found;
	copy->left_out = add_left_out;
	copy->arg = w;
	rc = w->event < 0 ? errno
			  : pthread_create(&w->thread, NULL, walk_thread, w);
	if (!rc) {
		*walk = w;
		return 0;
	}
	if (w->event >= 0)
		close(w->event);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return -rc;
}

int walk_fd(const struct walk *w)
{
	return w->event;
}

struct team_file *walk_next(struct walk *w)
{
	struct team_file *f;
	uint64_t n;

	if (read(w->event, &n, sizeof(n)) < 0)
		n = 0; /* found is checked anyway */
	pthread_mutex_lock(&w->lock);
	f = TAILQ_FIRST(&w->found);
	if (f) {
		TAILQ_REMOVE(&w->found, f, link);
		w->n--;
		pthread_cond_broadcast(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	return f;
}

static bool has_reached(struct walk *w, enum walk_state state)
{
	bool is;

	pthread_mutex_lock(&w->lock);
	is = w->state >= state && !w->n;
	pthread_mutex_unlock(&w->lock);
	return is;
}

bool walk_is_done(struct walk *w)
{
	return has_reached(w, DONE);
}

void walk_finish(struct walk *w)
{
	set_state(w, FINISHES);
}

bool walk_is_finished(struct walk *w)
{
	return has_reached(w, FINISHED);
}

void walk_free(struct walk *w)
{
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	pthread_cond_destroy(&w->changed);
	close(w->event);
	free(w);
}
