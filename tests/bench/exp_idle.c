/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_idle.c - what connections cost that nobody uses: memory of the first
 * iod by the number of clients, and CPU time of all servers.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pvfs.h"
#include "pvfs_perf.h"

#define CONNECT_MS 60000 /* for a next client to be there */
#define ANSWER_MS 3000 /* for an iod to report */
#define CLIENTS_MAX 4000

static const struct figure_desc figure = {
	.name = "memory",
	.title = "Memory of an iod with idle clients",
	.x = "clients",
	.y = "MiB",
	.log_x = true,
};

struct crowd {
	pid_t pid[CLIENTS_MAX];
	unsigned int n;
	int ready[2], leave[2]; /* pipes */
};

struct memory {
	double resident, registered; /* MiB; registered < 0: not known */
};

/* ---- clients ---- */

static void client(const struct perf_target *t, const struct crowd *c)
{
	char path[4096], byte = 0;
	int fd;

	close(c->leave[1]);
	snprintf(path, sizeof(path), "%s/perf-idle", t->b.dir);
	fd = pvfs_open(path, O_RDONLY);
	if (fd < 0 || pvfs_pread(fd, &byte, 1, 0) != 1) {
		perror(path);
		_exit(1);
	}
	if (write(c->ready[1], &byte, 1) != 1)
		_exit(1);
	/* until the parent leaves, or is gone */
	_exit(read(c->leave[0], &byte, 1) != 0);
}

static int grow(struct crowd *c, const struct perf_target *t, unsigned int n)
{
	struct pollfd p = { .fd = c->ready[0], .events = POLLIN };
	char byte;

	fflush(NULL);
	while (c->n < n) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0)
			client(t, c);
		c->pid[c->n++] = pid;
		if (poll(&p, 1, CONNECT_MS) != 1 ||
		    read(c->ready[0], &byte, 1) != 1) {
			fprintf(stderr,
				"pvfs-perf: client %u of %s is not "
				"connected\n",
				c->n, t->name);
			return -1;
		}
	}
	return 0;
}

static void disperse(struct crowd *c)
{
	close(c->leave[1]);
	for (unsigned int i = 0; i < c->n; i++)
		waitpid(c->pid[i], NULL, 0);
	close(c->leave[0]);
	close(c->ready[0]);
	close(c->ready[1]);
}

/* The file that all hold open; by a process of its own. */
static int make_file(const struct perf_target *t)
{
	char path[4096];
	int status = 1;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/perf-idle", t->b.dir);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int fd = pvfs_open(path, O_CREAT | O_WRONLY, 0644);

		_exit(fd < 0 || pvfs_pwrite(fd, "x", 1, 0) != 1 ||
		      pvfs_close(fd));
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* ---- the iod ---- */

static double resident(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib / 1024;
}

/* The sum of what a report names for each transport; < 0: none yet. */
static double find_registered(FILE *log)
{
	char line[1024], *at;
	double sum = -1;

	while (fgets(line, sizeof(line), log)) {
		at = strstr(line, " KiB registered with");
		while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
			at--;
		if (at)
			sum = (sum < 0 ? 0 : sum) + atof(at);
	}
	return sum < 0 ? -1 : sum / 1024;
}

/* Asks with SIGUSR1 and reads the answer where the iod's log goes. */
static double registered(pid_t pid)
{
	struct timespec nap = { .tv_nsec = 20000000 };
	char path[64];
	double mib = -1, until = bench_now() + ANSWER_MS / 1e3;
	FILE *log;
	long end;

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)pid);
	log = fopen(path, "r");
	if (!log || fseek(log, 0, SEEK_END) || (end = ftell(log)) < 0 ||
	    kill(pid, SIGUSR1)) {
		if (log)
			fclose(log);
		return -1;
	}
	while (mib < 0 && bench_now() < until) {
		nanosleep(&nap, NULL);
		fseek(log, end, SEEK_SET);
		mib = find_registered(log);
	}
	fclose(log);
	return mib;
}

static struct memory memory_of(pid_t pid)
{
	struct memory m = { resident(pid), registered(pid) };

	return m;
}

/* CPU milliseconds a second of all servers. */
static double idle_cpu(const struct perf_target *t)
{
	double before = bench_servers_cpu(&t->b), start = bench_now();

	usleep(2000000);
	return (bench_servers_cpu(&t->b) - before) / (bench_now() - start) *
	       1e3;
}

/* ---- the experiment ---- */

static void add(struct perf_run *run, const struct perf_target *t, double n,
		const struct memory *m)
{
	struct figure *f = result_figure(run->r, &figure);
	char name[64];

	snprintf(name, sizeof(name), "%s, resident", t->name);
	series_add(figure_series(f, name), n, NULL, m->resident);
	if (m->registered < 0)
		return;
	snprintf(name, sizeof(name), "%s, registered", t->name);
	series_add(figure_series(f, name), n, NULL, m->registered);
}

static void judge(struct perf_run *run, const struct perf_target *t,
		  unsigned int n, const struct memory *from,
		  const struct memory *to, double cpu)
{
	static const struct goal each = { "MiB", NULL, 1, true };
	static const struct goal ms = { "ms/s", NULL, 1, true };
	struct goal all = { "MiB", NULL, n >= 1000 ? 512 : 0, true };

	if (from->registered >= 0 && to->registered >= 0)
		result_value(run->r, &each,
			     (to->registered - from->registered) / n,
			     "registered for an idle client: %s", t->name);
	result_value(run->r, &each, (to->resident - from->resident) / n,
		     "resident for an idle client: %s", t->name);
	result_value(run->r, &all, to->resident,
		     "resident with %u idle clients: %s", n, t->name);
	result_value(run->r, &ms, cpu,
		     "CPU of mgr and iods with %u idle clients: %s", n,
		     t->name);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       struct crowd *c)
{
	const unsigned int steps[] = { run->connections / 8,
				       run->connections / 2, run->connections };
	pid_t iod = t->b.servers[1];
	struct memory first, now;

	if (make_file(t))
		return -1;
	first = now = memory_of(iod);
	for (unsigned int i = 0; i < 3; i++) {
		if (!steps[i])
			continue;
		if (grow(c, t, steps[i]))
			return -1;
		now = memory_of(iod);
		add(run, t, steps[i], &now);
	}
	usleep(500000);
	judge(run, t, c->n, &first, &now, idle_cpu(t));
	return 0;
}

int exp_idle(struct perf_run *run)
{
	struct crowd *c = malloc(sizeof(*c));
	int rc = c ? 0 : -1;

	for (unsigned int i = 0; i < run->ntargets && !rc; i++) {
		const struct perf_target *t = &run->targets[i];

		if (t->b.nservers < 2) {
			result_missing(run->r, t->name,
				       "needs the processes of mgr and iod");
			continue;
		}
		c->n = 0;
		if (pipe(c->ready) || pipe(c->leave)) {
			rc = -1;
			break;
		}
		rc = one(run, t, c);
		disperse(c);
	}
	free(c);
	return rc;
}
