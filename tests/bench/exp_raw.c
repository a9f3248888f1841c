/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_raw.c - table 2: each transport alone, through the transport interface, compared with a plain
 * TCP socket.
 */
#include "tests/bench/perf_raw.h"

#define BULK (1u << 20)

struct way {
	const char *name;
	enum perf_op op;
	double x; /* position in the figure */
};

static const struct way ways[] = {
	{ "Send/Recv", PERF_SEND, 1 },
	{ "RDMA Write", PERF_WRITE, 2 },
	{ "RDMA Read", PERF_READ, 3 },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const struct figure_desc latency = {
	.name = "latency",
	.title = "Latency of 4 bytes (Send/Recv: one way; RDMA: until "
		 "completed here)",
	.x = "operation",
	.y = "us",
	.bars = true,
};
static const struct figure_desc bandwidth = {
	.name = "bandwidth",
	.title = "Bandwidth (Send/Recv: 16 KiB messages; RDMA: 1 MiB)",
	.x = "operation",
	.y = "MB/s",
	.bars = true,
};

static const struct figure_desc registration = {
	.name = "registration",
	.title = "Registering memory and giving it back",
	.x = "bytes",
	.y = "us",
	.log_x = true,
};
static const size_t amounts[] = { 4096, 65536, 1048576, 16777216 };

static bool time_of(const struct perf_run *run, const char *provider,
		    const struct way *w, double *us)
{
	struct perf p = { .provider = provider,
			  .host = run->host,
			  .op = w->op == PERF_SEND ? PERF_PINGPONG : w->op,
			  .size = 4,
			  .ms = run->ms };
	struct perf_result result;

	if (!raw_measure(&p, &result))
		return false;
	*us = 1e6 / result.rate / (w->op == PERF_SEND ? 2 : 1);
	return true;
}

static bool rate_of(const struct perf_run *run, const char *provider,
		    const struct way *w, double *mbs)
{
	struct perf p = { .provider = provider,
			  .host = run->host,
			  .op = w->op,
			  .size = w->op == PERF_SEND ? 16384 : BULK,
			  .in_flight = 2,
			  .ms = run->ms };
	struct perf_result result;

	/* a socket gets all bytes in one call, as from a program */
	if (!provider)
		p.size = BULK;
	if (!raw_measure(&p, &result))
		return false;
	*mbs = result.rate * (double)p.size / 1e6;
	return true;
}

/* Measures one transport for one round.  NULL: the socket, which has only sends. */
static int round_of(struct perf_run *run, const char *provider)
{
	const char *name = provider ?: "socket";
	double v;

	for (unsigned int i = 0; i < (provider ? WAYS : 1); i++) {
		if (!time_of(run, provider, &ways[i], &v))
			return -1;
		series_add(figure_series(result_figure(run->r, &latency), name),
			   ways[i].x, ways[i].name, v);
		if (!rate_of(run, provider, &ways[i], &v))
			return -1;
		series_add(figure_series(result_figure(run->r, &bandwidth),
					 name),
			   ways[i].x, ways[i].name, v);
	}
	return 0;
}

static int registers(struct perf_run *run, const char *provider)
{
	struct series *s = figure_series(result_figure(run->r, &registration),
					 provider);

	for (unsigned int i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		struct perf p = { .provider = provider,
				  .size = amounts[i],
				  .ms = run->ms / 4 + 1 };
		struct perf_result result;

		if (!raw_register(&p, &result))
			return -1;
		series_add(s, (double)amounts[i], NULL, 1e6 / result.rate);
	}
	return 0;
}

static void compare(struct perf_run *run, const char *name)
{
	static const struct goal rate[] = { { "x", "4.46", 0, false },
					    { "x", "4.47", 0, false },
					    { "x", "4.41", 0, false } };
	static const struct goal fast[] = { { "x", "0.23", 0, true },
					    { "x", "0.15", 0, true },
					    { "x", "0.31", 0, true } };
	struct figure *l = result_figure(run->r, &latency);
	struct figure *b = result_figure(run->r, &bandwidth);

	for (unsigned int i = 0; i < WAYS; i++)
		result_ratio(run->r, &rate[i], figure_series(b, name),
			     ways[i].x, figure_series(b, "socket"), 1,
			     "bandwidth, %s by %s / socket", ways[i].name,
			     name);
	for (unsigned int i = 0; i < WAYS; i++)
		result_ratio(run->r, &fast[i], figure_series(l, name),
			     ways[i].x, figure_series(l, "socket"), 1,
			     "latency, %s by %s / socket", ways[i].name, name);
}

/* The paper's values are those of VAPI, and for the socket those of IBNice. */
static void absolute(struct perf_run *run, const char *name)
{
	static const char *const us[] = { "9.2 (IBNice: 40.1)", "6.0", "12.4" };
	static const char *const mbs[] = { "825 (IBNice: 185)", "827", "816" };
	struct figure *l = result_figure(run->r, &latency);
	struct figure *b = result_figure(run->r, &bandwidth);

	for (unsigned int i = 0; i < WAYS; i++) {
		struct goal time = { "us", us[i], 0, true };
		struct goal rate = { "MB/s", mbs[i], 0, false };

		result_value(run->r, &time,
			     series_median(figure_series(l, name), ways[i].x),
			     "latency, %s: %s", ways[i].name, name);
		result_value(run->r, &rate,
			     series_median(figure_series(b, name), ways[i].x),
			     "bandwidth, %s: %s", ways[i].name, name);
	}
}

static int take_turns(struct perf_run *run, char *const *names, unsigned int n)
{
	for (unsigned int k = 0; k < run->rounds; k++) {
		if (round_of(run, NULL))
			return -1;
		for (unsigned int i = 0; i < n; i++)
			if (round_of(run, names[i]) || registers(run, names[i]))
				return -1;
	}
	for (unsigned int i = 0; i < n; i++) {
		absolute(run, names[i]);
		compare(run, names[i]);
	}
	return 0;
}

int exp_raw(struct perf_run *run)
{
	struct raw_providers p;

	return raw_providers(run, &p) ? -1 : take_turns(run, p.name, p.n);
}
