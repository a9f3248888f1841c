/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_mpi.c - what MPI programs see: blocks of 4 MiB beside the same by
 * libpvfs (figure 9), BT-IO's nested strides, tiles (figures 13 and 14).
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "perf_mpi.h"

#define RANKS 4

static const char *const op_names[] = { "read", "write" };

static struct series *series_of(struct perf_run *run,
				const struct figure_desc *d,
				const struct perf_target *t, const char *how)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, %s", t->name, how);
	return figure_series(result_figure(run->r, d), name);
}

/* Each starts processes and compares all data: a few are enough. */
static unsigned int mpi_rounds(const struct perf_run *run)
{
	return run->rounds < 3 ? run->rounds : 3;
}

/* One way of a job into its series at x; a way that is not there adds none. */
static void add(struct perf_run *run, const struct figure_desc *d,
		const struct perf_target *t, struct json_object *o,
		const char *way, const char *how)
{
	for (int write = 1; write >= 0; write--) {
		double rate = mpi_rate(o, write, way);

		if (rate > 0)
			series_add(series_of(run, d, t, how), write,
				   op_names[write], rate);
	}
}

/* ---- blocks ---- */

static const struct figure_desc blocks[] = {
	{ .name = "read",
	  .title = "MPI-IO reads of 4 MiB blocks",
	  .x = "ranks",
	  .y = "MB/s" },
	{ .name = "write",
	  .title = "MPI-IO writes of 4 MiB blocks",
	  .x = "ranks",
	  .y = "MB/s" },
};

static int block_one(struct perf_run *run, const struct perf_target *t,
		     unsigned int n)
{
	static const char *const how[][2] = { { "list", "MPI-IO" },
					      { "native", "libpvfs" } };
	struct mpi_job job = { "block",
			       n,
			       { "-w", "list,native", "-r", "1", "-s", "16" } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	for (int write = 1; write >= 0; write--)
		for (int i = 0; i < 2; i++)
			series_add(series_of(run, &blocks[write], t, how[i][1]),
				   n, NULL, mpi_rate(o, write, how[i][0]));
	json_object_put(o);
	return 0;
}

static void block_judge(struct perf_run *run, const struct perf_target *t,
			int write)
{
	static const struct goal same = { "x", NULL, 0.95, false };
	static const struct goal gain = { "x", "about 3 (ramfs)", 0, false };
	const struct perf_target *tcp = perf_target(run, "tcp");
	uint64_t n = perf_largest(&run->clients);
	struct series *mine = series_of(run, &blocks[write], t, "MPI-IO");

	result_ratio(run->r, &same, mine, (double)n,
		     series_of(run, &blocks[write], t, "libpvfs"), (double)n,
		     "MPI-IO, 4 MiB, %u ranks, %s: MPI-IO / libpvfs: %s",
		     (unsigned int)n, op_names[write], t->name);
	if (tcp && t != tcp)
		result_ratio(run->r, &gain, mine, (double)n,
			     series_of(run, &blocks[write], tcp, "MPI-IO"),
			     (double)n, "MPI-IO, 4 MiB, %u ranks, %s: %s / tcp",
			     (unsigned int)n, op_names[write], t->name);
}

int exp_block(struct perf_run *run)
{
	unsigned int i, c;

	if (!mpi_there(run))
		return 0;
	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (c = 0; c < run->clients.n; c++)
			for (i = 0; i < run->ntargets; i++)
				if (block_one(run, &run->targets[i],
					      (unsigned int)run->clients.v[c]))
					return -1;
	for (i = 0; i < run->ntargets; i++)
		for (int write = 1; write >= 0; write--)
			block_judge(run, &run->targets[i], write);
	return 0;
}

/* ---- BT-IO ---- */

static const struct figure_desc bt = {
	.name = "rate",
	.title = "BT-IO, nested strides, 4 ranks, a cube of 64 cells a side",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

static int btio_one(struct perf_run *run, const struct perf_target *t)
{
	struct mpi_job job = { "bt",
			       RANKS,
			       { "-w", "list,sieving,collective", "-r", "1",
				 "-s", "4" } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	add(run, &bt, t, o, "list", "list");
	add(run, &bt, t, o, "sieving", "sieving");
	add(run, &bt, t, o, "collective", "collective");
	json_object_put(o);
	return 0;
}

int exp_btio(struct perf_run *run)
{
	static const struct goal goal = { "x", NULL, 0, false };
	unsigned int i;

	if (!mpi_there(run))
		return 0;
	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (i = 0; i < run->ntargets; i++)
			if (btio_one(run, &run->targets[i]))
				return -1;
	for (i = 0; i < run->ntargets; i++) {
		const struct perf_target *t = &run->targets[i];

		for (int write = 1; write >= 0; write--)
			result_ratio(run->r, &goal,
				     series_of(run, &bt, t, "list"), write,
				     series_of(run, &bt, t, "sieving"), write,
				     "BT-IO, %s: lists / sieving: %s",
				     op_names[write], t->name);
	}
	return 0;
}

/* ---- tiles ---- */

static const struct figure_desc tiles = {
	.name = "mpi",
	.title = "Tiles of 24-byte elements by MPI-IO",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

static int tile_one(struct perf_run *run, const struct perf_target *t)
{
	struct mpi_job job = { "tile",
			       RANKS,
			       { "-w", "list,pieces", "-r", "1" } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	add(run, &tiles, t, o, "pieces", "no list");
	add(run, &tiles, t, o, "list", "list");
	json_object_put(o);
	return 0;
}

int perf_mpi_tile(struct perf_run *run)
{
	static const struct goal goal[] = { { "x", NULL, 2.7, false },
					    { "x", NULL, 2.2, false } };
	unsigned int i;

	if (!mpi_there(run))
		return 0;
	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (i = 0; i < run->ntargets; i++)
			if (tile_one(run, &run->targets[i]))
				return -1;
	for (i = 0; i < run->ntargets; i++) {
		const struct perf_target *t = &run->targets[i];

		for (int write = 1; write >= 0; write--)
			result_ratio(run->r, &goal[write],
				     series_of(run, &tiles, t, "list"), write,
				     series_of(run, &tiles, t, "no list"),
				     write,
				     "tiles by MPI-IO, %s: with lists / "
				     "without: %s",
				     op_names[write], t->name);
	}
	return 0;
}
