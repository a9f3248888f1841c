/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_storm.c - clients that all connect at the same moment, as the processes of a large job do.
 * Measures the time until each was served, whether all were served, and the memory of an iod.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/crowd.h"
#include "tests/bench/iod_memory.h"

static const struct figure_desc times = {
	.name = "time",
	.title = "Clients that begin at once: until the first byte is read",
	.x = "clients",
	.y = "ms",
	.log_x = true,
};
static const struct figure_desc memory = {
	.name = "memory",
	.title = "Memory of an iod after the storm",
	.x = "clients",
	.y = "MiB",
	.log_x = true,
};

static void add(struct perf_run *run, const struct figure_desc *d,
		const struct perf_target *t, const char *how, unsigned int n,
		double v)
{
	series_add(perf_series(run, d, t, how), n, NULL, v);
}

static void add_memory(struct perf_run *run, const struct perf_target *t,
		       unsigned int n)
{
	struct iod_memory m;

	if (t->b.nservers < 2)
		return;
	m = iod_memory(&t->b);
	add(run, &memory, t, "resident", n, m.resident);
	if (m.registered >= 0)
		add(run, &memory, t, "registered", n, m.registered);
}

/* A client that was not served has printed the reason. */
static void judge(struct perf_run *run, const struct perf_target *t,
		  unsigned int n, int served, double last)
{
	const struct goal all = { "clients", NULL, n, false };
	const struct goal secs = { "s", NULL, 0, true };

	result_value(run->r, &all, served, "served of %u clients at once: %s",
		     n, t->name);
	result_value(run->r, &secs, last, "until the last of %u is served: %s",
		     n, t->name);
}

static int storm(struct perf_run *run, const struct perf_target *t,
		 unsigned int n)
{
	double *secs = calloc(n, sizeof(*secs));
	struct crowd *c = secs ? crowd_new(t) : NULL;
	int served = c ? crowd_storm(c, n, secs) : -1;

	if (served > 0) {
		add(run, &times, t, "the last", n, secs[served - 1] * 1e3);
		add(run, &times, t, "the median", n, secs[served / 2] * 1e3);
		add_memory(run, t, n);
	}
	if (served >= 0 && n == run->connections)
		judge(run, t, n, served, served ? secs[served - 1] : 0);
	if (c)
		crowd_leave(c);
	free(secs);
	return served < 0 ? -1 : 0;
}

int exp_storm(struct perf_run *run)
{
	const unsigned int steps[] = { run->connections / 8,
				       run->connections / 2, run->connections };

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int k = 0; steps[i] && k < run->ntargets; k++)
			if (storm(run, &run->targets[k], steps[i]))
				return -1;
	return 0;
}
