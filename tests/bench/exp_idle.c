/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_idle.c - the cost of idle connections: memory of the first iod by the number of clients, and
 * CPU time of all servers.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/bench/crowd.h"
#include "tests/bench/iod_memory.h"

static const struct figure_desc figure = {
	.name = "memory",
	.title = "Memory of an iod with idle clients",
	.x = "clients",
	.y = "MiB",
	.log_x = true,
};

/* Returns the CPU time that all idle servers use together, in ms per second. */
static double idle_cpu(const struct perf_target *t)
{
	double before = bench_servers_cpu(&t->b), start = bench_now();

	usleep(2000000);
	return (bench_servers_cpu(&t->b) - before) / (bench_now() - start) *
	       1e3;
}

/* ---- the experiment ---- */

static void add(struct perf_run *run, const struct perf_target *t, double n,
		const struct iod_memory *m)
{
	struct figure *f = result_figure(run->r, &figure);
	char name[64];

	snprintf(name, sizeof(name), "%s, resident", t->name);
	series_add(figure_series(f, name), n, NULL, m->resident);
	if (m->registered < 0)
		return;
	snprintf(name, sizeof(name), "%s, registered", t->name);
	series_add(figure_series(f, name), n, NULL, m->registered);
}

static void judge(struct perf_run *run, const struct perf_target *t,
		  unsigned int n, const struct iod_memory *from,
		  const struct iod_memory *to, double cpu)
{
	static const struct goal each = { "MiB", NULL, 1, true };
	static const struct goal ms = { "ms/s", NULL, 1, true };
	struct goal all = { "MiB", NULL, n >= 1000 ? 512 : 0, true };

	if (from->registered >= 0 && to->registered >= 0)
		result_value(run->r, &each,
			     (to->registered - from->registered) / n,
			     "registered for an idle client: %s", t->name);
	result_value(run->r, &each, (to->resident - from->resident) / n,
		     "resident for an idle client: %s", t->name);
	result_value(run->r, &all, to->resident,
		     "resident with %u idle clients: %s", n, t->name);
	result_value(run->r, &ms, cpu,
		     "CPU of mgr and iods with %u idle clients: %s", n,
		     t->name);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       struct crowd *c)
{
	const unsigned int steps[] = { run->connections / 8,
				       run->connections / 2, run->connections };
	struct iod_memory first, now;

	first = now = iod_memory(&t->b);
	for (unsigned int i = 0; i < 3; i++) {
		if (!steps[i])
			continue;
		if (crowd_grow(c, steps[i]))
			return -1;
		now = iod_memory(&t->b);
		add(run, t, steps[i], &now);
	}
	usleep(500000);
	judge(run, t, crowd_size(c), &first, &now, idle_cpu(t));
	return 0;
}

int exp_idle(struct perf_run *run)
{
	int rc = 0;

	for (unsigned int i = 0; i < run->ntargets && !rc; i++) {
		const struct perf_target *t = &run->targets[i];
		struct crowd *c;

		if (t->b.nservers < 2) {
			result_missing(run->r, t->name,
				       "needs the processes of mgr and iod");
			continue;
		}
		c = crowd_new(t);
		if (!c)
			return -1;
		rc = one(run, t, c);
		crowd_leave(c);
	}
	return rc;
}
