/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_run.c - starts client processes at the same moment, and measures their time and CPU time.
 */
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"

struct shared {
	pthread_barrier_t all;
	double begin[BENCH_CLIENTS_MAX], end[BENCH_CLIENTS_MAX];
	double cpu[BENCH_CLIENTS_MAX];
};

double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static double own_cpu(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
	       (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

/*
 * Returns the CPU time of a process in seconds.  The clock ticks in /proc are too coarse for short
 * runs.
 */
static double process_cpu(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double bench_servers_cpu(const struct bench *b)
{
	double sum = 0;

	for (unsigned int i = 0; i < b->nservers; i++)
		sum += process_cpu(b->servers[i]);
	return sum;
}

static unsigned long long task_switches(const char *path)
{
	unsigned long long n, sum = 0;
	char line[256], *at;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, "voluntary_ctxt_switches:");
		if (at && sscanf(strchr(at, ':') + 1, "%llu", &n) == 1)
			sum += n;
	}
	if (f)
		fclose(f);
	return sum;
}

unsigned long long bench_iods_switches(const struct bench *b)
{
	unsigned long long sum = 0;
	char pattern[64];
	glob_t tasks;

	for (unsigned int i = 1; i < b->nservers; i++) {
		snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/status",
			 (int)b->servers[i]);
		if (glob(pattern, GLOB_NOSORT, NULL, &tasks))
			continue;
		for (size_t k = 0; k < tasks.gl_pathc; k++)
			sum += task_switches(tasks.gl_pathv[k]);
		globfree(&tasks);
	}
	return sum;
}

static int measured(const struct bench *b, const struct bench_task *task,
		    unsigned int rank, struct shared *sh)
{
	double cpu = own_cpu();
	int status;

	sh->begin[rank] = bench_now();
	status = task->fn(b, task->arg, rank, true);
	sh->end[rank] = bench_now();
	sh->cpu[rank] = own_cpu() - cpu;
	return status;
}

/*
 * Runs one client.  A client that failed still waits at both barriers, so that the others do not
 * hang.  All clients exist until the counters of the servers are read, so that the measurement
 * excludes their exit.
 */
static void client(const struct bench *b, const struct bench_task *task,
		   unsigned int rank, struct shared *sh)
{
	int prepared = task->fn(b, task->arg, rank, false), status = prepared;

	pthread_barrier_wait(&sh->all);
	if (!prepared)
		status = measured(b, task, rank, sh);
	pthread_barrier_wait(&sh->all);
	pthread_barrier_wait(&sh->all);
	if (prepared)
		_exit(1);
	exit(status ? 1 : 0);
}

static struct shared *new_shared(unsigned int n)
{
	pthread_barrierattr_t attr;
	struct shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sh == MAP_FAILED)
		return NULL;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&sh->all, &attr, n + 1);
	pthread_barrierattr_destroy(&attr);
	return sh;
}

static void collect(const struct shared *sh, unsigned int n,
		    struct bench_result *res)
{
	double begin = sh->begin[0], end = 0;

	res->client_cpu = 0;
	for (unsigned int i = 0; i < n; i++) {
		begin = sh->begin[i] < begin ? sh->begin[i] : begin;
		end = sh->end[i] > end ? sh->end[i] : end;
		res->client_cpu += sh->cpu[i];
	}
	res->secs = end - begin;
}

int bench_run(const struct bench *b, unsigned int n,
	      const struct bench_task *task, struct bench_result *res)
{
	struct shared *sh = new_shared(n);
	unsigned long long switches;
	int failed = 0, status;
	double cpu;

	if (!sh)
		return -1;
	fflush(NULL);
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			client(b, task, i, sh);
		if (pid < 0) {
			perror("fork");
			exit(1);
		}
	}
	pthread_barrier_wait(&sh->all);
	switches = bench_iods_switches(b);
	cpu = bench_servers_cpu(b);
	pthread_barrier_wait(&sh->all);
	res->server_cpu = bench_servers_cpu(b) - cpu;
	res->iod_switches = bench_iods_switches(b) - switches;
	pthread_barrier_wait(&sh->all);
	for (unsigned int i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			failed = 1;
	collect(sh, n, res);
	munmap(sh, sizeof(*sh));
	return failed ? -1 : 0;
}
