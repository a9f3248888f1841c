/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_cpu.c - the processor time of a transfer: the utilisation of the clients (figure 10), and
 * seconds per GiB at clients and at servers.
 */
#include <stdio.h>

#include "tests/bench/pvfs_perf.h"

static const struct figure_desc utilisation = {
	.name = "utilisation",
	.title = "CPU utilisation of a client",
	.x = "clients",
	.y = "% of one CPU",
};
static const struct figure_desc client_cost = {
	.name = "client",
	.title = "CPU time of the clients",
	.x = "clients",
	.y = "s/GiB",
};
static const struct figure_desc server_cost = {
	.name = "server",
	.title = "CPU time of the servers",
	.x = "clients",
	.y = "s/GiB",
};

static const char *const op_names[] = {
	[BENCH_WRITE] = "write", [BENCH_READ] = "read"
};

static struct series *series_of(struct perf_run *run,
				const struct figure_desc *d,
				const struct perf_target *t, enum bench_io io)
{
	return perf_series(run, d, t, op_names[io]);
}

static int one(struct perf_run *run, const struct perf_target *t,
	       enum bench_io io, unsigned int n)
{
	struct bench_io_arg a = { .io = io, .call = run->call };
	struct bench_result res;
	double gib;

	if (perf_io(run, t, &a, n, &res))
		return -1;
	gib = perf_gib(&a, n);
	series_add(series_of(run, &utilisation, t, io), n, NULL,
		   100 * res.client_cpu / res.secs / n);
	series_add(series_of(run, &client_cost, t, io), n, NULL,
		   res.client_cpu / gib);
	if (t->b.nservers)
		series_add(series_of(run, &server_cost, t, io), n, NULL,
			   res.server_cpu / gib);
	return 0;
}

static int one_round(struct perf_run *run)
{
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		for (unsigned int c = 0; c < run->clients.n; c++)
			for (unsigned int i = 0; i < run->ntargets; i++)
				if (one(run, &run->targets[i],
					(enum bench_io)io,
					(unsigned int)run->clients.v[c]))
					return -1;
	return 0;
}

static void compare(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal part = { "x", "1/60 in utilisation", 0.05,
					  true };
	static const struct goal side = { "x", NULL, 0, true };
	const struct perf_target *tcp = perf_target(run, "tcp");
	double n = (double)perf_largest(&run->clients);

	if (!tcp || t == tcp)
		return;
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++) {
		result_ratio(
			run->r, &part,
			series_of(run, &client_cost, t, (enum bench_io)io), n,
			series_of(run, &client_cost, tcp, (enum bench_io)io), n,
			"client CPU per GiB, %s: %s / tcp", op_names[io],
			t->name);
		if (t->b.nservers && tcp->b.nservers)
			result_ratio(run->r, &side,
				     series_of(run, &server_cost, t,
					       (enum bench_io)io),
				     n,
				     series_of(run, &server_cost, tcp,
					       (enum bench_io)io),
				     n, "server CPU per GiB, %s: %s / tcp",
				     op_names[io], t->name);
	}
}

static void absolute(struct perf_run *run, const struct perf_target *t)
{
	static const struct goal rdma = { "%", "1.5 (VAPI)", 0, true };
	static const struct goal tcp = { "%", "91 (IBNice)", 0, true };
	const struct goal *g = t == perf_target(run, "tcp") ? &tcp : &rdma;
	double n = (double)run->clients.v[0];

	for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
		result_value(run->r, g,
			     series_median(series_of(run, &utilisation, t,
						     (enum bench_io)io),
					   n),
			     "CPU utilisation of %u client%s, %s: %s",
			     (unsigned int)n, n > 1 ? "s" : "", op_names[io],
			     t->name);
}

int exp_cpu(struct perf_run *run)
{
	for (unsigned int i = 0; i < run->rounds; i++)
		if (one_round(run))
			return -1;
	for (unsigned int i = 0; i < run->ntargets; i++)
		compare(run, &run->targets[i]);
	for (unsigned int i = 0; i < run->ntargets; i++)
		absolute(run, &run->targets[i]);
	return 0;
}
