/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * team.c - see team.h.  A file that failed, or whose copier ended or is silent, is
 * copied by the copier of this host, where the source surely is.
 */
#include "client/tools/job/stage/team.h"

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

#include "common/util/clock.h"
#include "client/tools/job/parts/proc.h"

#define LEAVE_MS 5000u /* ms in which a copier can remove incomplete files */
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

/*
 * The copier of this host gets the file next.  A failure there is final, and so is a
 * second one.
 */
static void retry_file(struct team *t, struct team_file *f, const char *why,
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

/* Takes all its files away from a copier. */
static void retry_files(struct team *t, struct mate *m, const char *why,
			bool local)
{
	struct team_file *f;

	while ((f = TAILQ_FIRST(&m->has))) {
		TAILQ_REMOVE(&m->has, f, link);
		m->n--;
		t->nout--;
		retry_file(t, f, why, local);
	}
}

static void drop_mate(struct team *t, struct mate *m, const char *why)
{
	link_close(&m->link);
	retry_files(t, m, why, m->local);
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

static int handle_line(struct team *t, struct mate *m, const char *line)
{
	struct stage_file s;
	struct team_file *f;
	uint64_t number;
	unsigned int unsupported;
	char what[8];
	int at = 0;

	if (!strcmp(line, "tick"))
		return 0;
	if (sscanf(line, "lacks %u", &unsupported) == 1) {
		t->unsupported |= unsupported;
		return 0;
	}
	if (sscanf(line, "%7s %" SCNu64 " %n", what, &number, &at) != 2)
		return -EPROTO;
	f = take_back(t, m, number);
	if (!f)
		return -EPROTO;
	if (!strcmp(what, "fail")) {
		retry_file(t, f, line + at, m->local);
		return 0;
	}
	if (sscanf(line + at, "%" SCNu64 " %" SCNd64 " %o %" SCNx64, &s.size,
		   &s.mtime, &s.mode, &s.hash) != 4) {
		retry_file(t, f, "a wrong answer", m->local);
		return -EPROTO;
	}
	t->ended(t->arg, f, &s, !strcmp(what, "same"));
	return 0;
}

static void receive_lines(struct team *t, struct mate *m)
{
	int rc = link_fill(&m->link), bad = 0;
	char *line;

	while (!bad && (line = link_line(&m->link)))
		bad = handle_line(t, m, line);
	if (rc || bad)
		drop_mate(t, m, "its copier has ended");
}

/*
 * Whether the copier runs on this host: only that one gets the address 127.0.0.2 to connect to.
 */
static bool is_local(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	return !getsockname(fd, (struct sockaddr *)&a, &len) &&
	       a.sin_addr.s_addr == htonl(INADDR_LOOPBACK + 1);
}

static void admit_guest(struct team *t, struct guest *g)
{
	struct mate *m = t->mate;
	struct job_link link;
	unsigned int rank;

	if (guest_hear(g, t->key, "copier", &link, &rank) <= 0)
		return;
	while (m < t->mate + TEAM_MAX && m->link.fd >= 0)
		m++;
	if (m == t->mate + TEAM_MAX) {
		link_close(&link);
		return;
	}
	m->local = is_local(link.fd);
	m->link = link;
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

/* Sends waiting files to the copiers in turns, so that a few files are spread over all of them. */
static void share_out(struct team *t)
{
	bool more = true;

	for (unsigned int k = 1; more && k <= TEAM_AT_A_TIME; k++) {
		more = false;
		for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++) {
			struct team_file *f = TAILQ_FIRST(&t->todo);

			if (m->link.fd < 0 || m->n >= k)
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
			drop_mate(t, m, "its copier says nothing");
}

#define POLLS (2 + GUESTS + TEAM_MAX)

/*
 * poll(2) takes at most as many entries as a process may have open files, so only links
 * that exist are in it.
 */
struct polls {
	struct pollfd p[POLLS];
	void *of[POLLS]; /* guests, then mates */
	nfds_t n, mates;
};

static void add_poll(struct polls *s, const struct job_link *l, void *of)
{
	if (l->fd < 0)
		return;
	s->of[s->n] = of;
	s->p[s->n++] = (struct pollfd){ .fd = l->fd, .events = link_events(l) };
}

static void fill_polls(struct team *t, struct polls *s, bool room, int also)
{
	s->p[0] = (struct pollfd){ room ? t->listener : -1, POLLIN, 0 };
	s->p[1] = (struct pollfd){ also, POLLIN, 0 };
	s->n = 2;
	for (unsigned int i = 0; i < GUESTS; i++)
		add_poll(s, &t->guests.of[i].link, &t->guests.of[i]);
	s->mates = s->n;
	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++)
		add_poll(s, &m->link, m);
}

static void handle_mate(struct team *t, struct mate *m, short events)
{
	if (events & POLLOUT)
		link_flush(&m->link);
	if (events)
		receive_lines(t, m);
}

static void handle_all(struct team *t, const struct polls *s)
{
	for (nfds_t i = s->mates; i < s->n; i++)
		handle_mate(t, s->of[i], s->p[i].revents);
	for (nfds_t i = 2; i < s->mates; i++)
		if (s->p[i].revents)
			admit_guest(t, s->of[i]);
	if (s->p[0].revents)
		guests_accept(&t->guests, t->listener);
}

void team_turn(struct team *t, int also, int ms)
{
	bool room = guests_room(&t->guests);
	struct polls s;

	share_out(t);
	fill_polls(t, &s, room, also);
	if (poll(s.p, s.n, room || ms < 20 ? ms : 20) > 0)
		handle_all(t, &s);
	guests_drop_late(&t->guests);
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
		retry_files(t, m, why, true);
	while ((f = TAILQ_FIRST(&t->todo))) {
		TAILQ_REMOVE(&t->todo, f, link);
		t->ntodo--;
		if (!f->why[0])
			snprintf(f->why, sizeof(f->why), "%s", why);
		t->ended(t->arg, f, NULL, false);
	}
}

/* An address of its own identifies it when it connects. */
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
	guests_init(&t->guests);
	TAILQ_INIT(&t->todo);
	t->listener = job_listen("0.0.0.0", &t->port);
	return t->listener < 0 ? t->listener : start_local(t, job);
}

void team_close(struct team *t)
{
	for (struct mate *m = t->mate; m < t->mate + TEAM_MAX; m++)
		link_close(&m->link);
	guests_close(&t->guests);
	close(t->listener);
	if (t->local > 0 && proc_wait(t->local, clock_after_ms(LEAVE_MS))) {
		kill(t->local, SIGKILL);
		proc_wait(t->local, clock_after_ms(1000));
	}
}
