/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_latency.c - the latency of 4 KiB calls of one client: in sequence, so that client and server
 * stay awake, and with pauses, in which both go to sleep.
 */
#include <stdio.h>
#include <string.h>

#include "tests/bench/pvfs_perf.h"

#define SIZE 4096
#define PAUSE 0.002
#define WAKE_MS 600 /* ms, enough for 300 calls with pauses */

static const struct figure_desc awake = {
	.name = "awake",
	.title = "4 KiB calls, both sides awake; median call",
	.x = "operation",
	.y = "us",
	.bars = true,
};
static const struct figure_desc asleep = {
	.name = "asleep",
	.title = "4 KiB calls, 2 ms apart; median call",
	.x = "operation",
	.y = "us",
	.bars = true,
};

static const char *const op_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};

static struct series *series_of(struct perf_run *run,
				const struct figure_desc *d, const char *name)
{
	return figure_series(result_figure(run->r, d), name);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, bool sleeps)
{
	/* one iod: with several, each would sleep until its turn */
	struct bench_io_arg a = {
		.io = io, .call = SIZE, .random = true, .pcount = 1
	};
	const struct figure_desc *d = sleeps ? &asleep : &awake;
	struct bench_result res;
	int rc;

	a.done = perf_done_new(1);
	if (!a.done)
		return -1;
	a.secs = (sleeps ? WAKE_MS : run->ms) / 1e3;
	a.pause = sleeps ? PAUSE : 0;
	rc = perf_io(run, t, &a, 1, &res);
	if (!rc)
		series_add(series_of(run, d, t->name), io, op_names[io],
			   a.done->median * 1e6);
	perf_done_free(a.done, 1);
	return rc;
}

static int base(struct perf_run *run, const struct figure_desc *d, double pause,
		unsigned int n)
{
	double secs = bench_eventfd(pause, n);

	if (secs < 0)
		return -1;
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		series_add(series_of(run, d, "eventfd round trip"), io,
			   op_names[io], secs * 1e6);
	return 0;
}

static int one_round(struct perf_run *run)
{
	if (base(run, &awake, 0, 5000) || base(run, &asleep, PAUSE, 200))
		return -1;
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (unsigned int i = 0; i < run->ntargets; i++)
			if (one(run, &run->targets[i], (enum bench_io)io,
				false) ||
			    one(run, &run->targets[i], (enum bench_io)io, true))
				return -1;
	return 0;
}

static void judge(struct perf_run *run, const struct perf_target *t,
		  enum bench_io io)
{
	bool here = !strcmp(t->name, "local");
	struct goal quick = { "us", NULL, here ? 12 : 0, true };
	struct goal woken = { "us", NULL, here ? 10 : 0, true };
	double wake = series_median(
		series_of(run, &asleep, "eventfd round trip"), io);

	result_value(run->r, &quick,
		     series_median(series_of(run, &awake, t->name), io),
		     "4 KiB %s, awake: %s", op_names[io], t->name);
	result_value(run->r, &woken,
		     series_median(series_of(run, &asleep, t->name), io) - wake,
		     "4 KiB %s, asleep, above an eventfd round trip: %s",
		     op_names[io], t->name);
}

int exp_latency(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
			judge(run, &run->targets[i], (enum bench_io)io);
	return 0;
}
