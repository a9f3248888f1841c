/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_hints.c - tiles of 64-byte elements that are parts of larger arrays in memory, with and
 * without allocation hints (figure 14), and the cost of registering that memory.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "tests/bench/pieces.h"

static const struct figure_desc rates = {
	.name = "rate",
	.title = "Tiles of 64-byte elements, in memory as well",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};
static const struct figure_desc registrations = {
	.name = "registrations",
	.title = "Registrations of a client for its tile",
	.x = "operation",
	.y = "registrations",
	.bars = true,
};

static const char *const op_names[] = { "read", "write" };
static const char *const way_names[] = {
	[PIECES_HINTS] = "hints",
	[PIECES_ALONE] = "no hints",
};

static struct series *series_of(struct perf_run *run,
				const struct figure_desc *d,
				const struct perf_target *t,
				enum pieces_way way)
{
	return perf_series(run, d, t, way_names[way]);
}

static int tile(struct perf_run *run, const struct perf_target *t, bool write,
		enum pieces_way way, struct pieces_count *count)
{
	struct pieces p = { .way = way, .write = write, .count = count };
	double secs;

	pieces_tile(&p, 64, true);
	secs = pieces_run(t, &p, PIECES_CLIENTS);
	if (secs < 0)
		return -1;
	series_add(series_of(run, &rates, t, way), write, op_names[write],
		   pieces_rate(&p, secs));
	series_add(series_of(run, &registrations, t, way), write,
		   op_names[write], (double)count->registrations);
	return 0;
}

static int one_round(struct perf_run *run, struct pieces_count *count)
{
	for (int write = 1; write >= 0; write--)
		for (unsigned int i = 0; i < run->ntargets; i++)
			if (tile(run, &run->targets[i], write, PIECES_ALONE,
				 count) ||
			    tile(run, &run->targets[i], write, PIECES_HINTS,
				 count))
				return -1;
	return 0;
}

static void judge(struct perf_run *run, const struct perf_target *t, int write)
{
	struct goal time = { "x", write ? "1.71" : "1.85", 0, false };
	struct goal count = { "registrations", "6 instead of 768", 6, true };

	result_ratio(run->r, &time, series_of(run, &rates, t, PIECES_HINTS),
		     write, series_of(run, &rates, t, PIECES_ALONE), write,
		     "tiles in memory, %s: with hints / without: %s",
		     op_names[write], t->name);
	result_value(run->r, &count,
		     series_median(series_of(run, &registrations, t,
					     PIECES_HINTS),
				   write),
		     "tiles in memory, %s, with hints: %s", op_names[write],
		     t->name);
}

int exp_hints(struct perf_run *run)
{
	struct pieces_count *count = mmap(NULL, sizeof(*count),
					  PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc = count == MAP_FAILED ? -1 : 0;

	for (unsigned int i = 0; i < run->rounds && !rc; i++)
		rc = one_round(run, count);
	if (rc)
		return rc;
	munmap(count, sizeof(*count));
	for (unsigned int i = 0; i < run->ntargets; i++)
		for (int write = 1; write >= 0; write--)
			judge(run, &run->targets[i], write);
	return 0;
}
