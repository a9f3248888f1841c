/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_segments.c - four ranks write and read segments of one shared file in turn by MPI-IO,
 * compared with MPICH's own MPI-IO on a file system in memory.  Also compares the shared file
 * pointer with a pointer under a lock.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/perf_mpi.h"

#define RANKS 4
#define STEPS_MAX 8192u /* maximum number of steps of a rank */
#define RECORDS "500"

static const char *const op_names[] = { "read", "write" };

/* ---- segments ---- */

static const uint64_t sizes[] = { 4096, 47008, 262144, 1048576 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const struct figure_desc figures[] = {
	{ .name = "read",
	  .title = "Four ranks read segments of one file by MPI-IO",
	  .x = "bytes of a segment",
	  .y = "MB/s",
	  .log_x = true },
	{ .name = "write",
	  .title = "Four ranks write segments of one file by MPI-IO",
	  .x = "bytes of a segment",
	  .y = "MB/s",
	  .log_x = true },
};

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t, int write)
{
	return figure_series(result_figure(run->r, &figures[write]),
			     t ? t->name : "MPICH, plain file");
}

static int one(struct perf_run *run, const struct perf_target *t, uint64_t size)
{
	uint64_t steps = run->bytes / RANKS / size;
	char block[24], times[24];
	struct mpi_job job = { "block",
			       RANKS,
			       { "-c", "-w", "pieces", "-r",
				 mpi_often(run, "3"), "-b", block, "-s",
				 times } };
	struct json_object *o;

	if (steps < 1 || steps > STEPS_MAX)
		steps = steps ? STEPS_MAX : 1;
	snprintf(block, sizeof(block), "%llu", (unsigned long long)size);
	snprintf(times, sizeof(times), "%llu", (unsigned long long)steps);
	o = mpi_run(run, t, &job);
	if (!o)
		return -1;
	for (int write = 1; write >= 0; write--)
		series_add(series_of(run, t, write), (double)size, NULL,
			   mpi_rate(o, write, "pieces"));
	json_object_put(o);
	return 0;
}

/*
 * Measures MPICH's own MPI-IO first, so that the ratios of a round are of neighbouring
 * measurements.
 */
static int one_round(struct perf_run *run)
{
	for (unsigned int i = 0; i < SIZES; i++) {
		if (run->local && one(run, NULL, sizes[i]))
			return -1;
		for (unsigned int k = 0; k < run->ntargets; k++)
			if (one(run, &run->targets[k], sizes[i]))
				return -1;
	}
	return 0;
}

static void judge(struct perf_run *run, const struct perf_target *t)
{
	const struct goal goal = { "x", NULL,
				   strcmp(t->name, "local") ? 0 : 0.6, false };

	for (int write = 1; write >= 0; write--)
		for (unsigned int i = 0; i < SIZES; i++)
			result_ratio(run->r, &goal, series_of(run, t, write),
				     (double)sizes[i],
				     series_of(run, NULL, write),
				     (double)sizes[i],
				     "segments of %llu, %s: %s / MPICH on a "
				     "plain file",
				     (unsigned long long)sizes[i],
				     op_names[write], t->name);
}

/* ---- the shared pointer ---- */

static const struct figure_desc pointer = {
	.name = "pointer",
	.title = "Four ranks, one by one by a shared file pointer",
	.x = "operation",
	.y = "accesses a second",
	.bars = true,
};

static const char *const ways[][2] = { { "lock", "under a lock" },
				       { "counter", "shared pointer" } };

static int pointer_one(struct perf_run *run, const struct perf_target *t)
{
	struct mpi_job job = { "pointer",
			       RANKS,
			       { "-r", mpi_often(run, "5"), "-s",
				 run->rounds > 1 ? RECORDS : "20" } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	for (int write = 1; write >= 0; write--)
		for (int i = 0; i < 2; i++)
			series_add(perf_series(run, &pointer, t, ways[i][1]),
				   write, op_names[write],
				   mpi_accesses(o, write, ways[i][0]));
	json_object_put(o);
	return 0;
}

/* Compares with a pointer under a lock, which was the implementation before counters. */
static void pointer_judge(struct perf_run *run, const struct perf_target *t)
{
	const struct goal goal = { "x", NULL, strcmp(t->name, "local") ? 0 : 10,
				   false };

	for (int write = 1; write >= 0; write--)
		result_ratio(run->r, &goal,
			     perf_series(run, &pointer, t, ways[1][1]), write,
			     perf_series(run, &pointer, t, ways[0][1]), write,
			     "shared file pointer, 4 ranks, %s: counter / "
			     "lock: %s",
			     op_names[write], t->name);
}

int exp_segments(struct perf_run *run)
{
	unsigned int i, k;

	if (!mpi_there(run))
		return 0;
	for (k = 0; k < mpi_rounds(run); k++) {
		if (one_round(run))
			return -1;
		for (i = 0; i < run->ntargets; i++)
			if (pointer_one(run, &run->targets[i]))
				return -1;
	}
	if (!run->local)
		result_missing(run->r, "plain file",
			       "no --local DIR to compare with");
	for (i = 0; i < run->ntargets; i++) {
		judge(run, &run->targets[i]);
		pointer_judge(run, &run->targets[i]);
	}
	return 0;
}
