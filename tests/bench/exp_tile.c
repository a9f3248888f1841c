/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_tile.c - the pattern of mpi-tile-io, 24 bytes an element, contiguous in memory, with and
 * without lists (figure 13): by libpvfs, and by MPI-IO if it was built.
 */
#include <stdio.h>
#include <string.h>

#include "tests/bench/perf_mpi.h"
#include "tests/bench/pieces.h"

static const struct figure_desc tiles = {
	.name = "lists",
	.title = "Tiles of 24-byte elements",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

static const struct figure_desc synced = {
	.name = "rate",
	.title =
		"Tiles of 24-byte elements on a disk, with sync=on and sync=off",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

static const char *const op_names[] = { "read", "write" };
static const char *const way_names[] = {
	[PIECES_LIST] = "list",
	[PIECES_SINGLE] = "no list",
};

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t,
				enum pieces_way way)
{
	return perf_series(run, &tiles, t, way_names[way]);
}

static int tile(struct perf_run *run, const struct figure_desc *d,
		const struct perf_target *t, bool write, enum pieces_way way)
{
	struct pieces p = { .way = way, .write = write };
	double secs;

	pieces_tile(&p, 24, false);
	secs = pieces_run(t, &p, PIECES_CLIENTS);
	if (secs < 0)
		return -1;
	series_add(perf_series(run, d, t, way_names[way]), write,
		   op_names[write], pieces_rate(&p, secs));
	return 0;
}

static int one_round(struct perf_run *run, const struct figure_desc *d)
{
	const struct perf_target *t;

	for (int write = 1; write >= 0; write--)
		for (unsigned int i = 0; i < run->ntargets; i++) {
			t = &run->targets[i];
			if (tile(run, d, t, write, PIECES_SINGLE) ||
			    tile(run, d, t, write, PIECES_LIST))
				return -1;
		}
	return 0;
}

static void judge(struct perf_run *run, const struct perf_target *t, int write)
{
	struct goal lists = { "x", NULL, write ? 2.2 : 2.7, false };

	result_ratio(run->r, &lists, series_of(run, t, PIECES_LIST), write,
		     series_of(run, t, PIECES_SINGLE), write,
		     "tiles, %s: with lists / without: %s", op_names[write],
		     t->name);
}

static void across(struct perf_run *run, const struct perf_target *t,
		   enum pieces_way way)
{
	static const char *const paper[][2] = {
		[PIECES_LIST] = { "2.7", "2.2" },
		[PIECES_SINGLE] = { "1.79", "1.93" },
	};
	const struct perf_target *tcp = perf_target(run, "tcp");

	for (int write = 1; tcp && t != tcp && write >= 0; write--) {
		struct goal goal = { "x", paper[way][write], 0, false };

		result_ratio(run->r, &goal, series_of(run, t, way), write,
			     series_of(run, tcp, way), write,
			     "tiles, %s, %s: %s / tcp", op_names[write],
			     way_names[way], t->name);
	}
}

int exp_tile(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run, &tiles))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++) {
		const struct perf_target *t = &run->targets[i];

		for (int write = 1; write >= 0; write--)
			judge(run, t, write);
		across(run, t, PIECES_LIST);
		across(run, t, PIECES_SINGLE);
	}
	return perf_mpi_tile(run);
}

/* ---- sync=on ---- */

/* Compares "tcp:on" with "tcp:off". */
static void judge_sync(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal goal = { "x", NULL, 0, false };
	const size_t len = strcspn(t->name, ":");
	const struct perf_target *off;
	char name[64];

	result_ratio(run->r, &goal,
		     perf_series(run, &synced, t, way_names[PIECES_LIST]), 1,
		     perf_series(run, &synced, t, way_names[PIECES_SINGLE]), 1,
		     "tiles, write: with lists / without: %s", t->name);
	snprintf(name, sizeof(name), "%.*s:off", (int)len, t->name);
	off = perf_target(run, name);
	for (int way = 0; off && off != t && way < 2; way++) {
		const char *how = way_names[way ? PIECES_LIST : PIECES_SINGLE];

		result_ratio(run->r, &goal, perf_series(run, &synced, t, how),
			     1, perf_series(run, &synced, off, how), 1,
			     "tiles, write, %s: %s / %s", how, t->name, name);
	}
}

int exp_sync(struct perf_run *run)
{
	for (unsigned int i = 0; i < mpi_rounds(run); i++)
		if (one_round(run, &synced))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		judge_sync(run, &run->targets[i]);
	return 0;
}
