/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_unit.c - the size of the pieces into which an iod cuts a transfer (figure 12).  Each iod has
 * another unit_size and a file of 32 MiB.  Also measures calls of middle sizes, between one stripe
 * and some units, at the iod with the default unit_size.
 */
#include <math.h>
#include <stdio.h>

#include "tests/bench/pvfs_perf.h"

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

static const struct figure_desc middle[] = {
	[BENCH_WRITE] = { .name = "middle-write",
			  .title = "Writing calls of middle sizes to one iod",
			  .x = "bytes of a call",
			  .y = "MB/s",
			  .log_x = true },
	[BENCH_READ] = { .name = "middle-read",
			 .title = "Reading calls of middle sizes from one iod",
			 .x = "bytes of a call",
			 .y = "MB/s",
			 .log_x = true },
};
static const uint64_t calls[] = { 131072, 262144, 524288, 1048576 };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define USUAL 262144u /* the default unit_size */

static const char *const op_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t, enum bench_io io)
{
	return figure_series(result_figure(run->r, &figures[io]), t->name);
}

/* Goes over the same 32 MiB for a given time.  Returns MB/s, < 0: failed. */
static double rate(struct perf_run *run, const struct perf_target *t,
		   enum bench_io io, unsigned int iod, uint64_t call)
{
	struct bench_io_arg a = { .io = io,
				  .call = call,
				  .share = TRANSFER,
				  .pvfs = true,
				  .pcount = 1,
				  .base = iod };
	struct bench_task task = { bench_io_client, &a };
	struct bench_result res;
	double mb = -1;

	a.done = perf_done_new(1);
	if (!a.done)
		return -1;
	a.secs = run->ms / 1e3;
	if (!bench_run(&t->b, 1, &task, &res))
		mb = (double)a.done->calls * (double)call / 1e6 / a.done->secs;
	perf_done_free(a.done, 1);
	return mb;
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, unsigned int iod)
{
	double mb = rate(run, t, io, iod, TRANSFER);

	if (mb >= 0)
		series_add(series_of(run, t, io), (double)run->units.v[iod],
			   NULL, mb);
	return mb < 0 ? -1 : 0;
}

static int one_middle(struct perf_run *run, const struct perf_target *t,
		      enum bench_io io, uint64_t call)
{
	unsigned int iod = 0;
	double mb;

	while (iod + 1 < run->units.n && run->units.v[iod] < USUAL)
		iod++;
	mb = rate(run, t, io, iod, call);
	if (mb >= 0)
		series_add(figure_series(result_figure(run->r, &middle[io]),
					 t->name),
			   (double)call, NULL, mb);
	return mb < 0 ? -1 : 0;
}

static int round_middle(struct perf_run *run, enum bench_io io)
{
	for (unsigned int c = 0; c < COUNT(calls); c++)
		for (unsigned int i = 0; i < run->ntargets; i++)
			if (one_middle(run, &run->targets[i], io, calls[c]))
				return -1;
	return 0;
}

static int one_round(struct perf_run *run)
{
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (unsigned int u = 0; u < run->units.n; u++)
			for (unsigned int i = 0; i < run->ntargets; i++)
				if (one(run, &run->targets[i],
					(enum bench_io)io, u))
					return -1;
	return round_middle(run, BENCH_WRITE) || round_middle(run, BENCH_READ)
		       ? -1
		       : 0;
}

/* Reports the best size, and compares it with the default of the iods. */
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
