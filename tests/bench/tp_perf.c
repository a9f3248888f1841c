/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tp_perf.c - compares a provider with a plain socket.  Both are measured in turns within one run,
 * because on a busy machine only ratios of neighbouring measurements are meaningful.
 *
 *   tp_perf --op write --size 1048576
 *
 * Streams give bytes per second, and ping-pong gives round trips per second.  The ratio is provider
 * / socket.  More speed and less CPU time are better.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "tests/bench/tp_perf.h"

static const struct option options[] = {
	{ "provider", required_argument, NULL, 'p' },
	{ "op", required_argument, NULL, 'o' },
	{ "size", required_argument, NULL, 's' },
	{ "rounds", required_argument, NULL, 'r' },
	{ "ms", required_argument, NULL, 'm' },
	{ "pin", no_argument, NULL, 'P' },
	{ "spin", no_argument, NULL, 'S' },
	{ 0 },
};

static const char *const op_names[] = {
	[PERF_SEND] = "send",
	[PERF_WRITE] = "write",
	[PERF_READ] = "read",
	[PERF_PINGPONG] = "pingpong",
};

static int usage(void)
{
	fprintf(stderr,
		"usage: tp_perf [--provider tcp] [--op send|write|read|"
		"pingpong]\n"
		"               [--size BYTES] [--rounds N] [--ms TIME] "
		"[--pin] [--spin]\n");
	return 2;
}

static bool parse_op(const char *name, enum perf_op *op)
{
	size_t i;

	for (i = 0; i < sizeof(op_names) / sizeof(op_names[0]); i++) {
		if (!strcmp(op_names[i], name)) {
			*op = (enum perf_op)i;
			return true;
		}
	}
	return false;
}

static bool parse(int argc, char **argv, struct perf *p)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			p->provider = optarg;
			break;
		case 'o':
			if (!parse_op(optarg, &p->op))
				return false;
			break;
		case 's':
			p->size = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			p->rounds = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'm':
			p->ms = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'P':
			p->pin = true;
			break;
		case 'S':
			p->spin = true;
			break;
		default:
			return false;
		}
	}
	return optind == argc && p->size && p->size <= PERF_SIZE_MAX &&
	       p->rounds && p->rounds <= PERF_ROUNDS_MAX;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), compare);
	return v[n / 2];
}

static void print(const struct perf *p, const char *who,
		  const struct perf_result *r)
{
	double rate[PERF_ROUNDS_MAX], cpu[PERF_ROUNDS_MAX], mid;
	unsigned int i;

	for (i = 0; i < p->rounds; i++) {
		rate[i] = r[i].rate;
		cpu[i] = r[i].cpu * 1e6;
	}
	mid = median(rate, p->rounds);
	if (p->op == PERF_PINGPONG)
		printf("%-8s %10.2f us/round trip", who, 1e6 / mid);
	else
		printf("%-8s %10.1f MB/s         ", who,
		       mid * (double)p->size / 1e6);
	printf(" %10.2f us of CPU\n", median(cpu, p->rounds));
}

/* Prints the ratios of neighbouring measurements, then their medians. */
static void report(const struct perf *p, const struct perf_result *plain,
		   const struct perf_result *ours)
{
	double rate[PERF_ROUNDS_MAX], cpu[PERF_ROUNDS_MAX];
	unsigned int i;

	for (i = 0; i < p->rounds; i++) {
		rate[i] = ours[i].rate / plain[i].rate;
		cpu[i] = ours[i].cpu / plain[i].cpu;
	}
	printf("%s, %zu bytes, per operation\n", op_names[p->op], p->size);
	print(p, "socket", plain);
	print(p, p->provider, ours);
	printf("%-8s %10.2f (speed)      %10.2f (CPU)\n", "ratio",
	       median(rate, p->rounds), median(cpu, p->rounds));
}

int main(int argc, char **argv)
{
	struct perf p = {
		.provider = "tcp",
		.op = PERF_WRITE,
		.size = 1 << 20,
		.rounds = 7,
		.ms = 150,
		.in_flight = 2,
	};
	struct perf_result plain[PERF_ROUNDS_MAX], ours[PERF_ROUNDS_MAX];
	unsigned int i;

	if (!parse(argc, argv, &p))
		return usage();
	for (i = 0; i < p.rounds; i++) {
		if (!perf_socket(&p, &plain[i]) || !perf_provider(&p, &ours[i]))
			return 1;
	}
	report(&p, plain, ours);
	return 0;
}
