/* SPDX-License-Identifier: BSD-2-Clause */
/* exp_ends.c - measures lseek(SEEK_END) of one client on a file that another client extends. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>
#include "tests/bench/pvfs_perf.h"

#define PIECE 4096
#define TIMES 16384u /* number of calls that are kept: the last ones */
#define LONGEST (256u << 20) /* bytes; at this size the file begins again */

static const struct figure_desc figure = {
	.name = "ends",
	.title = "SEEK_END while another client writes; median call",
	.x = "operation",
	.y = "us",
	.bars = true,
};

struct ends {
	double secs; /* seconds that the measurement lasts */
	double *us; /* in shared memory: microseconds of each call */
};

static int write_on(int fd, double until)
{
	static char data[PIECE];
	int64_t at = 0;

	for (; bench_now() < until; at = (at + PIECE) % LONGEST)
		if (pvfs_pwrite(fd, data, PIECE, at) != PIECE)
			return -1;
	return 0;
}

/*
 * Returns the median.  If there are as many clients as processors, other processes disturb the
 * mean.
 */
static int ask(int fd, double until, double *us)
{
	static double took[TIMES];
	unsigned int n = 0;
	double since, now = bench_now();

	do {
		since = now;
		if (pvfs_lseek(fd, 0, SEEK_END) < 0)
			return -1;
		now = bench_now();
		took[n++ % TIMES] = now - since;
	} while (now < until);
	*us = bench_median(took, n < TIMES ? n : TIMES) * 1e6;
	return 0;
}

static int client(const struct bench *b, void *arg, unsigned int rank, bool go)
{
	const struct ends *e = arg;
	static int fd = -1;
	char path[4096];
	double until;

	if (!go) {
		snprintf(path, sizeof(path), "%s/perf-ends", b->dir);
		fd = pvfs_open(path, O_CREAT | O_RDWR, 0644);
		if (fd < 0)
			perror(path);
		return fd < 0;
	}
	until = bench_now() + e->secs;
	return (rank ? write_on(fd, until) : ask(fd, until, e->us)) != 0;
}

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t)
{
	return figure_series(result_figure(run->r, &figure), t->name);
}

static int one(struct perf_run *run, const struct perf_target *t)
{
	struct bench_io_done *done = perf_done_new(1);
	struct ends e = { .secs = run->ms / 1e3 };
	struct bench_task task = { client, &e };
	struct bench_result res;
	int rc;

	if (!done)
		return -1;
	e.us = &done->median;
	rc = bench_run(&t->b, 2, &task, &res);
	if (!rc)
		series_add(series_of(run, t), 0, "SEEK_END", done->median);
	perf_done_free(done, 1);
	return rc;
}

int exp_ends(struct perf_run *run)
{
	struct goal goal = { "us", NULL, 0, true };
	unsigned int i, k;

	for (i = 0; i < run->rounds; i++)
		for (k = 0; k < run->ntargets; k++)
			if (one(run, &run->targets[k]))
				return -1;
	for (k = 0; k < run->ntargets; k++) {
		const struct perf_target *t = &run->targets[k];

		goal.limit = strcmp(t->name, "local") ? 0 : 3;
		result_value(run->r, &goal, series_median(series_of(run, t), 0),
			     "SEEK_END while another client writes: %s",
			     t->name);
	}
	return 0;
}
