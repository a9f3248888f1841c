/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_fair.c - more clients than processors, for a given time: compares the bytes of the slowest
 * client with those of the fastest.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/pvfs_perf.h"

#define CLIENTS 8
/* ms; in a shorter time, the scheduler determines the result */
#define MS_MIN 1000

static const struct figure_desc figures[] = {
	[BENCH_WRITE] = { .name = "write",
			  .title = "Eight clients write at once",
			  .x = "client, slowest first",
			  .y = "MB/s" },
	[BENCH_READ] = { .name = "read",
			 .title = "Eight clients read at once",
			 .x = "client, slowest first",
			 .y = "MB/s" },
};

static const struct figure_desc shares = {
	.name = "share",
	.title = "Slowest client / fastest client",
	.x = "operation",
	.y = "ratio",
	.bars = true,
};

static const char *const op_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};

static void add(struct perf_run *run, const struct perf_target *t,
		enum bench_io io, const struct bench_io_done *done,
		uint64_t call, double secs)
{
	struct series *s = figure_series(result_figure(run->r, &figures[io]),
					 t->name);
	double rate[CLIENTS];

	for (int i = 0; i < CLIENTS; i++)
		rate[i] = (double)done[i].calls * (double)call / secs / 1e6;
	bench_median(rate, CLIENTS); /* called because it sorts the rates */
	for (int i = 0; i < CLIENTS; i++)
		series_add(s, i + 1, NULL, rate[i]);
	series_add(figure_series(result_figure(run->r, &shares), t->name), io,
		   op_names[io], rate[0] / rate[CLIENTS - 1]);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io)
{
	struct bench_io_arg a = { .io = io, .call = 1u << 20 };
	struct bench_result res;
	int rc;

	a.done = perf_done_new(CLIENTS);
	if (!a.done)
		return -1;
	a.secs = fmax(run->ms, MS_MIN) / 1e3;
	rc = perf_io(run, t, &a, CLIENTS, &res);
	if (!rc)
		add(run, t, io, a.done, a.call, a.secs);
	perf_done_free(a.done, CLIENTS);
	return rc;
}

int exp_fair(struct perf_run *run)
{
	struct goal goal = { "x", NULL, 0.5, false };
	unsigned int i;

	for (unsigned int k = 0; k < run->rounds; k++)
		for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
			for (i = 0; i < run->ntargets; i++)
				if (one(run, &run->targets[i],
					(enum bench_io)io))
					return -1;
	for (i = 0; i < run->ntargets; i++) {
		const struct series *s = figure_series(
			result_figure(run->r, &shares), run->targets[i].name);

		for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
			result_value(run->r, &goal, series_median(s, io),
				     "%u clients, %s: slowest / fastest: %s",
				     CLIENTS, op_names[io],
				     run->targets[i].name);
	}
	return 0;
}
