/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs-perf - the experiments of the ICPP 2003 paper by name.  Each runs on all given file systems,
 * and the results are compared in a table, in JSON and in pictures.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pvfs.h>
#include "tests/bench/pvfs_perf.h"
#include "client/tools/common/tool.h"

static const struct perf_experiment experiments[] = {
	{ "raw", "latency and bandwidth of each transport",
	  "Table 2: IBNice (TCP over InfiniBand) 40.1 us, 185 MB/s; VAPI "
	  "Send/Recv 9.2 us, 825 MB/s; RDMA Write 6.0 us, 827 MB/s; RDMA Read "
	  "12.4 us, 816 MB/s.",
	  false, exp_raw },
	{ "pingpong",
	  "round trips by the size of a message, compared with the layer below and "
	  "reads of as many bytes",
	  NULL, false, exp_pingpong },
	{ "bandwidth", "concurrent reads and writes, by clients and iods",
	  "Figures 7 and 8: over IBNice each client adds 120 MB/s to reads and "
	  "160 MB/s to writes; over VAPI each iod adds 400 MB/s to both.  The "
	  "gain is a factor of three.",
	  true, exp_bandwidth },
	{ "calls",
	  "one client by the size of its calls, compared with a plain file",
	  "Table 3: the memory-backed file system itself writes 556 MB/s and "
	  "reads 1057 MB/s.",
	  true, exp_calls },
	{ "latency", "4 KiB calls, with both sides awake and asleep", NULL,
	  true, exp_latency },
	{ "ends", "SEEK_END while another client writes", NULL, true,
	  exp_ends },
	{ "shared",
	  "many clients by the size of their calls, in files of their own and "
	  "in one file, and 4 KiB on hot blocks",
	  NULL, true, exp_shared },
	{ "cpu", "processor time of the clients",
	  "Figure 10: utilisation on the compute nodes up to 91 % over IBNice, "
	  "1.5 % over VAPI.",
	  true, exp_cpu },
	{ "small", "128 bytes to 64 KiB inline, by Fast RDMA, by the server",
	  "Figure 11 (writes): Fast RDMA is best with and without hits in the "
	  "pin-down cache, close to inline; the server's RDMA Reads are slower, "
	  "and by far the slowest when each call registers its memory.  Chosen: "
	  "inline below 4 KiB, Fast RDMA up to 64 KiB, by the server above.",
	  true, exp_small },
	{ "unit", "the unit that an iod cuts a transfer of 32 MiB into",
	  "Figure 12: any unit below about 2 MiB overlaps file and network "
	  "completely; the smallest are slightly slower, one piece of 32 MiB "
	  "is slowest.",
	  true, exp_unit },
	{ "list", "small and large pieces by list I/O", NULL, true, exp_list },
	{ "tile", "tiled reading and writing, with and without lists",
	  "Figure 13: with list I/O, VAPI moves 2.7 (reads) and 2.2 (writes) "
	  "times as much as IBNice; without, 1.79 and 1.93.  6 requests "
	  "instead of 768.  PVFS2 over Quadrics (ICS 2005), figure 10: 3.4 "
	  "(reads) and 2.7 (writes) times as much as over TCP.",
	  true, exp_tile },
	{ "hints", "tiles in memory as well, with and without allocation hints",
	  "Figure 14: allocation hints need 6 registrations instead of 768 and "
	  "gain 85 % (reads) and 71 % (writes).",
	  true, exp_hints },
	{ "btio",
	  "BT-IO's nested strides by MPI-IO, without and with its computing",
	  "PVFS2 over Quadrics (ICS 2005), table 4: BT-IO of class A took 2.12 s "
	  "longer than BT over Elan4 and 5.38 s over TCP.",
	  true, exp_btio },
	{ "block", "blocks of 4 MiB by MPI-IO, compared with libpvfs",
	  "Figure 9: MPI-IO over VAPI is about three times as fast as over "
	  "IBNice in memory, 15 to 42 % faster on disk.  PVFS2 over Quadrics "
	  "(ICS 2005), figures 8 and 9: reads 2.4 times and writes up to 1.82 "
	  "times as fast as over TCP.",
	  true, exp_block },
	{ "segments",
	  "segments of one file by MPI-IO, compared with MPICH's own, and the shared "
	  "file pointer",
	  NULL, true, exp_segments },
	{ "disk", "blocks of 4 MiB by MPI-IO to and from a disk",
	  "Figure 9: on ext3, where each iod waits for its disk, MPI-IO over VAPI "
	  "is 15 to 42 % faster than over IBNice.",
	  true, exp_disk },
	{ "sync", "tiles on a disk, with sync=on and sync=off", NULL, true,
	  exp_sync },
	{ "meta", "collective create, set_size, open and close by MPI-IO",
	  "PVFS2 over Quadrics (ICS 2005), table 3: 4 clients create a file in "
	  "28.7 ms (TCP: 28.9 ms) and set its size in 0.180 ms (0.274 ms).",
	  true, exp_meta },
	{ "fair",
	  "eight clients at once, the slowest compared with the fastest", NULL,
	  true, exp_fair },
	{ "idle", "memory and CPU of idle connections", NULL, true, exp_idle },
	{ "storm", "clients that all connect at the same moment", NULL, true,
	  exp_storm },
};

#define EXPERIMENTS (sizeof(experiments) / sizeof(experiments[0]))

enum { PROVIDERS = 256, HOST, LOCAL, PROGRAMS, MS, CONNECTIONS, UNITS };

static const struct option longs[] = {
	{ "on", required_argument, NULL, 'o' },
	{ "dir", required_argument, NULL, 'd' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "mib", required_argument, NULL, 'm' },
	{ "call", required_argument, NULL, 'b' },
	{ "clients", required_argument, NULL, 'c' },
	{ "iods", required_argument, NULL, 'i' },
	{ "units", required_argument, NULL, UNITS },
	{ "ms", required_argument, NULL, MS },
	{ "connections", required_argument, NULL, CONNECTIONS },
	{ "providers", required_argument, NULL, PROVIDERS },
	{ "host", required_argument, NULL, HOST },
	{ "local", required_argument, NULL, LOCAL },
	{ "programs", required_argument, NULL, PROGRAMS },
	{ 0 },
};

/* NAME=DIR[,PID...] */
static int add_target(struct perf_run *run, const char *val)
{
	struct perf_target *t = &run->targets[run->ntargets];
	char *text = strdup(val), *dir, *pid;

	dir = text ? strchr(text, '=') : NULL;
	if (!dir || run->ntargets == PERF_TARGETS_MAX)
		return -1;
	*dir++ = 0;
	pid = strchr(dir, ',');
	t->name = text;
	t->b.dir = dir;
	for (; pid && t->b.nservers < BENCH_SERVERS_MAX;
	     pid = strchr(pid, ',')) {
		*pid++ = 0;
		t->b.servers[t->b.nservers++] = (pid_t)atol(pid);
	}
	run->ntargets++;
	return *dir == '/' && !pid ? 0 : -1;
}

/* "1,2,4" or "64K,1M", ascending. */
static int read_list(const char *val, struct perf_list *list)
{
	char *text = strdup(val), *save = NULL, *word;
	int rc = text ? 0 : -1;

	list->n = 0;
	for (word = text ? strtok_r(text, ",", &save) : NULL; word && !rc;
	     word = strtok_r(NULL, ",", &save)) {
		if (list->n == PERF_LIST_MAX ||
		    tool_size(word, 1, 1ull << 40, &list->v[list->n]) ||
		    (list->n && list->v[list->n] <= list->v[list->n - 1]))
			rc = -1;
		else
			list->n++;
	}
	free(text);
	return list->n ? rc : -1;
}

static int option(void *arg, int opt, const char *val)
{
	struct perf_run *run = arg;

	switch (opt) {
	case 'o':
		return add_target(run, val);
	case 'd':
		run->out = val;
		return 0;
	case 'r':
		run->rounds = (unsigned int)tool_number(val);
		return 0;
	case 'm':
		run->bytes = tool_number(val) << 20;
		return 0;
	case 'b':
		run->call = tool_number(val);
		return 0;
	case 'c':
		return read_list(val, &run->clients);
	case 'i':
		return read_list(val, &run->iods);
	case UNITS:
		return read_list(val, &run->units);
	case MS:
		run->ms = (unsigned int)tool_number(val);
		return 0;
	case CONNECTIONS:
		run->connections = (unsigned int)tool_number(val);
		return 0;
	case PROVIDERS:
		run->providers = val;
		return 0;
	case HOST:
		run->host = val;
		return 0;
	case LOCAL:
		run->local = val;
		return 0;
	case PROGRAMS:
		run->programs = val;
		return 0;
	default:
		return -1;
	}
}

#define ASCENDING "numbers in ascending order, commas between them"

static const struct tool_value values[] = {
	{ 'r', 1, BENCH_ROUNDS_MAX, NULL },
	{ 'm', 8, 1u << 20, NULL },
	{ 'b', 1, 1u << 30, NULL },
	{ MS, 1, 60000, NULL },
	{ CONNECTIONS, 1, 4000, NULL },
	{ 'o', 0, 0, "NAME=DIR[,PID...], DIR an absolute path" },
	{ 'c', 0, 0, ASCENDING },
	{ 'i', 0, 0, ASCENDING },
	{ UNITS, 0, 0, ASCENDING },
	{ 0 },
};

static const char help[] =
	"Measures as the PVFS-IB paper did; EXPERIMENT is one of the names below.\n"
	"  -o, --on NAME=DIR[,PID...]  a file system: its name, a directory on\n"
	"                   it, its servers' processes (their CPU time is shown);\n"
	"                   once for each that takes part\n"
	"  -d, --dir DIR    writes DIR/EXPERIMENT.json and, by gnuplot, pictures\n"
	"  -r, --rounds N   rounds (5); figures are their medians\n"
	"  -m, --mib N      MiB moved in one measurement (512)\n"
	"  -b, --call SIZE  bytes of a call (4M)\n"
	"  -c, --clients N[,N...]  client processes (1,2,4)\n"
	"  -i, --iods N[,N...]     iods of a file (1,2,4)\n"
	"  --ms N           milliseconds of a measurement that is not by MiB (150)\n"
	"  --units SIZE[,SIZE...]  unit: unit_size of iod 0, 1, ..., ascending\n"
	"  --connections N  idle, storm: clients (1000)\n"
	"  --programs DIR   tile, btio, block, segments, disk, meta: the build folder,\n"
	"                   with mpi_bench and libmpio-pvfs.so\n"
	"  --local DIR      calls, shared, segments: a memory-backed directory, to\n"
	"                   compare with\n"
	"  --providers A[,B...]    raw, pingpong: transports (tcp,local,verbs)\n"
	"  --host ADDR      raw, pingpong: address that both ends use (127.0.0.1)\n"
	"Experiments: pvfs-perf list-experiments\n";

static const struct tool tool = {
	.name = "pvfs-perf",
	.usage = "EXPERIMENT [OPTION...]",
	.help = help,
	.shorts = "o:d:r:m:b:c:i:",
	.longs = longs,
	.values = values,
	.option = option,
};

const struct perf_target *perf_target(const struct perf_run *run,
				      const char *name)
{
	for (unsigned int i = 0; i < run->ntargets; i++)
		if (!strcmp(run->targets[i].name, name))
			return &run->targets[i];
	return NULL;
}

uint64_t perf_largest(const struct perf_list *list)
{
	return list->v[list->n - 1];
}

struct series *perf_series(struct perf_run *run, const struct figure_desc *d,
			   const struct perf_target *t, const char *how)
{
	char name[64];

	snprintf(name, sizeof(name), "%s, %s", t->name, how);
	return figure_series(result_figure(run->r, d), name);
}

static int list_experiments(void)
{
	for (unsigned int i = 0; i < EXPERIMENTS; i++)
		printf("%-10s %s\n           %s\n", experiments[i].name,
		       experiments[i].what,
		       experiments[i].paper ?: "Not in the papers.");
	return 0;
}

static int finish(struct perf_run *run)
{
	result_print(run->r);
	if (!run->out)
		return 0;
	if (mkdir(run->out, 0777) && errno != EEXIST)
		return tool_fail(&tool, run->out);
	if (result_write(run->r, run->out))
		return -1;
	/* a missing picture is no error, because there are tables */
	result_draw(run->r, run->out);
	return 0;
}

static bool ours(const char *name)
{
	if (!strncmp(name, "bench-io.", 9))
		return name[9 + strspn(name + 9, "0123456789-")] == '\0';
	return !strcmp(name, "perf-idle") || !strncmp(name, "perf-mpi-", 9);
}

/* Removes the files of the clients, which exist from round to round. */
static void tidy(const struct perf_target *t)
{
	PVFS_DIR *dir = pvfs_opendir(t->b.dir);
	struct dirent *d;
	char path[4096];

	while (dir && (d = pvfs_readdir(dir))) {
		if (!ours(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", t->b.dir, d->d_name);
		if (pvfs_unlink(path))
			tool_fail(&tool, path);
	}
	if (dir)
		pvfs_closedir(dir);
}

static int measure(struct perf_run *run, const struct perf_experiment *e)
{
	int status;

	if (e->mounts && !run->ntargets)
		return tool_say(&tool, "%s needs a file system: --on NAME=DIR",
				e->name);
	run->r = result_new(e->name, e->paper);
	status = e->fn(run);
	if (status)
		tool_say(&tool, "%s failed", e->name);
	else
		status = finish(run);
	result_free(run->r);
	for (unsigned int i = 0; i < run->ntargets; i++)
		tidy(&run->targets[i]);
	return status ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct perf_run run = {
		.providers = "tcp,local,verbs",
		.rounds = 5,
		.ms = 150,
		.connections = 1000,
		.bytes = 512u << 20,
		.call = 4u << 20,
		.clients = { { 1, 2, 4 }, 3 },
		.iods = { { 1, 2, 4 }, 3 },
	};
	int at = tool_options(&tool, argc, argv, &run);

	if (at != argc - 1)
		tool_usage(&tool);
	if (!strcmp(argv[at], "list-experiments"))
		return tool_done(&tool, list_experiments());
	for (unsigned int i = 0; i < EXPERIMENTS; i++)
		if (!strcmp(argv[at], experiments[i].name))
			return tool_done(&tool, measure(&run, &experiments[i]));
	tool_say(&tool, "no experiment '%s' (see pvfs-perf list-experiments)",
		 argv[at]);
	return 2;
}
