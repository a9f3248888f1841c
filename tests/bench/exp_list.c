/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_list.c - compares small pieces by list I/O with one call for each piece, and large pieces
 * with a contiguous transfer.
 */
#include <stdio.h>
#include <string.h>

#include "tests/bench/pieces.h"

static const struct figure_desc small = {
	.name = "small",
	.title = "Pieces of 128 bytes, 1 KiB apart",
	.x = "operation",
	.y = "us a piece",
	.bars = true,
};
static const struct figure_desc large = {
	.name = "large",
	.title = "Pieces of 64 KiB, 192 KiB apart, and as much in one piece",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

static const char *const op_names[] = { "read", "write" };

static int small_one(struct perf_run *run, const struct perf_target *t,
		     bool write, bool list)
{
	struct pieces p = { .file = "perf-small",
			    .n = list ? PIECES_MAX : 1024,
			    .len = 128,
			    .stride = 1024,
			    .mem_stride = 128,
			    .way = list ? PIECES_LIST : PIECES_SINGLE,
			    .write = write };
	double secs = pieces_run(t, &p, 1);

	if (secs < 0)
		return -1;
	series_add(perf_series(run, &small, t, list ? "list" : "one by one"),
		   write, op_names[write], secs / p.n * 1e6);
	return 0;
}

static int large_one(struct perf_run *run, const struct perf_target *t,
		     bool write, bool list)
{
	struct pieces p = {
		.file = "perf-large",
		.n = 512,
		.len = 65536,
		/* three stripes, so that every iod stores some pieces */
		.stride = 196608,
		.mem_stride = 65536,
		.way = list ? PIECES_LIST : PIECES_WHOLE,
		.write = write,
		/* one pass takes 5 ms, and sometimes half as long again */
		.times = 24
	};
	double secs = pieces_run(t, &p, 1);

	if (secs < 0)
		return -1;
	series_add(perf_series(run, &large, t, list ? "list" : "contiguous"),
		   write, op_names[write],
		   (double)p.n * (double)p.len / secs / 1e6);
	return 0;
}

static int both_ways(struct perf_run *run, const struct perf_target *t,
		     bool write, bool odd)
{
	for (int i = 0; i < 2; i++) {
		/* lists and single calls alternate in being first */
		bool list = i != odd;

		if (small_one(run, t, write, list) ||
		    large_one(run, t, write, list))
			return -1;
	}
	return 0;
}

static int one_round(struct perf_run *run, bool odd)
{
	for (int write = 1; write >= 0; write--)
		for (unsigned int i = 0; i < run->ntargets; i++)
			if (both_ways(run, &run->targets[i], write, odd))
				return -1;
	return 0;
}

static double piece_goal(const struct perf_target *t)
{
	if (!strcmp(t->name, "local"))
		return 1;
	return strcmp(t->name, "tcp") ? 0 : 2;
}

static void judge(struct perf_run *run, const struct perf_target *t, int write)
{
	struct goal piece = { "us", NULL, piece_goal(t), true };
	static const struct goal faster = { "x", NULL, 0, false };
	static const struct goal equal = { "x", NULL, 1, false };
	struct series *list = perf_series(run, &small, t, "list");

	result_value(run->r, &piece, series_median(list, write),
		     "a piece of 128 bytes, %s: %s", op_names[write], t->name);
	result_ratio(run->r, &faster, perf_series(run, &small, t, "one by one"),
		     write, list, write, "128 bytes, %s: one by one / list: %s",
		     op_names[write], t->name);
	result_ratio(run->r, &equal, perf_series(run, &large, t, "list"), write,
		     perf_series(run, &large, t, "contiguous"), write,
		     "64 KiB, %s: list / contiguous rate: %s", op_names[write],
		     t->name);
}

int exp_list(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run, i % 2))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		for (int write = 1; write >= 0; write--)
			judge(run, &run->targets[i], write);
	return 0;
}
