/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_bt.c - BT-IO of the NAS benchmarks: its nested strided accesses alone, and the time that they
 * add to a program that computes.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/perf_mpi.h"

#define RANKS 4

static const char *const op_names[] = { "read", "write" };

/*
 * Adds the result of a job with one kind of access to its series, at x.  Adds nothing if the job
 * did not measure this kind.
 */
static void add(struct perf_run *run, const struct figure_desc *d,
		const struct perf_target *t, struct json_object *o,
		const char *way, const char *how)
{
	for (int write = 1; write >= 0; write--) {
		double rate = mpi_rate(o, write, way);

		if (rate > 0)
			series_add(perf_series(run, d, t, how), write,
				   op_names[write], rate);
	}
}

/* ---- BT-IO's accesses without the computation ---- */

static const struct figure_desc bt = {
	.name = "rate",
	.title = "BT-IO, nested strides, 4 ranks, a cube of 64 cells a side",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

/* Compares lists over t with lists over tcp. */
static void btio_across(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal goal = { "x", "2.5 in time (Elan4)", 0,
					  false };
	const struct perf_target *tcp = perf_target(run, "tcp");

	for (int write = 1; tcp && t != tcp && write >= 0; write--)
		result_ratio(run->r, &goal, perf_series(run, &bt, t, "list"),
			     write, perf_series(run, &bt, tcp, "list"), write,
			     "BT-IO, %s, lists: %s / tcp", op_names[write],
			     t->name);
}

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

static int accesses(struct perf_run *run)
{
	static const struct goal goal = { "x", NULL, 0, false };
	unsigned int i;

	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (i = 0; i < run->ntargets; i++)
			if (btio_one(run, &run->targets[i]))
				return -1;
	for (i = 0; i < run->ntargets; i++) {
		const struct perf_target *t = &run->targets[i];

		for (int write = 1; write >= 0; write--)
			result_ratio(run->r, &goal,
				     perf_series(run, &bt, t, "list"), write,
				     perf_series(run, &bt, t, "sieving"), write,
				     "BT-IO, %s: lists / sieving: %s",
				     op_names[write], t->name);
		btio_across(run, t);
	}
	return 0;
}

/* ---- BT-IO with its computation ---- */

static const struct figure_desc whole = {
	.name = "whole",
	.title =
		"BT with its computing: nothing written, by lists, collectively",
	.x = "class, outputs of 40",
	.y = "s",
	.bars = true,
};

/* The sizes of the program.  It writes every fifth time step. */
static const struct size {
	const char *grid, *outputs, *label;
	bool quick;
} sizes[] = {
	{ "24", "40", "W, 40", false },
	{ "64", "8", "A, 8", false },
	{ "24", "4", "W, 4", true },
	{ "64", "1", "A, 1", true },
};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const char *const computing[] = { "none", "list", "collective" };

static bool wanted(const struct perf_run *run, const struct size *s)
{
	return s->quick == (run->rounds == 1);
}

static struct series *whole_of(struct perf_run *run,
			       const struct perf_target *t, int way)
{
	return perf_series(run, &whole, t, computing[way]);
}

static int compute_one(struct perf_run *run, const struct perf_target *t,
		       unsigned int k)
{
	struct mpi_job job = { "bt",
			       RANKS,
			       { "-w", "none,list,collective", "-r", "1", "-k",
				 "5", "-g", sizes[k].grid, "-s",
				 sizes[k].outputs } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	for (int way = 0; way < 3; way++)
		series_add(whole_of(run, t, way), k, sizes[k].label,
			   mpi_seconds(o, true, computing[way]));
	json_object_put(o);
	return 0;
}

static void extra(struct perf_run *run, const struct perf_target *t,
		  unsigned int k)
{
	const bool paper = !strcmp(sizes[k].grid, "64");
	const struct goal goal = {
		"s", paper ? "40 outputs: 2.12 (Elan4), 5.38 (TCP)" : NULL, 0,
		true
	};
	double alone = series_median(whole_of(run, t, 0), k);

	for (int way = 1; way < 3; way++)
		result_value(
			run->r, &goal,
			series_median(whole_of(run, t, way), k) - alone,
			"BT-IO, class %s of 40 outputs, extra for I/O, %s: %s",
			sizes[k].label, computing[way], t->name);
}

static int with_computing(struct perf_run *run)
{
	unsigned int i, j, k;

	for (k = 0; k < SIZES; k++) {
		if (!wanted(run, &sizes[k]))
			continue;
		for (j = 0; j < mpi_rounds(run); j++)
			for (i = 0; i < run->ntargets; i++)
				if (compute_one(run, &run->targets[i], k))
					return -1;
		for (i = 0; i < run->ntargets; i++)
			extra(run, &run->targets[i], k);
	}
	return 0;
}

int exp_btio(struct perf_run *run)
{
	if (!mpi_there(run))
		return 0;
	return accesses(run) ? -1 : with_computing(run);
}
