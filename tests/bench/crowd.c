/* SPDX-License-Identifier: BSD-2-Clause */
/* crowd.c - client processes, one after another or all at once. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/crowd.h"
#include <pvfs.h>

#define CONNECT_MS 60000 /* time limit in ms until one more client is served */
#define STORM_MS 120000 /* time limit in ms until all clients are served */
#define CLIENTS_MAX 4000

/* The report of a client when it is served or has failed. */
struct said {
	double when; /* bench_now(), the same clock for all processes */
	bool served;
};

struct crowd {
	const struct perf_target *t;
	char path[4096];
	pid_t pid[CLIENTS_MAX];
	unsigned int n;
	int ready[2], leave[2]; /* pipes */
};

/* ---- a client ---- */

static bool serve_me(const struct crowd *c)
{
	char byte;
	int fd = pvfs_open(c->path, O_RDONLY);

	if (fd >= 0 && pvfs_pread(fd, &byte, 1, 0) == 1)
		return true;
	perror(c->path);
	return false;
}

/* Runs a client. go: it begins when the other end of this pipe is closed; -1: at once. */
static _Noreturn void client(const struct crowd *c, int go)
{
	struct said said = { 0 };
	char byte;

	close(c->leave[1]);
	if (go >= 0 && read(go, &byte, 1) != 0)
		_exit(1);
	said.served = serve_me(c);
	said.when = bench_now();
	if (write(c->ready[1], &said, sizeof(said)) != sizeof(said) ||
	    !said.served)
		_exit(1);
	/* waits until the parent writes a byte, or has ended */
	_exit(read(c->leave[0], &byte, 1) != 0);
}

/* ---- the parent of the clients ---- */

static bool start(struct crowd *c, const int *go)
{
	pid_t pid;

	if (c->n == CLIENTS_MAX)
		return false;
	pid = fork();
	if (pid == 0) {
		if (go)
			close(go[1]);
		client(c, go ? go[0] : -1);
	}
	if (pid > 0)
		c->pid[c->n++] = pid;
	return pid > 0;
}

/* Receives the report of a client.  Returns false if none arrives within ms. */
static bool hear(const struct crowd *c, int ms, struct said *said)
{
	struct pollfd p = { .fd = c->ready[0], .events = POLLIN };

	return poll(&p, 1, ms < 0 ? 0 : ms) == 1 &&
	       read(c->ready[0], said, sizeof(*said)) == sizeof(*said);
}

int crowd_grow(struct crowd *c, unsigned int n)
{
	struct said said;

	fflush(NULL);
	while (c->n < n) {
		if (start(c, NULL) && hear(c, CONNECT_MS, &said) && said.served)
			continue;
		fprintf(stderr, "pvfs-perf: client %u of %s is not connected\n",
			c->n, c->t->name);
		return -1;
	}
	return 0;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int collect(const struct crowd *c, double began, double *secs)
{
	double until = began + STORM_MS / 1e3;
	struct said said;
	int served = 0;

	for (unsigned int i = 0; i < c->n; i++) {
		if (!hear(c, (int)((until - bench_now()) * 1e3), &said))
			break;
		if (said.served)
			secs[served++] = said.when - began;
	}
	qsort(secs, (size_t)served, sizeof(*secs), ascending);
	return served;
}

int crowd_storm(struct crowd *c, unsigned int n, double *secs)
{
	double began;
	int go[2];

	if (pipe(go))
		return -1;
	fflush(NULL);
	while (c->n < n && start(c, go))
		;
	close(go[0]);
	if (c->n == n)
		usleep(200000); /* time for all clients to wait at the pipe */
	began = bench_now();
	close(go[1]);
	return c->n == n ? collect(c, began, secs) : -1;
}

unsigned int crowd_size(const struct crowd *c)
{
	return c->n;
}

/* Creates the file that all clients open, in a separate process. */
static bool make_file(const struct crowd *c)
{
	int status = 1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int fd = pvfs_open(c->path, O_CREAT | O_WRONLY, 0644);

		_exit(fd < 0 || pvfs_pwrite(fd, "x", 1, 0) != 1 ||
		      pvfs_close(fd));
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static bool pipes(struct crowd *c)
{
	if (pipe(c->ready))
		return false;
	if (!pipe(c->leave))
		return true;
	close(c->ready[0]);
	close(c->ready[1]);
	return false;
}

struct crowd *crowd_new(const struct perf_target *t)
{
	struct crowd *c = calloc(1, sizeof(*c));

	if (!c || !pipes(c)) {
		perror("pvfs-perf: clients");
		free(c);
		return NULL;
	}
	c->t = t;
	snprintf(c->path, sizeof(c->path), "%s/perf-idle", t->b.dir);
	if (make_file(c))
		return c;
	fprintf(stderr, "pvfs-perf: %s: cannot be made\n", c->path);
	crowd_leave(c);
	return NULL;
}

void crowd_leave(struct crowd *c)
{
	close(c->leave[1]);
	for (unsigned int i = 0; i < c->n; i++)
		waitpid(c->pid[i], NULL, 0);
	close(c->leave[0]);
	close(c->ready[0]);
	close(c->ready[1]);
	free(c);
}
