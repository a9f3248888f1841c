/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_small.c - small transfers by each mechanism (figure 11): inline in the message, through Fast
 * RDMA buffers, or moved by the server.  The server needs registered memory: either every call
 * finds it in the pin-down cache, or none does.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/pvfs_perf.h"

#define SETTINGS_MAX 4

enum kind { INLINE, FAST, SERVER, ANY };

/* A way to make libpvfs use one mechanism: environment variables of the clients. */
struct way {
	const char *name;
	enum kind kind;
	const char *set[SETTINGS_MAX][2];
};

static const struct way ways[] = {
	{ "inline",
	  INLINE,
	  { { "PVFS_INLINE_MAX", "65536" }, { "PVFS_FAST_RDMA", "off" } } },
	{ "Fast RDMA, 100 % hits",
	  FAST,
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "on" },
	    { "PVFS_PIN_CACHE", "on" } } },
	{ "Fast RDMA, 0 % hits",
	  FAST,
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "on" },
	    { "PVFS_PIN_CACHE", "off" } } },
	{ "server-based, 100 % hits",
	  SERVER,
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "off" },
	    { "PVFS_PIN_CACHE", "on" } } },
	{ "server-based, 0 % hits",
	  SERVER,
	  { { "PVFS_INLINE_MAX", "1" },
	    { "PVFS_FAST_RDMA", "off" },
	    { "PVFS_PIN_CACHE", "off" } } },
	{ "as chosen", ANY, { { NULL } } },
};

enum { INLINED, FAST_HITS, FAST_NONE, SERVER_HITS, SERVER_NONE, CHOSEN };

#define WAYS (sizeof(ways) / sizeof(ways[0]))

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

/* Sets or clears the variables for the clients that are forked next. */
static void choose(const struct way *w, bool on)
{
	if (on && w->kind != ANY)
		setenv("PVFS_DIRECT", "off", 1);
	else
		unsetenv("PVFS_DIRECT");
	for (int i = 0; i < SETTINGS_MAX && w->set[i][0]; i++) {
		if (on)
			setenv(w->set[i][0], w->set[i][1], 1);
		else
			unsetenv(w->set[i][0]);
	}
}

/*
 * Returns true if nearly all calls used this mechanism.  A call that does not fit uses another one.
 */
static bool went(const struct bench_io_done *done, enum kind kind)
{
	const uint64_t by[] = { [INLINE] = done->inlined,
				[FAST] = done->fast,
				[SERVER] = done->direct,
				[ANY] = done->calls };

	return by[kind] >= done->calls * 9 / 10;
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
	if (!rc && went(a.done, w->kind))
		series_add(series_of(run, t, io, w), (double)size, NULL,
			   a.done->median * 1e6);
	perf_done_free(a.done, 1);
	return rc;
}

/*
 * A reply to an inline read holds at most 4096 bytes.  A read into registered memory is always
 * written there by the server, whatever the setting.
 */
static bool possible(enum bench_io io, unsigned int way, uint64_t size)
{
	return io == BENCH_WRITE ||
	       (way == INLINED ? size <= 4096 : way != FAST_HITS);
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

/* Two mechanisms: the time of the first as a ratio to the time of the other. */
struct pair {
	unsigned int way, other;
	const char *what;
};
static const struct pair pairs[] = {
	{ FAST_NONE, INLINED, "Fast RDMA, 0 % hits / inline" },
	{ FAST_HITS, SERVER_HITS, "Fast RDMA / server-based, 100 % hits" },
	{ FAST_NONE, SERVER_NONE, "Fast RDMA / server-based, 0 % hits" },
};

/*
 * Compares Fast RDMA with the other mechanisms at one size.  A ratio below 1 means that Fast RDMA
 * is faster.  It is a goal only where Fast RDMA is the default: over verbs, above 4 KiB.
 */
static void between(struct perf_run *run, const struct perf_target *t,
		    enum bench_io io, unsigned int kib)
{
	bool used = kib > 4 && !strcmp(t->name, "verbs");
	const struct goal best = { "x", "below 1", used, true };
	double x = kib * 1024.0;

	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct pair *p = &pairs[i];

		if (possible(io, p->way, kib * 1024) &&
		    possible(io, p->other, kib * 1024))
			result_ratio(run->r, &best,
				     series_of(run, t, io, &ways[p->way]), x,
				     series_of(run, t, io, &ways[p->other]), x,
				     "%s, %u KiB: %s: %s", op_names[io], kib,
				     p->what, t->name);
	}
}

/* Reports calls that did not use the mechanism that they should use. */
static void strayed(struct perf_run *run, const struct perf_target *t,
		    enum bench_io io)
{
	for (unsigned int w = 0; w < WAYS; w++) {
		unsigned int n = 0;

		for (unsigned int s = 0; s < SIZES; s++)
			n += possible(io, w, sizes[s]) &&
			     isnan(series_median(series_of(run, t, io,
							   &ways[w]),
						 (double)sizes[s]));
		if (n)
			result_missing(run->r, t->name,
				       "%s, %s: %u sizes went another way: "
				       "docs/rdma.md says what bounds it",
				       op_names[io], ways[w].name, n);
	}
}

/* The time of the fastest mechanism at that size. */
static double fastest(struct perf_run *run, const struct perf_target *t,
		      enum bench_io io, double size)
{
	double us = INFINITY;

	for (unsigned int w = 0; w < CHOSEN; w++)
		if (possible(io, w, (uint64_t)size))
			us = fmin(us,
				  series_median(series_of(run, t, io, &ways[w]),
						size));
	return us;
}

/*
 * Compares the mechanism that the default thresholds of the transport choose with the fastest one.
 */
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

static void judge(struct perf_run *run, const struct perf_target *t,
		  enum bench_io io)
{
	between(run, t, io, 4);
	between(run, t, io, 16);
	between(run, t, io, 64);
	chosen(run, t, io);
	strayed(run, t, io);
}

int exp_small(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		for (unsigned int k = 0; k < run->ntargets; k++)
			if (one_round(run, &run->targets[k]))
				return -1;
	for (unsigned int k = 0; k < run->ntargets; k++)
		for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
			judge(run, &run->targets[k], (enum bench_io)io);
	return 0;
}
