/* SPDX-License-Identifier: BSD-2-Clause */
/* pvfs_perf.h - functions and types that the experiments of pvfs-perf share. */
#ifndef PVFS_PERF_H
#define PVFS_PERF_H

#include "tests/bench/bench.h"
#include "tests/bench/figure.h"

#define PERF_TARGETS_MAX 16
#define PERF_LIST_MAX 16

/* A file system under test, or one way to use it. */
struct perf_target {
	char *name; /* "tcp" */
	struct bench b; /* directory and servers */
};

struct perf_list {
	uint64_t v[PERF_LIST_MAX]; /* ascending */
	unsigned int n;
};

struct perf_run {
	struct perf_target targets[PERF_TARGETS_MAX];
	unsigned int ntargets;
	const char *providers; /* raw: "tcp,local,verbs" */
	const char *host; /* raw: the host on which both ends run */
	const char *local; /* a memory-backed directory, or NULL */
	const char *programs; /* directory of the MPI programs, or NULL */
	const char *out; /* directory for JSON and pictures, or NULL */
	unsigned int rounds;
	unsigned int ms; /* ms that a measurement with a given time lasts */
	unsigned int connections; /* number of idle connections */
	uint64_t bytes; /* bytes that one measurement moves */
	uint64_t call; /* bytes of a call */
	struct perf_list clients, iods;
	/* experiment unit: the unit_size of iod 0, 1, ... */
	struct perf_list units;
	struct result *r;
};

struct perf_experiment {
	const char *name;
	const char *what; /* description for --help */
	const char *paper; /* the paper's result, or NULL */
	bool mounts; /* the experiment needs file systems */
	/* runs the experiment; returns 0, or -1 after a message */
	int (*fn)(struct perf_run *run);
};

/* Returns the target with that name; NULL: there is none. */
const struct perf_target *perf_target(const struct perf_run *run,
				      const char *name);
uint64_t perf_largest(const struct perf_list *list);
/* Returns the series "TARGET, HOW" of a figure. */
struct series *perf_series(struct perf_run *run, const struct figure_desc *d,
			   const struct perf_target *t, const char *how);
/*
 * Runs n clients on target t; NULL: on run->local.  Each moves its share of run->bytes as a says;
 * this function sets a->share.  Returns 0 or -1.
 */
int perf_io(const struct perf_run *run, const struct perf_target *t,
	    struct bench_io_arg *a, unsigned int n, struct bench_result *res);
/* Returns the GiB that perf_io() moves. */
double perf_gib(const struct bench_io_arg *a, unsigned int n);
/* Allocates bench_io_arg.done for n clients, filled with zeros.  NULL: no memory. */
struct bench_io_done *perf_done_new(unsigned int n);
void perf_done_free(struct bench_io_done *done, unsigned int n);

int exp_raw(struct perf_run *run);
int exp_pingpong(struct perf_run *run);
int exp_bandwidth(struct perf_run *run);
int exp_cpu(struct perf_run *run);
int exp_calls(struct perf_run *run);
int exp_latency(struct perf_run *run);
int exp_ends(struct perf_run *run);
int exp_shared(struct perf_run *run);
int exp_small(struct perf_run *run);
int exp_unit(struct perf_run *run);
int exp_list(struct perf_run *run);
int exp_tile(struct perf_run *run);
int exp_hints(struct perf_run *run);
int exp_btio(struct perf_run *run);
int exp_block(struct perf_run *run);
int exp_disk(struct perf_run *run);
int exp_sync(struct perf_run *run);
int exp_meta(struct perf_run *run);
int exp_segments(struct perf_run *run);
int exp_fair(struct perf_run *run);
int exp_idle(struct perf_run *run);
int exp_storm(struct perf_run *run);

#endif
