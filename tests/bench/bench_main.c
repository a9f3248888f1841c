/* SPDX-License-Identifier: BSD-2-Clause */
/* bench_main.c - runs the measurements in their order, and writes the two reports. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/bench_report.h"

static const char *const io_name[] = { "write, new file", "write over",
				       "read" };
static const char *const meta_name[] = { "create", "stat", "unlink",
					 "readdir" };

static int io_once(const struct bench *b, struct bench_io_arg *a,
		   unsigned int clients, struct bench_result *res)
{
	struct bench_task task = { bench_io_client, a };

	a->share = b->bytes / clients / a->call * a->call;
	return bench_run(b, clients, &task, res);
}

/* Measures one row for one round: first the file system, then the limits. */
static int io_round(const struct bench *b, enum bench_io io, uint64_t call,
		    unsigned int clients, struct row *row)
{
	struct bench_io_arg a = { .io = io, .pvfs = true, .call = call };
	struct bench_result res, local;
	double gib, rate, stream, stored;

	if (io_once(b, &a, clients, &res))
		return -1;
	gib = (double)a.share * clients / (double)(1u << 30);
	a.pvfs = false;
	if (io_once(b, &a, clients, &local))
		return -1;
	stream = bench_stream(call, b->bytes / 2);
	if (stream < 0)
		return -1;
	rate = res.secs > 0 ? gib * (double)(1u << 30) / res.secs : 0;
	row_add(row, ROW_VALUE, rate / 1e9);
	row_add(row, ROW_PEER, rate / stream);
	if (io != BENCH_READ) {
		stored = bench_stored(call, b->bytes / 2, b->local,
				      io == BENCH_WRITE);
		if (stored < 0)
			return -1;
		row_add(row, ROW_STORED, rate / stored);
	}
	row_add(row, ROW_LOCAL, local.secs / res.secs);
	row_add(row, ROW_CLIENT_CPU, res.client_cpu / gib);
	row_add(row, ROW_SERVER_CPU, res.server_cpu / gib);
	return 0;
}

static int io_row(const struct bench *b, struct report *r, enum bench_io io,
		  uint64_t call, unsigned int clients)
{
	struct row *row = report_row(r, "bandwidth", io_name[io], call,
				     clients);

	for (unsigned int i = 0; i < b->rounds; i++)
		if (io_round(b, io, call, clients, row))
			return -1;
	row_print(row);
	return 0;
}

static bool chosen(const struct bench *b, uint64_t call, unsigned int clients)
{
	return (!b->call || b->call == call) &&
	       (!b->clients || b->clients == clients);
}

static int bandwidth(const struct bench *b, struct report *r)
{
	static const uint64_t calls[] = { 65536, 1u << 20, 4u << 20 };
	static const unsigned int clients[] = { 1, 2, 4 };

	report_title("Sequential bandwidth, GB/s; peer: plain TCP stream",
		     "of stream", "of stored stream", "of local");
	for (unsigned int c = 0; c < 3; c++)
		for (unsigned int n = 0; n < 3; n++)
			for (int io = BENCH_WRITE_NEW; io <= BENCH_READ; io++)
				if (chosen(b, calls[c], clients[n]) &&
				    io_row(b, r, (enum bench_io)io, calls[c],
					   clients[n]))
					return -1;
	return 0;
}

static int latency_round(const struct bench *b, enum bench_io io,
			 struct row *row)
{
	struct bench_io_arg a = { .io = io,
				  .pvfs = true,
				  .call = 4096,
				  .share = 40u << 20,
				  .random = true };
	struct bench_task task = { bench_io_client, &a };
	struct bench_result res;
	uint64_t calls = a.share / a.call;
	double pp = io == BENCH_READ ? bench_pingpong(128, 4224, 5000)
				     : bench_pingpong(4224, 128, 5000);
	double us;

	if (pp < 0 || bench_run(b, 1, &task, &res))
		return -1;
	us = res.secs / (double)calls * 1e6;
	row_add(row, ROW_VALUE, us);
	row_add(row, ROW_PEER, us / (pp * 1e6));
	row_add(row, ROW_CLIENT_CPU, res.client_cpu / (double)calls * 1e6);
	row_add(row, ROW_SERVER_CPU, res.server_cpu / (double)calls * 1e6);
	return 0;
}

static int latency(const struct bench *b, struct report *r)
{
	report_title("4 KiB calls, us; peer: TCP ping-pong of the same bytes; "
		     "CPU in us a call",
		     "ping-pongs", "", "");
	for (int io = BENCH_WRITE; io <= BENCH_READ; io++) {
		struct row *row = report_row(r, "latency", io_name[io], 4096,
					     1);

		for (unsigned int i = 0; i < b->rounds; i++)
			if (latency_round(b, (enum bench_io)io, row))
				return -1;
		row_print(row);
	}
	return 0;
}

static int meta_round(const struct bench *b, unsigned int clients,
		      struct row *rows[4])
{
	static const enum bench_meta order[] = { BENCH_CREATE, BENCH_STAT,
						 BENCH_READDIR, BENCH_UNLINK };
	double flush = bench_flush(b->disk, 500);

	for (unsigned int i = 0; i < 4; i++) {
		struct bench_meta_arg a = { order[i], b->files };
		struct bench_task task = { bench_meta_client, &a };
		struct bench_result res;
		double rate;

		if (flush < 0 || bench_run(b, clients, &task, &res))
			return -1;
		rate = (double)b->files * clients / res.secs;
		row_add(rows[order[i]], ROW_VALUE, rate);
		row_add(rows[order[i]], ROW_PEER, rate / flush);
		row_add(rows[order[i]], ROW_CLIENT_CPU,
			res.client_cpu / (b->files * clients) * 1e6);
		row_add(rows[order[i]], ROW_SERVER_CPU,
			res.server_cpu / (b->files * clients) * 1e6);
	}
	return 0;
}

static int metadata(const struct bench *b, struct report *r)
{
	static const unsigned int clients[] = { 1, 4 };

	report_title("Names, operations a second; peer: the disk's flushes; "
		     "CPU in us an operation",
		     "flushes", "", "");
	for (unsigned int n = 0; n < 2; n++) {
		struct row *rows[4];

		for (int op = 0; op < 4; op++)
			rows[op] = report_row(r, "metadata", meta_name[op], 0,
					      clients[n]);
		for (unsigned int i = 0; i < b->rounds; i++)
			if (meta_round(b, clients[n], rows))
				return -1;
		for (int op = 0; op < 4; op++)
			row_print(rows[op]);
	}
	return 0;
}

static const struct option longs[] = {
	{ "dir", required_argument, NULL, 'd' },
	{ "local", required_argument, NULL, 'l' },
	{ "disk", required_argument, NULL, 'k' },
	{ "server", required_argument, NULL, 's' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "mib", required_argument, NULL, 'm' },
	{ "files", required_argument, NULL, 'n' },
	{ "call", required_argument, NULL, 'c' },
	{ "clients", required_argument, NULL, 'p' },
	{ "on", required_argument, NULL, 'w' },
	{ "only", required_argument, NULL, 'o' },
	{ "json", required_argument, NULL, 'j' },
	{ 0 },
};

static int usage(void)
{
	fprintf(stderr,
		"Usage: pvfs-bench --dir PVFSDIR --local MEMDIR --disk MGRDIR\n"
		"    [--server PID]... [--rounds N] [--mib N] [--files N]\n"
		"    [--only bandwidth|latency|metadata|small] [--json FILE]\n"
		"    [--on TRANSPORT=PVFSDIR]... for small\n"
		"    [--call KIB] [--clients N]\n");
	return 2;
}

static int wrong(const struct option *o, const char *val)
{
	const char *want = o->val == 'm'   ? "64 or more"
			   : o->val == 'r' ? "1 to 32"
			   : o->val == 's' ? "at most 64 of them"
			   : o->val == 'w' ? "NAME=DIR, at most 4 of them"
					   : "1 or more";

	fprintf(stderr, "pvfs-bench: --%s %s: want %s\n", o->name, val, want);
	return -1;
}

/* Parses NAME=DIR.  Its memory is never freed. */
static bool add_way(struct bench *b, const char *val)
{
	struct bench_way *w = &b->ways[b->nways];
	char *text = strdup(val), *dir = text ? strchr(text, '=') : NULL;
	char *section;

	if (!dir || dir[1] != '/' || b->nways == BENCH_WAYS_MAX)
		return false;
	*dir = '\0';
	if (asprintf(&section, "small, %s", text) < 0)
		return false;
	*w = (struct bench_way){ text, section, dir + 1 };
	b->nways++;
	return true;
}

static int parse(struct bench *b, const char **only, const char **json,
		 int argc, char **argv)
{
	int opt, at = 0;

	while ((opt = getopt_long(argc, argv, "", longs, &at)) != -1) {
		unsigned long n = optarg ? strtoul(optarg, NULL, 10) : 0;

		if (opt == 'd')
			b->dir = optarg;
		else if (opt == 'l')
			b->local = optarg;
		else if (opt == 'k')
			b->disk = optarg;
		else if (opt == 's' && b->nservers < BENCH_SERVERS_MAX)
			b->servers[b->nservers++] = (pid_t)n;
		else if (opt == 'r' && n && n <= BENCH_ROUNDS_MAX)
			b->rounds = (unsigned int)n;
		else if (opt == 'm' && n >= 64)
			b->bytes = (uint64_t)n << 20;
		else if (opt == 'n' && n)
			b->files = (unsigned int)n;
		else if (opt == 'c' && n)
			b->call = (uint64_t)n << 10;
		else if (opt == 'p' && n)
			b->clients = (unsigned int)n;
		else if (opt == 'w' && add_way(b, optarg))
			continue;
		else if (opt == 'o')
			*only = optarg;
		else if (opt == 'j')
			*json = optarg;
		else
			return opt == '?' ? -1 : wrong(&longs[at], optarg);
	}
	return b->dir && b->local && b->disk && optind == argc ? 0 : -1;
}

static int measure(const struct bench *b, struct report *r, const char *only)
{
	static const struct {
		const char *name;
		int (*fn)(const struct bench *b, struct report *r);
	} parts[] = {
		{ "bandwidth", bandwidth },
		{ "latency", latency },
		{ "metadata", metadata },
		{ "small", bench_small },
	};

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (only && strcmp(only, parts[i].name))
			continue;
		if (parts[i].fn(b, r)) {
			fprintf(stderr, "pvfs-bench: %s failed\n",
				parts[i].name);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct bench b = { .rounds = 5, .bytes = 512u << 20, .files = 2000 };
	const char *only = NULL, *json = NULL;
	struct report *r;
	int status;

	if (parse(&b, &only, &json, argc, argv))
		return usage();
	r = report_new();
	if (!r)
		return 1;
	status = measure(&b, r, only);
	if (!status && json)
		status = report_write(r, &b, json);
	report_free(r);
	return status;
}
