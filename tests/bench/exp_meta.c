/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_meta.c - collective operations of MPI-IO by the number of ranks: open with create, set_size,
 * close, and open.  PVFS2 was measured in this way over Quadrics (table 3 there).
 */
#include <json-c/json.h>

#include "tests/bench/perf_mpi.h"

static const struct step {
	const char *name; /* the name that mpi_bench uses */
	const char *paper; /* the paper's result, in us with four clients */
} steps[] = {
	{ "create", "28,710 (Elan4), 28,892 (TCP)" },
	{ "set_size", "180 (Elan4), 274 (TCP)" },
	{ "open", NULL },
	{ "close", NULL },
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

static struct series *series_of(struct perf_run *run, const char *step,
				const struct perf_target *t)
{
	struct figure_desc d = {
		.name = step, .title = step, .x = "ranks", .y = "us"
	};

	return figure_series(result_figure(run->r, &d), t->name);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       unsigned int ranks)
{
	struct mpi_job job = { "meta", ranks, { "-n", "20" } };
	struct json_object *o = mpi_run(run, t, &job), *us;

	if (!o)
		return -1;
	for (unsigned int i = 0; i < STEPS; i++)
		if (json_object_object_get_ex(o, steps[i].name, &us))
			series_add(series_of(run, steps[i].name, t), ranks,
				   NULL, json_object_get_double(us));
	json_object_put(o);
	return 0;
}

static void judge(struct perf_run *run, const struct perf_target *t)
{
	uint64_t n = perf_largest(&run->clients);

	for (unsigned int i = 0; i < STEPS; i++) {
		struct goal goal = { "us", steps[i].paper, 0, true };

		result_value(run->r, &goal,
			     series_median(series_of(run, steps[i].name, t),
					   (double)n),
			     "collective %s, %u ranks: %s", steps[i].name,
			     (unsigned int)n, t->name);
	}
}

int exp_meta(struct perf_run *run)
{
	if (!mpi_there(run))
		return 0;
	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (unsigned int c = 0; c < run->clients.n; c++)
			for (unsigned int i = 0; i < run->ntargets; i++)
				if (one(run, &run->targets[i],
					(unsigned int)run->clients.v[c]))
					return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		judge(run, &run->targets[i]);
	return 0;
}
