/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.c - see team.h.  A file that failed, or whose copier is gone or says nothing, is
 * copied by that of this host, where the source surely is.
 */
#include "team.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"

#define SILENT_NS 15000000000ull

void team_file_free(struct team_file *f)
{
	free(f->from);
	free(f->to);
	free(f);
}

void team_give(struct team *t, struct team_file *f)
{
	TAILQ_INSERT_TAIL(&t->todo, f, link);
	t->ntodo++;
}

/* The copier of this host has it next. */
static void again(struct team *t, struct team_file *f, const char *why,
		  bool local)
{
	snprintf(f->why, sizeof(f->why), "%s", why);
	if (local || f->again) {
		t->ended(t->arg, f, NULL, false);
		return;
	}
	f->again = true;
	TAILQ_INSERT_HEAD(&t->todo, f, link);
	t->ntodo++;
}

/* All that it has. */
static void orphan(struct team *t, struct mate *m, const char *why, bool local)
{
	struct team_file *f;

	while ((f = TAILQ_FIRST(&m->has))) {
		TAILQ_REMOVE(&m->has, f, link);
		m->n--;
		t->nout--;
		again(t, f, why, local);
	}
}

static void drop(struct team *t, struct mate *m, const char *why)
{
	link_close(&m->link);
	orphan(t, m, why, m->local);
}

static struct team_file *take_back(struct team *t, struct mate *m,
				   uint64_t number)
{
	struct team_file *f;

	TAILQ_FOREACH(f, &m->has, link)
		if (f->number == number)
			break;
	if (!f)
		return NULL;
	TAILQ_REMOVE(&m->has, f, link);
	m->n--;
	t->nout--;
	return f;
}

static int hear_line(struct team *t, struct mate *m, const char *line)
{
	struct stage_file s;
	struct team_file *f;
	uint64_t number;
	char what[8];
	int at = 0;

	if (!strcmp(line, "tick"))
		return 0;
	if (sscanf(line, "%7s %" SCNu64 " %n", what, &number, &at) != 2)
		return -EPROTO;
	f = take_back(t, m, number);
	if (!f)
		return -EPROTO;
	if (!strcmp(what, "fail")) {
		again(t, f, line + at, m->local);
		return 0;
	}
	if (sscanf(line + at, "%" SCNu64 " %" SCNd64 " %o %" SCNx64, &s.size,
		   &s.mtime, &s.mode, &s.hash) != 4) {
		again(t, f, "a wrong answer", m->local);
		return -EPROTO;
	}
	t->ended(t->arg, f, &s, !strcmp(what, "same"));
	return 0;
}

static int greet(struct team *t, struct mate *m, char *line)
{
	unsigned int rank;
	int rc = greet_check(&m->greet, &m->link, t->key, "copier", line,
			     &rank);

	m->proved = !rc;
	return rc;
}

static void hear(struct team *t, struct mate *m)
{
	int rc = link_fill(&m->link), bad = 0;
	char *line;

	while (!bad && (line = link_line(&m->link)))
		bad = m->proved ? hear_line(t, m, line) : greet(t, m, line);
	if (rc || bad)
		drop(t, m, "its copier has ended");
}

/* Nobody but the copier of this host was told that address. */
static bool is_local(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	return !getsockname(fd, (struct sockaddr *)&a, &len) &&
	       a.sin_addr.s_addr == htonl(INADDR_LOOPBACK + 1);
}

static void welcome(struct team *t)
{
	int fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);
	struct mate *m = t->mate;

	while (m < t->mate + TEAM_MAX && m->link.fd >= 0)
		m++;
	if (fd < 0)
		return;
	if (m == t->mate + TEAM_MAX) {
		close(fd);
		return;
	}
	m->local = is_local(fd);
	m->proved = false;
	if (!link_init(&m->link, fd))
		greet_begin(&m->greet, &m->link);
}

static void send_file(struct team *t, struct mate *m, struct team_file *f)
{
	char from[LINK_WORD], to[LINK_WORD], hash[20] = "-";

	TAILQ_REMOVE(&t->todo, f, link);
	TAILQ_INSERT_TAIL(&m->has, f, link);
	t->ntodo--;
	t->nout++;
	m->n++;
	link_escape(f->from, from);
	link_escape(f->to, to);
	if (f->known)
		snprintf(hash, sizeof(hash), "%016" PRIx64, f->hash);
	link_say(&m->link, "file %" PRIu64 " %s %s %s\n", f->number, hash, from,
		 to);
}

/* In turns, so that a few files are spread. */
static void share_out(struct team *t)
{
	bool more = true;

	for (unsigned int k = 1; more && k <= TEAM_AT_A_TIME; k++) {
		more = false;
		for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++) {
			struct team_file *f = TAILQ_FIRST(&t->todo);

			if (m->link.fd < 0 || !m->proved || m->n >= k)
				continue;
			while (f && f->again && !m->local)
				f = TAILQ_NEXT(f, link);
			if (!f)
				continue;
			send_file(t, m, f);
			more = true;
		}
	}
}

static void drop_silent(struct team *t)
{
	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++)
		if (m->link.fd >= 0 && clock_now() - m->link.heard > SILENT_NS)
			drop(t, m, "its copier says nothing");
}

void team_turn(struct team *t, int also, int ms)
{
	struct pollfd p[TEAM_MAX + 2];
	struct mate *of[TEAM_MAX + 2];
	nfds_t n = 2;

	share_out(t);
	p[0] = (struct pollfd){ .fd = t->listener, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = also, .events = POLLIN };
	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++) {
		if (m->link.fd < 0)
			continue;
		of[n] = m;
		p[n++] = (struct pollfd){ .fd = m->link.fd,
					  .events = link_events(&m->link) };
	}
	if (poll(p, n, ms) > 0) {
		for (nfds_t i = 2; i < n; i++) {
			if (p[i].revents & POLLOUT)
				link_flush(&of[i]->link);
			if (p[i].revents)
				hear(t, of[i]);
		}
		if (p[0].revents)
			welcome(t);
	}
	drop_silent(t);
	if (t->local > 0 && !proc_wait(t->local, 0)) {
		t->local = 0;
		team_give_up(t, "the copier of this host has ended");
	}
}

void team_give_up(struct team *t, const char *why)
{
	struct team_file *f;

	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++)
		orphan(t, m, why, true);
	while ((f = TAILQ_FIRST(&t->todo))) {
		TAILQ_REMOVE(&t->todo, f, link);
		t->ntodo--;
		if (!f->why[0])
			snprintf(f->why, sizeof(f->why), "%s", why);
		t->ended(t->arg, f, NULL, false);
	}
}

/* By an address of its own, so that it is known when it comes. */
static int start_local(struct team *t, const struct job *job)
{
	char at[64];
	int rc;

	snprintf(at, sizeof(at), "127.0.0.2:%u", t->port);
	rc = copier_start(job, t->key, at, "/dev/stderr", NULL);
	if (rc < 0)
		return rc;
	t->local = rc;
	return 0;
}

int team_open(struct team *t, const struct job *job)
{
	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++) {
		m->link.fd = -1;
		TAILQ_INIT(&m->has);
	}
	TAILQ_INIT(&t->todo);
	t->listener = link_listen("0.0.0.0", &t->port);
	return t->listener < 0 ? t->listener : start_local(t, job);
}

void team_close(struct team *t)
{
	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++)
		link_close(&m->link);
	close(t->listener);
	if (t->local > 0 && proc_wait(t->local, clock_after_ms(500))) {
		kill(t->local, SIGKILL);
		proc_wait(t->local, clock_after_ms(1000));
	}
}
