/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_mpi.c - MPI programs: blocks of 4 MiB compared with libpvfs (figure 9), and tiles (figures 13
 * and 14).
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/perf_mpi.h"

#define RANKS 4

static const char *const op_names[] = { "read", "write" };

/* ---- blocks ---- */

/* The kind of store of the iods: in memory, or on a disk, where writes are flushed. */
struct place {
	struct figure_desc figures[2]; /* read, write */
	const char *flush; /* option of mpi_bench, or NULL */
	const char *name;
	double same; /* goal for the ratio of MPI-IO to libpvfs; 0: no goal */
	const char *gain; /* the gain that the paper reports */
};

static const struct place in_memory = {
	.figures = { { .name = "read",
		       .title = "MPI-IO reads of 4 MiB blocks",
		       .x = "ranks",
		       .y = "MB/s" },
		     { .name = "write",
		       .title = "MPI-IO writes of 4 MiB blocks",
		       .x = "ranks",
		       .y = "MB/s" } },
	.name = "MPI-IO",
	.same = 0.95,
	.gain = "about 3 (ramfs)",
};

static const struct place on_disk = {
	.figures = { { .name = "read",
		       .title = "MPI-IO reads of 4 MiB blocks from a store on a "
				"disk, just written",
		       .x = "ranks",
		       .y = "MB/s" },
		     { .name = "write",
		       .title = "MPI-IO writes of 4 MiB blocks until they are on "
				"the disk",
		       .x = "ranks",
		       .y = "MB/s" } },
	.flush = "-y",
	.name = "MPI-IO, disk",
	.gain = "1.15 to 1.42 (ext3)",
};

static int block_one(struct perf_run *run, const struct perf_target *t,
		     const struct place *p, unsigned int n)
{
	static const char *const how[][2] = { { "list", "MPI-IO" },
					      { "native", "libpvfs" } };
	struct mpi_job job = { "block",
			       n,
			       { "-w", "list,native", "-r",
				 run->rounds == 1 ? "3" : "9", "-s", "8",
				 p->flush } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	for (int write = 1; write >= 0; write--)
		for (int i = 0; i < 2; i++)
			series_add(perf_series(run, &p->figures[write], t,
					       how[i][1]),
				   n, NULL, mpi_rate(o, write, how[i][0]));
	json_object_put(o);
	return 0;
}

static void block_judge(struct perf_run *run, const struct perf_target *t,
			const struct place *p, int write)
{
	const struct goal same = { "x", NULL, p->same, false };
	const struct goal gain = { "x", p->gain, 0, false };
	const struct figure_desc *d = &p->figures[write];
	const struct perf_target *tcp = perf_target(run, "tcp");
	uint64_t n = perf_largest(&run->clients);
	struct series *mine = perf_series(run, d, t, "MPI-IO");

	result_ratio(run->r, &same, mine, (double)n,
		     perf_series(run, d, t, "libpvfs"), (double)n,
		     "%s, 4 MiB, %u ranks, %s: MPI-IO / libpvfs: %s", p->name,
		     (unsigned int)n, op_names[write], t->name);
	if (tcp && t != tcp)
		result_ratio(run->r, &gain, mine, (double)n,
			     perf_series(run, d, tcp, "MPI-IO"), (double)n,
			     "%s, 4 MiB, %u ranks, %s: %s / tcp", p->name,
			     (unsigned int)n, op_names[write], t->name);
}

static int blocks(struct perf_run *run, const struct place *p)
{
	unsigned int i, c;

	if (!mpi_there(run))
		return 0;
	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (c = 0; c < run->clients.n; c++)
			for (i = 0; i < run->ntargets; i++)
				if (block_one(run, &run->targets[i], p,
					      (unsigned int)run->clients.v[c]))
					return -1;
	for (i = 0; i < run->ntargets; i++)
		for (int write = 1; write >= 0; write--)
			block_judge(run, &run->targets[i], p, write);
	return 0;
}

int exp_block(struct perf_run *run)
{
	return blocks(run, &in_memory);
}

int exp_disk(struct perf_run *run)
{
	return blocks(run, &on_disk);
}

/* ---- tiles ---- */

static const struct figure_desc tiles = {
	.name = "mpi",
	.title = "Tiles by MPI-IO, by the bytes of an element",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

/* Sizes of an element in bytes, as in both papers.  The last one also has gaps in memory. */
static const struct elem {
	const char *bytes, *option, *ways;
	const char *labels[2];
} elems[] = {
	{ "24", NULL, "list,pieces,collective", { "read 24", "write 24" } },
	{ "32", NULL, "list,pieces,collective", { "read 32", "write 32" } },
	{ "64", "-m", "list,pieces", { "read 64", "write 64" } },
};

#define ELEMS (sizeof(elems) / sizeof(elems[0]))

static double place(unsigned int e, int write)
{
	return 2 * e + (unsigned int)write;
}

static int tile_one(struct perf_run *run, const struct perf_target *t,
		    unsigned int e)
{
	static const char *const how[][2] = { { "pieces", "no list" },
					      { "list", "list" },
					      { "collective", "collective" } };
	struct mpi_job job = { "tile",
			       RANKS,
			       { "-w", elems[e].ways, "-r", mpi_often(run, "3"),
				 "-e", elems[e].bytes, elems[e].option } };
	struct json_object *o = mpi_run(run, t, &job);

	if (!o)
		return -1;
	for (int write = 1; write >= 0; write--)
		for (int i = 0; i < 3; i++) {
			double rate = mpi_rate(o, write, how[i][0]);

			if (rate > 0)
				series_add(perf_series(run, &tiles, t,
						       how[i][1]),
					   place(e, write),
					   elems[e].labels[write], rate);
		}
	json_object_put(o);
	return 0;
}

static void tile_judge(struct perf_run *run, const struct perf_target *t,
		       unsigned int e, int write)
{
	static const double least[] = { 2.7, 2.2 };
	static const char *const elan[] = { "3.4 (Elan4)", "2.7 (Elan4)" };
	const struct perf_target *tcp = perf_target(run, "tcp");
	const struct goal goal = { "x", NULL, least[write], false };
	const struct goal gain = { "x", elan[write], 0, false };
	const struct series *list = perf_series(run, &tiles, t, "list");
	const double x = place(e, write);

	result_ratio(run->r, &goal, list, x,
		     perf_series(run, &tiles, t, "no list"), x,
		     "tiles by MPI-IO, %s bytes: with lists / without: %s",
		     elems[e].labels[write], t->name);
	if (tcp && t != tcp && e == 1)
		result_ratio(run->r, &gain, list, x,
			     perf_series(run, &tiles, tcp, "list"), x,
			     "tiles by MPI-IO, %s bytes, lists: %s / tcp",
			     elems[e].labels[write], t->name);
}

int perf_mpi_tile(struct perf_run *run)
{
	unsigned int i, e;

	if (!mpi_there(run))
		return 0;
	for (unsigned int k = 0; k < mpi_rounds(run); k++)
		for (e = 0; e < ELEMS; e++)
			for (i = 0; i < run->ntargets; i++)
				if (tile_one(run, &run->targets[i], e))
					return -1;
	for (i = 0; i < run->ntargets; i++)
		for (e = 0; e < ELEMS; e++)
			for (int write = 1; write >= 0; write--)
				tile_judge(run, &run->targets[i], e, write);
	return 0;
}
