/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_unit.c - the size of the pieces that an iod cuts a transfer into (figure
 * 12): a file of 32 MiB on each iod, every iod with another unit_size.
 */
#include <math.h>
#include <stdio.h>

#include "pvfs_perf.h"

#define TRANSFER (32u << 20)

static const struct figure_desc figures[] = {
	[BENCH_WRITE] = { .name = "write",
			  .title = "Writing 32 MiB to one iod",
			  .x = "transfer unit",
			  .y = "MB/s",
			  .log_x = true },
	[BENCH_READ] = { .name = "read",
			 .title = "Reading 32 MiB from one iod",
			 .x = "transfer unit",
			 .y = "MB/s",
			 .log_x = true },
};

static const char *const op_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t, enum bench_io io)
{
	return figure_series(result_figure(run->r, &figures[io]), t->name);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, unsigned int iod)
{
	struct bench_io_arg a = { .io = io,
				  .call = TRANSFER,
				  .share = TRANSFER,
				  .pvfs = true,
				  .pcount = 1,
				  .base = iod };
	struct bench_task task = { bench_io_client, &a };
	struct bench_result res;
	int rc;

	a.done = perf_done_new(1);
	if (!a.done)
		return -1;
	a.secs = run->ms / 1e3;
	rc = bench_run(&t->b, 1, &task, &res);
	if (!rc)
		series_add(series_of(run, t, io), (double)run->units.v[iod],
			   NULL,
			   (double)a.done->calls * TRANSFER / 1e6 /
				   a.done->secs);
	perf_done_free(a.done, 1);
	return rc;
}

static int one_round(struct perf_run *run)
{
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (unsigned int u = 0; u < run->units.n; u++)
			for (unsigned int i = 0; i < run->ntargets; i++)
				if (one(run, &run->targets[i],
					(enum bench_io)io, u))
					return -1;
	return 0;
}

/* Ours is what the iods do without a setting. */
static void judge(struct perf_run *run, const struct perf_target *t,
		  enum bench_io io)
{
	static const struct goal goal = { "x", NULL, 0, false };
	static const struct goal paper = {
		"KiB",
		"anything below 2 MiB does; slightly less when very small", 0,
		false
	};
	const struct series *s = series_of(run, t, io);
	double best = run->units.v[0];

	for (unsigned int u = 1; u < run->units.n; u++)
		if (series_median(s, (double)run->units.v[u]) >
		    series_median(s, best))
			best = (double)run->units.v[u];
	result_value(run->r, &paper, best / 1024, "best unit, %s: %s",
		     op_names[io], t->name);
	result_ratio(run->r, &goal, s, 262144, s, best,
		     "%s, a unit of 256 KiB / the best: %s", op_names[io],
		     t->name);
}

int exp_unit(struct perf_run *run)
{
	if (!run->units.n) {
		fprintf(stderr, "pvfs-perf: unit needs the unit_size of each "
				"iod: --units 64K,...\n");
		return -1;
	}
	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
			judge(run, &run->targets[i], (enum bench_io)io);
	return 0;
}
