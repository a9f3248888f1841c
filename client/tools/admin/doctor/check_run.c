/* SPDX-License-Identifier: BSD-2-Clause */
/* check_run.c - runs checks, each in a process of its own with a deadline. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/admin/doctor/doctor.h"

#define AT_A_TIME 16u
#define WORDS_MAX (256u << 10)

static bool check_applies(const struct doctor *d, const struct check *c)
{
	switch (c->of) {
	case OF_CONF:
	case OF_STORAGE:
		return d->conf;
	case OF_TAB:
	case OF_MOUNT:
		return !d->conf;
	default:
		return true;
	}
}

/* Returns how many subjects the check has, from *first on; 0: it runs once. */
static unsigned int subjects_of(const struct doctor *d, const struct check *c,
				const struct subject **first)
{
	*first = c->of == OF_MOUNTED ? d->mounted : d->subject;
	switch (c->of) {
	case OF_SERVER:
	case OF_STORAGE:
	case OF_MOUNT:
		return d->nsubjects;
	case OF_MOUNTED:
		return d->nmounted;
	default:
		return 0;
	}
}

static bool runs_once(const struct check *c)
{
	return c->of == OF_NODE || c->of == OF_CONF || c->of == OF_TAB;
}

/* Whether name is in the list, which has the form "a,b,c". */
static bool is_in(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (list && *list) {
		if (!strncmp(list, name, len) &&
		    (list[len] == ',' || !list[len]))
			return true;
		list = strchr(list, ',');
		list += list ? 1 : 0;
	}
	return false;
}

static void add_run(struct check_runs *runs, const struct check *c,
		    const struct subject *s)
{
	runs->run[runs->n++] =
		(struct check_run){ .check = c, .s = s, .fd = -1 };
}

int check_runs_make(const struct doctor *d, const char *skip,
		    struct check_runs *runs)
{
	const struct subject *s;
	const struct check *c;
	unsigned int n;

	runs->n = 0;
	runs->run = calloc((size_t)doctor_nchecks *
				   (d->nsubjects + d->nmounted + 1),
			   sizeof(runs->run[0]));
	runs->first = d->subject;
	runs->away = calloc(d->nsubjects + 1, sizeof(runs->away[0]));
	if (!runs->run || !runs->away)
		return -ENOMEM;
	for (c = doctor_checks; c < doctor_checks + doctor_nchecks; c++) {
		if (!check_applies(d, c) || is_in(skip, c->name))
			continue;
		if (runs_once(c))
			add_run(runs, c, NULL);
		n = subjects_of(d, c, &s);
		for (; n; n--, s++)
			if (c->of != OF_MOUNT || s->mgr)
				add_run(runs, c, s);
	}
	return 0;
}

void check_runs_free(struct check_runs *runs)
{
	for (unsigned int i = 0; i < runs->n; i++)
		free(runs->run[i].words);
	free(runs->run);
	free(runs->away);
}

/* The alarm ends the child even if the parent was killed. */
static void run_child(struct doctor *d, const struct check_run *run, int out)
{
	d->out = out;
	alarm(d->timeout_s + 5);
	run->check->run(d, run->s);
	exit(0); /* libpvfs closes its sessions */
}

static int start_run(struct doctor *d, struct check_run *run)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	run->pid = fork();
	if (run->pid < 0) {
		close(p[0]);
		close(p[1]);
		return -EAGAIN;
	}
	if (!run->pid)
		run_child(d, run, p[1]);
	close(p[1]);
	run->fd = p[0];
	run->deadline = clock_after_ms(d->timeout_s * 1000);
	return 0;
}

static bool make_room(struct check_run *run, size_t more)
{
	char *grown;

	if (run->room - run->len >= more)
		return true;
	grown = realloc(run->words, run->room + 2 * more);
	if (!grown)
		return false;
	run->words = grown;
	run->room += 2 * more;
	return true;
}

static void add_result(struct check_run *run, char kind, const char *what,
		       const char *fix)
{
	size_t w = strlen(what) + 1, f = strlen(fix) + 1;

	if (!make_room(run, 1 + w + f))
		return;
	run->words[run->len++] = kind;
	memcpy(run->words + run->len, what, w);
	memcpy(run->words + run->len + w, fix, f);
	run->len += w + f;
}

/* A result that was read in part would swallow the next one. */
static void drop_partial_result(struct check_run *run)
{
	struct check_result result;
	size_t at = 0;

	while (check_run_result(run, &at, &result))
		;
	run->len = at;
}

/* The process may be blocked in the kernel, so it is not waited for. */
static void kill_run(struct check_run *run)
{
	close(run->fd);
	run->fd = -1;
	run->over = true;
	kill(run->pid, SIGKILL);
	waitpid(run->pid, NULL, WNOHANG);
	drop_partial_result(run);
}

static void end_late_run(struct check_run *run)
{
	const struct check *c = run->check;
	char what[PATH_MAX + 100];

	kill_run(run);
	snprintf(what, sizeof(what), "%s%s%s",
		 c->of == OF_MOUNTED ? run->s->mount : "",
		 c->of == OF_MOUNTED ? ": " : "",
		 c->late ? c->late : "no answer within the time-out");
	add_result(run, c->late_fix ? RESULT_FOUND : RESULT_UNSEEN, what,
		   c->late_fix ? c->late_fix : "");
}

static void end_long_run(struct check_run *run)
{
	kill_run(run);
	add_result(run, RESULT_UNSEEN,
		   "the check found more than is shown here", "");
}

static void end_run(struct check_run *run)
{
	int status = 0;

	close(run->fd);
	run->fd = -1;
	run->over = true;
	drop_partial_result(run);
	if (waitpid(run->pid, &status, 0) == run->pid &&
	    (!WIFEXITED(status) || WEXITSTATUS(status)))
		add_result(run, RESULT_UNSEEN,
			   "the check ended by itself, with an error", "");
}

static void read_results(struct check_run *run)
{
	ssize_t n;

	if (run->len >= WORDS_MAX || !make_room(run, 4096)) {
		end_long_run(run);
		return;
	}
	n = read(run->fd, run->words + run->len, run->room - run->len);
	if (n > 0)
		run->len += (size_t)n;
	else if (!n || errno != EINTR)
		end_run(run);
}

/* Waits for the active runs, until the first of their deadlines. */
static void wait_runs(struct check_run **active, unsigned int n)
{
	struct pollfd p[AT_A_TIME];
	uint64_t now, until = CLOCK_NEVER;

	for (unsigned int i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = active[i]->fd, .events = POLLIN };
		if (active[i]->deadline < until)
			until = active[i]->deadline;
	}
	now = clock_now();
	if (poll(p, n, until > now ? (int)((until - now) / 1000000 + 1) : 0) <
	    0)
		return;
	now = clock_now();
	for (unsigned int i = 0; i < n; i++) {
		if (p[i].revents)
			read_results(active[i]);
		else if (active[i]->deadline <= now)
			end_late_run(active[i]);
	}
}

static void note_unreachable(struct check_runs *runs,
			     const struct check_run *run)
{
	if (run->s && run->check->reaches && run->len)
		runs->away[run->s - runs->first] |= run->words[0] !=
						    RESULT_NOTE;
}

static bool is_unreachable(const struct check_runs *runs,
			   const struct check_run *run)
{
	return run->s && run->check->follows &&
	       runs->away[run->s - runs->first];
}

/* Starts runs in addition to the n active ones.  Returns how many are active then, or -errno. */
static int start_more(struct doctor *d, struct check_runs *runs,
		      unsigned int *next, struct check_run **active, int n)
{
	int rc;

	while (n < (int)AT_A_TIME && *next < runs->n) {
		struct check_run *run = &runs->run[(*next)++];

		if (is_unreachable(runs, run))
			continue;
		rc = start_run(d, run);
		if (rc && n) {
			(*next)--; /* again, after one has ended */
			return n;
		}
		if (rc)
			return rc;
		active[n++] = run;
	}
	return n;
}

/* Keeps the runs that have not ended; returns how many. */
static int drop_ended(struct check_runs *runs, struct check_run **active, int n)
{
	int k = 0;

	for (int i = 0; i < n; i++) {
		if (active[i]->over)
			note_unreachable(runs, active[i]);
		else
			active[k++] = active[i];
	}
	return k;
}

int check_runs_run(struct doctor *d, struct check_runs *runs)
{
	struct check_run *active[AT_A_TIME];
	unsigned int next = 0;
	int n = 0;

	while ((n = start_more(d, runs, &next, active, n)) > 0) {
		wait_runs(active, (unsigned int)n);
		n = drop_ended(runs, active, n);
	}
	return n;
}

bool check_run_result(const struct check_run *run, size_t *at,
		      struct check_result *result)
{
	const char *end = run->words + run->len, *what, *nul, *nul2;

	if (*at >= run->len)
		return false;
	what = run->words + *at + 1;
	nul = memchr(what, '\0', (size_t)(end - what));
	nul2 = nul ? memchr(nul + 1, '\0', (size_t)(end - nul - 1)) : NULL;
	if (!nul2)
		return false;
	*result = (struct check_result){ .kind = what[-1],
					 .what = what,
					 .fix = nul + 1 };
	*at = (size_t)(nul2 + 1 - run->words);
	return true;
}
