/* SPDX-License-Identifier: BSD-2-Clause */
/* job.c - runs checks, each in a process of its own with a deadline. */
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

/* True: name is in "a,b,c". */
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

static void add_run(struct check_runs *jobs, const struct check *c,
		    const struct subject *s)
{
	jobs->job[jobs->n++] =
		(struct check_run){ .check = c, .s = s, .fd = -1 };
}

int check_runs_make(const struct doctor *d, const char *skip,
		    struct check_runs *jobs)
{
	const struct subject *s;
	const struct check *c;
	unsigned int n;

	jobs->n = 0;
	jobs->job = calloc((size_t)doctor_nchecks *
				   (d->nsubjects + d->nmounted + 1),
			   sizeof(jobs->job[0]));
	jobs->first = d->subject;
	jobs->away = calloc(d->nsubjects + 1, sizeof(jobs->away[0]));
	if (!jobs->job || !jobs->away)
		return -ENOMEM;
	for (c = doctor_checks; c < doctor_checks + doctor_nchecks; c++) {
		if (!check_applies(d, c) || is_in(skip, c->name))
			continue;
		if (runs_once(c))
			add_run(jobs, c, NULL);
		n = subjects_of(d, c, &s);
		for (; n; n--, s++)
			if (c->of != OF_MOUNT || s->mgr)
				add_run(jobs, c, s);
	}
	return 0;
}

void check_runs_free(struct check_runs *jobs)
{
	for (unsigned int i = 0; i < jobs->n; i++)
		free(jobs->job[i].words);
	free(jobs->job);
	free(jobs->away);
}

/* The alarm ends the child even if the parent was killed. */
static void run_child(struct doctor *d, const struct check_run *job, int out)
{
	d->out = out;
	alarm(d->timeout_s + 5);
	job->check->run(d, job->s);
	exit(0); /* libpvfs closes its sessions */
}

static int start_run(struct doctor *d, struct check_run *job)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	job->pid = fork();
	if (job->pid < 0) {
		close(p[0]);
		close(p[1]);
		return -EAGAIN;
	}
	if (!job->pid)
		run_child(d, job, p[1]);
	close(p[1]);
	job->fd = p[0];
	job->deadline = clock_after_ms(d->timeout_s * 1000);
	return 0;
}

static bool make_room(struct check_run *job, size_t more)
{
	char *grown;

	if (job->room - job->len >= more)
		return true;
	if (job->room > WORDS_MAX)
		return false;
	grown = realloc(job->words, job->room + 2 * more);
	if (!grown)
		return false;
	job->words = grown;
	job->room += 2 * more;
	return true;
}

static void add_result(struct check_run *job, char kind, const char *what,
		       const char *fix)
{
	size_t w = strlen(what) + 1, f = strlen(fix) + 1;

	if (!make_room(job, 1 + w + f))
		return;
	job->words[job->len++] = kind;
	memcpy(job->words + job->len, what, w);
	memcpy(job->words + job->len + w, fix, f);
	job->len += w + f;
}

/* A late process may be blocked in the kernel, so it is not waited for. */
static void end_run(struct check_run *job, bool late)
{
	const struct check *c = job->check;
	char what[PATH_MAX + 100];
	int status = 0;

	close(job->fd);
	job->fd = -1;
	job->over = true;
	if (late) {
		kill(job->pid, SIGKILL);
		waitpid(job->pid, NULL, WNOHANG);
		snprintf(what, sizeof(what), "%s%s%s",
			 c->of == OF_MOUNTED ? job->s->mount : "",
			 c->of == OF_MOUNTED ? ": " : "",
			 c->late ? c->late : "no answer within the time-out");
		add_result(job, c->late_fix ? RESULT_FOUND : RESULT_UNSEEN,
			   what, c->late_fix ? c->late_fix : "");
		return;
	}
	if (waitpid(job->pid, &status, 0) == job->pid &&
	    (!WIFEXITED(status) || WEXITSTATUS(status)))
		add_result(job, RESULT_UNSEEN,
			   "the check ended by itself, with an error", "");
}

static void read_results(struct check_run *job)
{
	ssize_t n;

	if (!make_room(job, 4096)) {
		end_run(job, true);
		return;
	}
	n = read(job->fd, job->words + job->len, job->room - job->len);
	if (n > 0)
		job->len += (size_t)n;
	else if (!n || errno != EINTR)
		end_run(job, false);
}

/* Waits for the running jobs, until the first of their deadlines. */
static void wait_runs(struct check_run **run, unsigned int n)
{
	struct pollfd p[AT_A_TIME];
	uint64_t now, until = CLOCK_NEVER;

	for (unsigned int i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = run[i]->fd, .events = POLLIN };
		if (run[i]->deadline < until)
			until = run[i]->deadline;
	}
	now = clock_now();
	if (poll(p, n, until > now ? (int)((until - now) / 1000000 + 1) : 0) <
	    0)
		return;
	now = clock_now();
	for (unsigned int i = 0; i < n; i++) {
		if (p[i].revents)
			read_results(run[i]);
		else if (run[i]->deadline <= now)
			end_run(run[i], true);
	}
}

static void note_away(struct check_runs *jobs, const struct check_run *job)
{
	if (job->s && job->check->reaches && job->len)
		jobs->away[job->s - jobs->first] |= job->words[0] !=
						    RESULT_NOTE;
}

static bool is_away(const struct check_runs *jobs, const struct check_run *job)
{
	return job->s && job->check->follows &&
	       jobs->away[job->s - jobs->first];
}

/* Starts jobs in addition to the n that run.  Returns how many run then, or -errno. */
static int start_more(struct doctor *d, struct check_runs *jobs,
		      unsigned int *next, struct check_run **run, int n)
{
	int rc;

	while (n < (int)AT_A_TIME && *next < jobs->n) {
		struct check_run *job = &jobs->job[(*next)++];

		if (is_away(jobs, job))
			continue;
		rc = start_run(d, job);
		if (rc && n) {
			(*next)--; /* again, after one has ended */
			return n;
		}
		if (rc)
			return rc;
		run[n++] = job;
	}
	return n;
}

/* Keeps the jobs that have not ended; returns how many. */
static int drop_ended(struct check_runs *jobs, struct check_run **run, int n)
{
	int k = 0;

	for (int i = 0; i < n; i++) {
		if (run[i]->over)
			note_away(jobs, run[i]);
		else
			run[k++] = run[i];
	}
	return k;
}

int check_runs_run(struct doctor *d, struct check_runs *jobs)
{
	struct check_run *run[AT_A_TIME];
	unsigned int next = 0;
	int n = 0;

	while ((n = start_more(d, jobs, &next, run, n)) > 0) {
		wait_runs(run, (unsigned int)n);
		n = drop_ended(jobs, run, n);
	}
	return n;
}

bool check_run_result(const struct check_run *job, size_t *at,
		      struct check_result *said)
{
	const char *end = job->words + job->len, *what, *nul, *nul2;

	if (*at >= job->len)
		return false;
	what = job->words + *at + 1;
	nul = memchr(what, '\0', (size_t)(end - what));
	nul2 = nul ? memchr(nul + 1, '\0', (size_t)(end - nul - 1)) : NULL;
	if (!nul2)
		return false;
	*said = (struct check_result){ .kind = what[-1],
				       .what = what,
				       .fix = nul + 1 };
	*at = (size_t)(nul2 + 1 - job->words);
	return true;
}
