/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_output.c - messages, and on a terminal a bar with rate and remaining time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/files/copy/copy.h"
#include "common/util/clock.h"

/* ---- messages ---- */

void copy_failed(struct copy *c, const char *path)
{
	atomic_store(&c->error, errno);
	atomic_store(&c->failed, true);
	if (!atomic_load(&c->interrupted))
		patience_fail(&c->patience, c->tool, path);
}

void copy_same(struct copy *c, const char *from, const char *to)
{
	tool_say(c->tool, "%s and %s are the same file", from, to);
	atomic_store(&c->failed, true);
}

void copy_twice(struct copy *c, const char *from, const char *to)
{
	tool_say(c->tool, "will not overwrite just-created %s with %s", to,
		 from);
	atomic_store(&c->failed, true);
}

static const char *const unsupported_text[] = {
	[COPY_NO_XATTRS] = "an extended attribute is",
	[COPY_NO_ACLS] = "the access control list is",
	[COPY_NO_OWNER] = "the owner is",
};

void copy_note_unsupported(struct copy *c, unsigned int what, const char *path)
{
	atomic_fetch_or(&c->unsupported, what);
	if (!c->opt.strict)
		return;
	tool_say(c->tool, "%s: %s not kept: %s", path, unsupported_text[what],
		 strerror(errno));
	atomic_store(&c->failed, true);
}

/* ---- the progress line ---- */

struct progress {
	const struct copy *copy;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stop_cond;
	bool stop;
	uint64_t start;
};

#define BAR 24

static void format_left(const struct copy *c, double rate, uint64_t left,
			char *buf, size_t len)
{
	unsigned long s;

	if (!atomic_load(&c->walked) || rate < 1) {
		snprintf(buf, len, "looking...");
		return;
	}
	s = (unsigned long)((double)left / rate + 0.5);
	snprintf(buf, len, "%lu:%02lu left", s / 60, s % 60);
}

static void draw_line(const struct progress *p)
{
	const struct copy *c = p->copy;
	uint64_t all = atomic_load(&c->bytes_found);
	uint64_t done = atomic_load(&c->bytes);
	double t = (double)(clock_now() - p->start) / 1e9,
	       rate = t > 0 ? (double)done / t : 0;
	unsigned int fill = all ? (unsigned int)(BAR * done / all) : 0;
	char bar[BAR + 1], left[32], h[3][16];

	for (unsigned int i = 0; i < BAR; i++)
		bar[i] = i < fill ? '#' : '.';
	bar[BAR] = '\0';
	format_left(c, rate, all > done ? all - done : 0, left, sizeof(left));
	fprintf(stderr, "\r\033[K[%s] %s of %s  %llu files  %s/s  %s", bar,
		tool_human(done, h[0]), tool_human(all, h[1]),
		(unsigned long long)atomic_load(&c->files),
		tool_human((uint64_t)rate, h[2]), left);
}

static void *draw_until_stopped(void *arg)
{
	struct progress *p = arg;
	struct timespec until;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		draw_line(p);
		until = clock_timespec(clock_after_ms(200));
		pthread_cond_clockwait(&p->stop_cond, &p->lock, CLOCK_MONOTONIC,
				       &until);
	}
	pthread_mutex_unlock(&p->lock);
	draw_line(p);
	fputc('\n', stderr);
	return NULL;
}

struct progress *progress_start(const struct copy *c)
{
	struct progress *p;

	if (c->opt.quiet || !isatty(STDERR_FILENO))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->copy = c;
	p->start = clock_now();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->stop_cond, NULL);
	if (!pthread_create(&p->thread, NULL, draw_until_stopped, p))
		return p;
	pthread_cond_destroy(&p->stop_cond);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return NULL;
}

void progress_stop(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->stop_cond);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->stop_cond);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
