/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exp_pingpong.c - round trips by the size of a message, through the transport interface.  Compares
 * them with the layer below (a TCP socket; ibv_rc_pingpong of rdma-core), and with reads of the
 * same number of bytes from a PVFS file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/perf_raw.h"

#define FILE_LEN (1u << 20)

static const struct figure_desc figure = {
	.name = "time",
	.title = "There and back (a PVFS read: the bytes come back only)",
	.x = "bytes",
	.y = "us",
	.log_x = true,
};

static const size_t sizes[] = { 4, 64, 1024, 4096, 16384, 65536, 262144 };

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define SHOWN 4096 /* the size in bytes whose ratios are in the report */

static struct series *series_of(struct perf_run *run, const char *name)
{
	return figure_series(result_figure(run->r, &figure), name);
}

static struct series *read_of(struct perf_run *run, const struct perf_target *t)
{
	char name[64];

	snprintf(name, sizeof(name), "PVFS read, %s", t->name);
	return series_of(run, name);
}

/* ---- the transport interface, and a socket ---- */

static int bounce(struct perf_run *run, const char *provider, size_t size)
{
	struct perf p = { .provider = provider,
			  .host = run->host,
			  .op = PERF_PINGPONG,
			  .size = size,
			  .ms = run->ms };
	struct perf_result result;

	if (!raw_measure(&p, &result))
		return -1;
	series_add(series_of(run, provider ?: "socket"), (double)size, NULL,
		   1e6 / result.rate);
	return 0;
}

/* ---- rdma-core's own program ---- */

#define PORTS 20000u
#define CORE                                                                       \
	"ibv_rc_pingpong -g %d -p %u -s %zu -n 1000 >/dev/null 2>&1 & sleep 0.5; " \
	"timeout 20 ibv_rc_pingpong -g %d -p %u -s %zu -n 1000 '%s' 2>&1 | "       \
	"sed -n 's/.*= \\([0-9.]*\\) usec.*/\\1/p'; kill $! 2>/dev/null"

/*
 * Runs rdma-core's program with a GID of the port.  Returns us; 0: there is no such program, or it
 * does not work with this GID.
 */
static double core_by(const char *host, size_t size, int gid)
{
	static unsigned int port = PORTS;
	char command[512], line[64] = "";
	FILE *f;

	port++;
	snprintf(command, sizeof(command), CORE, gid, port, size, gid, port,
		 size, host);
	f = popen(command, "r");
	if (!f)
		return 0;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	pclose(f);
	return atof(line);
}

/* GIDs of IPv4 addresses have higher indexes than the default GID of the device. */
static void core(struct perf_run *run, size_t size)
{
	static int gid = 1;
	double us = core_by(run->host, size, gid);

	if (us <= 0)
		us = core_by(run->host, size, gid = !gid);
	if (us > 0)
		series_add(series_of(run, "ibv_rc_pingpong"), (double)size,
			   NULL, us);
}

/* ---- PVFS ---- */

static int read_call(struct perf_run *run, const struct perf_target *t,
		     size_t size)
{
	struct bench_io_arg a = { .io = BENCH_READ,
				  .pvfs = true,
				  .call = size,
				  .share = FILE_LEN,
				  .file = FILE_LEN,
				  .random = true,
				  .pcount = 1,
				  .secs = run->ms / 1e3 };
	struct bench_task task = { bench_io_client, &a };
	struct bench_result res;
	int rc;

	a.done = perf_done_new(1);
	if (!a.done)
		return -1;
	rc = bench_run(&t->b, 1, &task, &res);
	if (!rc)
		series_add(read_of(run, t), (double)size, NULL,
			   a.done->secs / (double)a.done->calls * 1e6);
	perf_done_free(a.done, 1);
	return rc;
}

/* ---- the experiment ---- */

static int one_size(struct perf_run *run, const struct raw_providers *p,
		    size_t size)
{
	if (bounce(run, NULL, size))
		return -1;
	for (unsigned int i = 0; i < p->n; i++) {
		if (!strcmp(p->name[i], "verbs"))
			core(run, size);
		if (bounce(run, p->name[i], size))
			return -1;
	}
	for (unsigned int i = 0; i < run->ntargets; i++)
		if (read_call(run, &run->targets[i], size))
			return -1;
	return 0;
}

static void judge(struct perf_run *run, const struct raw_providers *p)
{
	static const struct goal goal = { "x", NULL, 0, true };

	for (unsigned int i = 0; i < p->n; i++) {
		const char *name = p->name[i];
		bool verbs = !strcmp(name, "verbs");
		const char *below = verbs ? "ibv_rc_pingpong" : "socket";

		result_ratio(run->r, &goal, series_of(run, name), SHOWN,
			     series_of(run, below), SHOWN,
			     "there and back, 4 KiB: %s / %s", name, below);
	}
	for (unsigned int i = 0; i < run->ntargets; i++) {
		const struct perf_target *t = &run->targets[i];

		result_ratio(run->r, &goal, read_of(run, t), SHOWN,
			     series_of(run, t->name), SHOWN,
			     "4 KiB: PVFS read / there and back: %s", t->name);
	}
}

int exp_pingpong(struct perf_run *run)
{
	struct raw_providers p;

	if (raw_providers(run, &p))
		return -1;
	for (unsigned int k = 0; k < run->rounds; k++)
		for (unsigned int i = 0; i < SIZES; i++)
			if (one_size(run, &p, sizes[i]))
				return -1;
	judge(run, &p);
	return 0;
}
