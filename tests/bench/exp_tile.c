/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_tile.c - mpi-tile-io's pattern: 2 x 2 displays of 1024 x 768 elements, a
 * client a display.  24 bytes an element, contiguous in memory: with and
 * without lists (figure 13).  64 bytes, tiles in memory as well: with and
 * without allocation hints (figure 14).  And through MPI-IO, if it was built.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "perf_mpi.h"
#include "pieces.h"

#define ROWS 768
#define COLUMNS 1024
#define TILES 4

static const struct figure_desc tiles = {
	.name = "lists",
	.title = "Tiles of 24-byte elements",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};
static const struct figure_desc hints = {
	.name = "hints",
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
	[PIECES_LIST] = "list",
	[PIECES_HINTS] = "hints",
	[PIECES_ALONE] = "no hints",
	[PIECES_SINGLE] = "no list",
};

static struct series *series_of(struct perf_run *run,
				const struct figure_desc *d,
				const struct perf_target *t,
				enum pieces_way way)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, %s", t->name, way_names[way]);
	return figure_series(result_figure(run->r, d), name);
}

static void shape(struct pieces *p, size_t elem, bool memory)
{
	size_t row = 2 * COLUMNS * elem;

	p->file = "perf-tile";
	p->n = ROWS;
	p->len = COLUMNS * elem;
	p->stride = (int64_t)row;
	p->mem_stride = memory ? row : p->len;
	for (unsigned int i = 0; i < TILES; i++)
		p->off[i] = (int64_t)(i / 2 * ROWS * row + i % 2 * p->len);
}

static int tile(struct perf_run *run, const struct perf_target *t, bool write,
		enum pieces_way way, struct pieces_count *count)
{
	bool memory = way == PIECES_HINTS || way == PIECES_ALONE;
	const struct figure_desc *d = memory ? &hints : &tiles;
	struct pieces p = { .way = way, .write = write, .count = count };
	double secs;

	shape(&p, memory ? 64 : 24, memory);
	secs = pieces_run(t, &p, TILES);
	if (secs < 0)
		return -1;
	series_add(series_of(run, d, t, way), write, op_names[write],
		   (double)p.n * (double)p.len * TILES / secs / 1e6);
	if (memory)
		series_add(series_of(run, &registrations, t, way), write,
			   op_names[write], (double)count->registrations);
	return 0;
}

static int native(struct perf_run *run, struct pieces_count *count)
{
	static const enum pieces_way order[] = { PIECES_SINGLE, PIECES_LIST,
						 PIECES_ALONE, PIECES_HINTS };

	for (int write = 1; write >= 0; write--)
		for (unsigned int i = 0; i < run->ntargets; i++)
			for (unsigned int w = 0; w < 4; w++)
				if (tile(run, &run->targets[i], write, order[w],
					 count))
					return -1;
	return 0;
}

static void judge(struct perf_run *run, const struct perf_target *t, int write)
{
	struct goal lists = { "x", NULL, write ? 2.2 : 2.7, false };
	struct goal time = { "x", write ? "1.71" : "1.85", 0, false };
	struct goal count = { "registrations", "6 instead of 768", 6, true };

	result_ratio(run->r, &lists, series_of(run, &tiles, t, PIECES_LIST),
		     write, series_of(run, &tiles, t, PIECES_SINGLE), write,
		     "tiles, %s: with lists / without: %s", op_names[write],
		     t->name);
	result_ratio(run->r, &time, series_of(run, &hints, t, PIECES_HINTS),
		     write, series_of(run, &hints, t, PIECES_ALONE), write,
		     "tiles in memory, %s: with hints / without: %s",
		     op_names[write], t->name);
	result_value(run->r, &count,
		     series_median(series_of(run, &registrations, t,
					     PIECES_HINTS),
				   write),
		     "tiles in memory, %s, with hints: %s", op_names[write],
		     t->name);
}

static void across(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal goal[] = { { "x", "2.7", 0, false },
					    { "x", "2.2", 0, false } };
	const struct perf_target *tcp = perf_target(run, "tcp");

	for (int write = 1; tcp && t != tcp && write >= 0; write--)
		result_ratio(run->r, &goal[write],
			     series_of(run, &tiles, t, PIECES_LIST), write,
			     series_of(run, &tiles, tcp, PIECES_LIST), write,
			     "tiles, %s, with lists: %s / tcp", op_names[write],
			     t->name);
}

int exp_tile(struct perf_run *run)
{
	struct pieces_count *count = mmap(NULL, sizeof(*count),
					  PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (count == MAP_FAILED)
		return -1;
	for (unsigned int i = 0; i < run->rounds; i++)
		if (native(run, count))
			return -1;
	munmap(count, sizeof(*count));
	for (unsigned int i = 0; i < run->ntargets; i++) {
		for (int write = 1; write >= 0; write--)
			judge(run, &run->targets[i], write);
		across(run, &run->targets[i]);
	}
	return perf_mpi_tile(run);
}
