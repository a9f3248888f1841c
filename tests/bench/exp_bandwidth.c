/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_bandwidth.c - concurrent reads and overwrites (figures 7 and 8).  Each client moves its own
 * region of a file in large calls.  The number of iods varies.
 */
#include <stdio.h>

#include "tests/bench/pvfs_perf.h"

static const struct figure_desc figures[] = {
	[BENCH_WRITE] = { .name = "write",
			  .title = "Concurrent writes (over what exists)",
			  .x = "clients",
			  .y = "MB/s" },
	[BENCH_READ] = { .name = "read",
			 .title = "Concurrent reads",
			 .x = "clients",
			 .y = "MB/s" },
};

static const char *const op_names[] = {
	[BENCH_WRITE] = "write over", [BENCH_READ] = "read"
};

static void series_name(char *name, size_t len, const struct perf_target *t,
			uint64_t iods)
{
	snprintf(name, len, "%s, %u iod%s", t->name, (unsigned int)iods,
		 iods > 1 ? "s" : "");
}

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t, enum bench_io io,
				uint64_t iods)
{
	char name[64];

	series_name(name, sizeof(name), t, iods);
	return figure_series(result_figure(run->r, &figures[io]), name);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, uint64_t iods, uint64_t clients)
{
	struct bench_io_arg a = { .io = io,
				  .call = run->call,
				  .pcount = (unsigned int)iods };
	struct bench_result res;
	double mb;

	if (perf_io(run, t, &a, (unsigned int)clients, &res))
		return -1;
	mb = (double)a.share * (double)clients / 1e6;
	series_add(series_of(run, t, io, iods), (double)clients, NULL,
		   mb / res.secs);
	return 0;
}

/*
 * Measures all file systems one after the other, so that the ratios of a round are of neighbouring
 * measurements.
 */
static int all_targets(struct perf_run *run, enum bench_io io, uint64_t iods,
		       uint64_t clients)
{
	for (unsigned int i = 0; i < run->ntargets; i++)
		if (one(run, &run->targets[i], io, iods, clients))
			return -1;
	return 0;
}

static int one_round(struct perf_run *run)
{
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (unsigned int s = 0; s < run->iods.n; s++)
			for (unsigned int c = 0; c < run->clients.n; c++)
				if (all_targets(run, (enum bench_io)io,
						run->iods.v[s],
						run->clients.v[c]))
					return -1;
	return 0;
}

static void compare(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal goal = { "x", "3", 3, false };
	const struct perf_target *tcp = perf_target(run, "tcp");
	uint64_t clients = perf_largest(&run->clients);
	uint64_t iods = perf_largest(&run->iods);

	if (!tcp || t == tcp)
		return;
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		result_ratio(run->r, &goal,
			     series_of(run, t, (enum bench_io)io, iods),
			     (double)clients,
			     series_of(run, tcp, (enum bench_io)io, iods),
			     (double)clients,
			     "%s, %u clients, %u iods: %s / tcp", op_names[io],
			     (unsigned int)clients, (unsigned int)iods,
			     t->name);
}

static void scaling(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal goal = { "x", "about 4 (VAPI, reads)", 0,
					  false };
	uint64_t iods = perf_largest(&run->iods);
	double n = (double)perf_largest(&run->clients);

	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		result_ratio(run->r, &goal,
			     series_of(run, t, (enum bench_io)io, iods), n,
			     series_of(run, t, (enum bench_io)io,
				       run->iods.v[0]),
			     n, "%s, %s: %u iods / %u", op_names[io], t->name,
			     (unsigned int)iods, (unsigned int)run->iods.v[0]);
}

int exp_bandwidth(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		compare(run, &run->targets[i]);
	for (unsigned int i = 0; i < run->ntargets; i++)
		scaling(run, &run->targets[i]);
	return 0;
}
