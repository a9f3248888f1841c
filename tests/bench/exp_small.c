/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_small.c - small transfers by each mechanism (figure 11): inline in the
 * message, through Fast RDMA buffers, or moved by the server, which needs
 * registered memory: found in the pin-down cache by every call, or by none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvfs_perf.h"

#define SETTINGS_MAX 4

/* How libpvfs is told to use one mechanism: environment of the clients. */
struct way {
	const char *name;
	const char *set[SETTINGS_MAX][2];
};

static const struct way ways[] = {
	{ "inline",
	  { { "PVFS_INLINE_MAX", "65536" }, { "PVFS_FAST_RDMA", "off" } } },
	{ "Fast RDMA, 100 % hits",
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "on" },
	    { "PVFS_PIN_CACHE", "on" } } },
	{ "Fast RDMA, 0 % hits",
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "on" },
	    { "PVFS_PIN_CACHE", "off" } } },
	{ "server-based, 100 % hits",
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "off" },
	    { "PVFS_PIN_CACHE", "on" } } },
	{ "server-based, 0 % hits",
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "off" },
	    { "PVFS_PIN_CACHE", "off" } } },
	{ "as chosen", { { NULL } } },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))
#define CHOSEN (WAYS - 1)

static const uint64_t sizes[] = { 128,	256,  512,   1024,  2048,
				  4096, 8192, 16384, 32768, 65536 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const char *const op_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t, enum bench_io io,
				const struct way *w)
{
	struct figure_desc d = { .x = "bytes", .y = "us", .log_x = true };
	char name[64], title[128];

	snprintf(name, sizeof(name), "%s-%s", op_names[io], t->name);
	snprintf(title, sizeof(title), "Small %ss over %s", op_names[io],
		 t->name);
	d.name = name;
	d.title = title;
	return figure_series(result_figure(run->r, &d), w->name);
}

/* For the clients that are forked next. */
static void choose(const struct way *w, bool on)
{
	for (int i = 0; i < SETTINGS_MAX && w->set[i][0]; i++) {
		if (on)
			setenv(w->set[i][0], w->set[i][1], 1);
		else
			unsetenv(w->set[i][0]);
	}
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, const struct way *w, uint64_t size)
{
	struct bench_io_arg a = { .io = io,
				  .pvfs = true,
				  .call = size,
				  .share = 4u << 20,
				  .pcount = 1 };
	struct bench_task task = { bench_io_client, &a };
	struct bench_result res;
	int rc;

	a.done = perf_done_new(1);
	if (!a.done)
		return -1;
	a.secs = run->ms / 4e3;
	choose(w, true);
	rc = bench_run(&t->b, 1, &task, &res);
	choose(w, false);
	if (!rc)
		series_add(series_of(run, t, io, w), (double)size, NULL,
			   a.done->median * 1e6);
	perf_done_free(a.done, 1);
	return rc;
}

/* Answers to reads have room for so much. */
static bool possible(enum bench_io io, unsigned int way, uint64_t size)
{
	return io == BENCH_WRITE || way != 0 || size <= 4096;
}

static int one_round(struct perf_run *run, const struct perf_target *t)
{
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (unsigned int s = 0; s < SIZES; s++)
			for (unsigned int w = 0; w < WAYS; w++)
				if (possible((enum bench_io)io, w, sizes[s]) &&
				    one(run, t, (enum bench_io)io, &ways[w],
					sizes[s]))
					return -1;
	return 0;
}

/*
 * Between the paper's thresholds: below 1, Fast RDMA is the fastest.  A goal
 * where it is used without settings.
 */
static void between(struct perf_run *run, const struct perf_target *t,
		    enum bench_io io)
{
	const struct goal best = { "x", "below 1", !strcmp(t->name, "verbs"),
				   true };
	const uint64_t at[] = { 4096, 16384, 65536 };
	struct series *fast[] = { series_of(run, t, io, &ways[1]),
				  series_of(run, t, io, &ways[2]) };

	for (unsigned int i = 0; i < 3; i++) {
		double x = (double)at[i];

		result_ratio(run->r, &best, fast[1], x,
			     series_of(run, t, io, &ways[0]), x,
			     "%s, %u KiB: Fast RDMA, 0 %% hits / inline: %s",
			     op_names[io], (unsigned int)(at[i] / 1024),
			     t->name);
		result_ratio(run->r, &best, fast[0], x,
			     series_of(run, t, io, &ways[3]), x,
			     "%s, %u KiB: Fast RDMA / server-based, 100 %% "
			     "hits: %s",
			     op_names[io], (unsigned int)(at[i] / 1024),
			     t->name);
	}
}

/* The time of the fastest mechanism at that size. */
static double fastest(struct perf_run *run, const struct perf_target *t,
		      enum bench_io io, double size)
{
	double us = INFINITY;

	for (unsigned int w = 0; w < CHOSEN; w++)
		us = fmin(us,
			  series_median(series_of(run, t, io, &ways[w]), size));
	return us;
}

/* Without settings, by the thresholds of the transport. */
static void chosen(struct perf_run *run, const struct perf_target *t,
		   enum bench_io io)
{
	static const struct goal none = { "x", NULL, 0, true };
	struct series *s = series_of(run, t, io, &ways[CHOSEN]);
	double sum = 0;

	for (unsigned int i = 0; i < SIZES; i++) {
		double x = (double)sizes[i];

		sum += log(series_median(s, x) / fastest(run, t, io, x));
	}
	result_value(run->r, &none, exp(sum / SIZES),
		     "%s, as chosen / the fastest, mean of all sizes: %s",
		     op_names[io], t->name);
}

int exp_small(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		for (unsigned int k = 0; k < run->ntargets; k++)
			if (one_round(run, &run->targets[k]))
				return -1;
	for (unsigned int k = 0; k < run->ntargets; k++)
		for (int io = BENCH_WRITE; io <= BENCH_READ; io++) {
			between(run, &run->targets[k], (enum bench_io)io);
			chosen(run, &run->targets[k], (enum bench_io)io);
		}
	return 0;
}
