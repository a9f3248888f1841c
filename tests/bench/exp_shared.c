/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_shared.c - the maximum number of clients, by the size of their calls.  Each has its own file,
 * or a part of one file, or all use the same 4 KiB blocks of one file.  Compares them with the same
 * programs on a file system in memory.  Also counts the context switches of the iods' threads: an
 * iod that gets no request is not woken, so its threads do not switch.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/pvfs_perf.h"

#define HOT_CALL 4096u
#define WITHOUT_MAX (256u << 10) /* bytes; larger calls send requests */
#define IDLE_US 500000
#define FEW 20 /* context switches per second that a few timers cause */
#define PARTS_MAX (64u << 20) /* bytes of a client's part */

static const char *const io_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};
static const char *const layout_names[] = {
	[BENCH_OWN] = "file each", [BENCH_PARTS] = "one file"
};

/* 47,008 bytes: the size of a write in IO500's hard case */
static const uint64_t calls[] = { 4096, 16384, 47008, 65536, 262144, 1048576 };
static const uint64_t hot[] = { 1, 16, 256, 4096 }; /* blocks */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct series *series_of(struct perf_run *run,
				const struct perf_target *t,
				enum bench_layout layout, enum bench_io io)
{
	static const char *const in[][2] = {
		[BENCH_OWN] = { "own", "a file each" },
		[BENCH_PARTS] = { "one", "parts of one file" },
		[BENCH_SAME] = { "hot", "the same blocks of 4 KiB" },
	};
	struct figure_desc d = { .y = "MB/s", .log_x = true };
	char name[64], title[128];

	snprintf(name, sizeof(name), "%s-%s", in[layout][0], io_names[io]);
	snprintf(title, sizeof(title), "Clients at once %s %s", io_names[io],
		 in[layout][1]);
	d.name = name;
	d.title = title;
	d.x = layout == BENCH_SAME ? "blocks" : "bytes of a call";
	return figure_series(result_figure(run->r, &d),
			     t ? t->name : "plain file");
}

static const struct figure_desc switches = {
	.name = "switches",
	.title = "Iods, with clients at once: context switches",
	.x = "bytes of a call",
	.y = "switches a second",
	.bars = true,
};

/* Adds the context switches per second of all iods. call is 0 if no client sends requests. */
static void add_switches(struct perf_run *run, const struct perf_target *t,
			 uint64_t call, unsigned long long n, double secs)
{
	char label[32] = "idle";

	if (call)
		snprintf(label, sizeof(label), "%llu",
			 (unsigned long long)call);
	series_add(figure_series(result_figure(run->r, &switches), t->name),
		   (double)call, label, (double)n / secs);
}

static void idle(struct perf_run *run, const struct perf_target *t)
{
	unsigned long long before = bench_iods_switches(&t->b);
	double since = bench_now();

	usleep(IDLE_US);
	add_switches(run, t, 0, bench_iods_switches(&t->b) - before,
		     bench_now() - since);
}

static uint64_t moved(const struct bench_io_done *done, unsigned int n,
		      uint64_t call)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += done[i].calls * call;
	return sum;
}

/* Measures for a given time; a->file: the bytes that each client goes over repeatedly. */
static int one(struct perf_run *run, const struct perf_target *t,
	       struct bench_io_arg *a, double x)
{
	unsigned int n = (unsigned int)perf_largest(&run->clients);
	struct bench plain = { .local = run->local };
	struct bench_task task = { bench_io_client, a };
	struct bench_result res;
	int rc;

	a->done = perf_done_new(n);
	if (!a->done)
		return -1;
	a->pvfs = t != NULL;
	a->secs = run->ms / 1e3;
	rc = bench_run(t ? &t->b : &plain, n, &task, &res);
	if (!rc)
		series_add(series_of(run, t, a->layout, a->io), x, NULL,
			   (double)moved(a->done, n, a->call) / 1e6 / res.secs);
	if (!rc && t && a->layout != BENCH_SAME)
		add_switches(run, t, a->call, res.iod_switches, res.secs);
	perf_done_free(a->done, n);
	return rc;
}

/*
 * Measures the plain file system first, so that the ratios of a round are of neighbouring
 * measurements.
 */
static int everywhere(struct perf_run *run, const struct bench_io_arg *a,
		      double x)
{
	struct bench_io_arg arg = *a;

	if (run->local && one(run, NULL, &arg, x))
		return -1;
	for (unsigned int i = 0; i < run->ntargets; i++) {
		arg = *a;
		if (one(run, &run->targets[i], &arg, x))
			return -1;
	}
	return 0;
}

static int by_call(struct perf_run *run, enum bench_io io, uint64_t call)
{
	struct bench_io_arg a = { .io = io, .call = call };
	uint64_t share = run->bytes / perf_largest(&run->clients);
	int layout;

	share = share < PARTS_MAX ? share : PARTS_MAX;
	a.share = a.file = share < call ? call : share / call * call;
	for (layout = BENCH_OWN; layout <= BENCH_PARTS; layout++) {
		a.layout = (enum bench_layout)layout;
		if (everywhere(run, &a, (double)call))
			return -1;
	}
	return 0;
}

static int by_blocks(struct perf_run *run, enum bench_io io, uint64_t blocks)
{
	struct bench_io_arg a = {
		.io = io, .layout = BENCH_SAME, .call = HOT_CALL, .random = true
	};

	a.share = a.file = blocks * HOT_CALL;
	return everywhere(run, &a, (double)blocks);
}

static int one_round(struct perf_run *run)
{
	unsigned int i;
	int io;

	for (i = 0; i < run->ntargets; i++)
		idle(run, &run->targets[i]);
	for (io = BENCH_WRITE; io <= BENCH_READ; io++) {
		for (i = 0; i < COUNT(calls); i++)
			if (by_call(run, (enum bench_io)io, calls[i]))
				return -1;
		for (i = 0; i < COUNT(hot); i++)
			if (by_blocks(run, (enum bench_io)io, hot[i]))
				return -1;
	}
	return 0;
}

/*
 * Compares with the plain file system.  Calls of up to 256 KiB need no request, so they should be
 * nearly as fast.
 */
static void beside_plain(struct perf_run *run, const struct perf_target *t,
			 enum bench_layout layout, enum bench_io io, double x,
			 bool wanted)
{
	const struct goal goal = { "x", NULL, wanted ? 0.7 : 0, false };

	result_ratio(run->r, &goal, series_of(run, t, layout, io), x,
		     series_of(run, NULL, layout, io), x,
		     "%s, %s, %.0f%s: %s / plain file", io_names[io],
		     layout == BENCH_SAME ? "hot" : layout_names[layout], x,
		     layout == BENCH_SAME ? " blocks" : "", t->name);
}

static void judge(struct perf_run *run, const struct perf_target *t)
{
	bool here = !strcmp(t->name, "local");
	int io, layout;
	unsigned int i;

	for (io = BENCH_WRITE; io <= BENCH_READ; io++) {
		for (layout = BENCH_OWN; layout <= BENCH_PARTS; layout++)
			for (i = 0; i < COUNT(calls); i++)
				beside_plain(run, t, (enum bench_layout)layout,
					     (enum bench_io)io,
					     (double)calls[i],
					     here && calls[i] <= WITHOUT_MAX);
		for (i = 0; i < COUNT(hot); i++)
			beside_plain(run, t, BENCH_SAME, (enum bench_io)io,
				     (double)hot[i], false);
	}
}

/* Returns the worst ratio for sizes from least to most. */
static double worst_of(const struct series *s, const struct series *tcp,
		       uint64_t least, uint64_t most)
{
	double worst = INFINITY;

	for (unsigned int i = 0; i < COUNT(calls); i++)
		if (calls[i] >= least && calls[i] <= most)
			worst = fmin(worst,
				     series_ratio(s, (double)calls[i], tcp,
						  (double)calls[i]));
	return worst;
}

static void beside_tcp(struct perf_run *run, const struct perf_target *t,
		       const struct perf_target *tcp, enum bench_layout layout,
		       enum bench_io io)
{
	static const struct goal goal = { "x", NULL, 1, false }, none = { "x" };
	const struct series *of = series_of(run, t, layout, io);
	const struct series *base = series_of(run, tcp, layout, io);

	result_value(run->r, &goal, worst_of(of, base, 0, WITHOUT_MAX),
		     "%s, %s, worst up to 256 KiB: %s / tcp", io_names[io],
		     layout_names[layout], t->name);
	result_value(run->r, &none,
		     worst_of(of, base, WITHOUT_MAX + 1, UINT64_MAX),
		     "%s, %s, larger: %s / tcp", io_names[io],
		     layout_names[layout], t->name);
}

static void judge_switches(struct perf_run *run, const struct perf_target *t)
{
	const struct series *s = figure_series(result_figure(run->r, &switches),
					       t->name);
	double nobody = series_median(s, 0), most = 0;
	struct goal goal = { "/s", NULL, nobody + FEW, true }, none = { "/s" };

	for (unsigned int i = 0; i < COUNT(calls); i++)
		if (calls[i] <= WITHOUT_MAX)
			most = fmax(most, series_median(s, (double)calls[i]));
	result_value(run->r, &none, nobody, "iods' switches, idle: %s",
		     t->name);
	result_value(run->r, strcmp(t->name, "local") ? &none : &goal, most,
		     "iods' switches, calls up to 256 KiB: %s", t->name);
}

static void beside_others(struct perf_run *run, const struct perf_target *t)
{
	const struct perf_target *tcp = perf_target(run, "tcp");
	int io, layout;

	judge_switches(run, t);
	if (!tcp || t == tcp)
		return;
	for (io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (layout = BENCH_OWN; layout <= BENCH_PARTS; layout++)
			beside_tcp(run, t, tcp, (enum bench_layout)layout,
				   (enum bench_io)io);
}

int exp_shared(struct perf_run *run)
{
	unsigned int i;

	for (i = 0; i < run->rounds; i++)
		if (one_round(run))
			return -1;
	for (i = 0; run->local && i < run->ntargets; i++)
		judge(run, &run->targets[i]);
	for (i = 0; i < run->ntargets; i++)
		beside_others(run, &run->targets[i]);
	return 0;
}
