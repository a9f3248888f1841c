/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_calls.c - one client by the size of its calls, compared with pread and pwrite of the same
 * program on a file in memory, and with a plain TCP stream.
 */
#include <math.h>
#include <string.h>

#include "tests/bench/pvfs_perf.h"

static const struct figure_desc figures[] = {
	[BENCH_WRITE] = { .name = "write",
			  .title = "One client writes (over what exists)",
			  .x = "bytes of a call",
			  .y = "MB/s",
			  .log_x = true },
	[BENCH_READ] = { .name = "read",
			 .title = "One client reads",
			 .x = "bytes of a call",
			 .y = "MB/s",
			 .log_x = true },
};

static const char *const op_names[] = {
	[BENCH_WRITE] = "write over", [BENCH_READ] = "read"
};

static const uint64_t calls[] = { 4096, 16384, 65536, 262144, 1048576, 4194304 };

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static struct series *series_of(struct perf_run *run, const char *name,
				enum bench_io io)
{
	return figure_series(result_figure(run->r, &figures[io]), name);
}

/* Measures for a given time; the client goes over one file repeatedly. */
static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, uint64_t call)
{
	struct bench_io_done *done;
	struct bench_io_arg a = { .io = io, .call = call };
	struct bench_result res;
	int rc;

	done = perf_done_new(1);
	if (!done)
		return -1;
	a.done = done;
	a.secs = run->ms / 1e3;
	rc = perf_io(run, t, &a, 1, &res);
	if (!rc)
		series_add(series_of(run, t ? t->name : "plain file", io),
			   (double)call, NULL,
			   (double)done->calls * (double)call / 1e6 /
				   done->secs);
	perf_done_free(done, 1);
	return rc;
}

static int stream(struct perf_run *run, enum bench_io io, uint64_t call)
{
	double rate = bench_stream(call, run->bytes);

	if (rate < 0)
		return -1;
	series_add(series_of(run, "TCP stream", io), (double)call, NULL,
		   rate / 1e6);
	return 0;
}

static int one_round(struct perf_run *run)
{
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++) {
		for (unsigned int c = 0; c < CALLS; c++) {
			if (run->local &&
			    one(run, NULL, (enum bench_io)io, calls[c]))
				return -1;
			if (stream(run, (enum bench_io)io, calls[c]))
				return -1;
			for (unsigned int i = 0; i < run->ntargets; i++)
				if (one(run, &run->targets[i],
					(enum bench_io)io, calls[c]))
					return -1;
		}
	}
	return 0;
}

/* Goals over local, as ratios to the rate of the plain file. */
static const struct {
	double call, least;
	const char *name;
} beside[] = {
	{ 4096, 0.5, "4 KiB" },
	{ 16384, 0.85, "16 KiB" },
	{ 65536, 0.85, "64 KiB" },
	{ 4194304, 0.95, "4 MiB" },
};

static void beside_plain(struct perf_run *run, const struct perf_target *t,
			 enum bench_io io)
{
	const struct series *plain = series_of(run, "plain file", io);
	const struct series *s = series_of(run, t->name, io);
	bool here = !strcmp(t->name, "local");

	for (unsigned int i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		struct goal goal = { "x", NULL, here ? beside[i].least : 0,
				     false };

		result_ratio(run->r, &goal, s, beside[i].call, plain,
			     beside[i].call,
			     "%s, one client, %s: %s / plain file",
			     op_names[io], beside[i].name, t->name);
	}
}

/*
 * Compares with the TCP stream.  The goals are the ratios of the first measurement: later versions
 * must not be slower.
 */
static void beside_stream(struct perf_run *run, enum bench_io io)
{
	const struct series *stream = series_of(run, "TCP stream", io);
	const struct series *tcp = series_of(run, "tcp", io);
	const bool read = io == BENCH_READ;
	struct goal large = { "x", NULL, read ? 1.02 : 0.67, false };
	struct goal small = { "x", NULL, read ? 0.29 : 0.21, false };

	result_ratio(run->r, &large, tcp, 4194304, stream, 4194304,
		     "%s, one client, 4 MiB: tcp / TCP stream, as at first",
		     op_names[io]);
	result_ratio(run->r, &small, tcp, 65536, stream, 65536,
		     "%s, one client, 64 KiB: tcp / TCP stream, as at first",
		     op_names[io]);
}

/* Compares with tcp at the size where the ratio is worst. */
static void beside_tcp(struct perf_run *run, const struct perf_target *t,
		       enum bench_io io)
{
	const struct series *tcp = series_of(run, "tcp", io);
	const struct series *s = series_of(run, t->name, io);
	struct goal goal = { "x", NULL, !strcmp(t->name, "local"), false };
	double worst = INFINITY;

	for (unsigned int c = 0; c < CALLS; c++)
		worst = fmin(worst, series_ratio(s, (double)calls[c], tcp,
						 (double)calls[c]));
	result_value(run->r, &goal, worst,
		     "%s, one client, worst of all sizes: %s / tcp",
		     op_names[io], t->name);
}

int exp_calls(struct perf_run *run)
{
	const struct perf_target *tcp = perf_target(run, "tcp");

	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run))
			return -1;
	if (!run->local)
		result_missing(run->r, "plain file",
			       "no --local DIR to compare with");
	for (unsigned int i = 0; i < run->ntargets; i++) {
		const struct perf_target *t = &run->targets[i];

		for (int io = BENCH_WRITE; io <= BENCH_READ; io++) {
			if (run->local)
				beside_plain(run, t, (enum bench_io)io);
			if (t == tcp)
				beside_stream(run, (enum bench_io)io);
			else if (tcp)
				beside_tcp(run, t, (enum bench_io)io);
		}
	}
	return 0;
}
