/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_small.c - compares small calls over each transport with the same calls of the same
 * processes on the file system that stores the iods' objects.
 */
#include <stdio.h>

#include "tests/bench/bench_report.h"

/* these calls are slow, so they move only this fraction of what other measurements move */
#define PART 16

/* 47,008 bytes: the size of a write in IO500's hard case */
static const uint64_t calls[] = { 4096, 16384, 47008, 65536 };
static const unsigned int clients[] = { 1, 4 };
static const char *const op_names[] = {
	[BENCH_WRITE] = "write over", [BENCH_READ] = "read"
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A line of the table: the same calls on the iods' own file system, and over each transport. */
struct line {
	enum bench_io io;
	uint64_t call;
	unsigned int clients;
	struct row *own, *way[BENCH_WAYS_MAX];
};

/* Returns GB/s; < 0: failed. dir: a directory on PVFS; NULL: b->local. */
static double rate(const struct bench *b, const struct line *l, const char *dir)
{
	struct bench_io_arg a = { .io = l->io,
				  .pvfs = dir != NULL,
				  .call = l->call,
				  .share = b->bytes / PART / l->clients /
					   l->call * l->call };
	struct bench_task task = { bench_io_client, &a };
	struct bench there = *b;
	struct bench_result res;

	there.dir = dir;
	if (bench_run(&there, l->clients, &task, &res))
		return -1;
	return (double)a.share * l->clients / res.secs / 1e9;
}

static int one_round(const struct bench *b, const struct line *l)
{
	double own = rate(b, l, NULL), v;

	if (own < 0)
		return -1;
	row_add(l->own, ROW_VALUE, own);
	for (unsigned int i = 0; i < b->nways; i++) {
		v = rate(b, l, b->ways[i].dir);
		if (v < 0)
			return -1;
		row_add(l->way[i], ROW_VALUE, v);
		row_add(l->way[i], ROW_LOCAL, v / own);
	}
	return 0;
}

static void title(const struct bench *b)
{
	printf("\nSmall calls, GB/s; own: the iods' file system itself.\n\n"
	       "| operation | call | clients | own |");
	for (unsigned int i = 0; i < b->nways; i++)
		printf(" %s | of own |", b->ways[i].name);
	printf("\n|---|---:|---:|---:|");
	for (unsigned int i = 0; i < b->nways; i++)
		printf("---:|---:|");
	printf("\n");
}

static void print(const struct bench *b, const struct line *l)
{
	printf("| %s | %llu | %u | %.2f |", op_names[l->io],
	       (unsigned long long)l->call, l->clients,
	       row_median(l->own, ROW_VALUE));
	for (unsigned int i = 0; i < b->nways; i++)
		printf(" %.2f | %.2f |", row_median(l->way[i], ROW_VALUE),
		       row_median(l->way[i], ROW_LOCAL));
	printf("\n");
	fflush(stdout);
}

static int one_line(const struct bench *b, struct report *r, struct line l)
{
	unsigned int i;

	l.own = report_row(r, "small, own", op_names[l.io], l.call, l.clients);
	for (i = 0; i < b->nways; i++)
		l.way[i] = report_row(r, b->ways[i].section, op_names[l.io],
				      l.call, l.clients);
	for (i = 0; i < b->rounds; i++)
		if (one_round(b, &l))
			return -1;
	print(b, &l);
	return 0;
}

int bench_small(const struct bench *b, struct report *r)
{
	if (!b->nways)
		return 0;
	title(b);
	for (unsigned int n = 0; n < COUNT(clients); n++)
		for (unsigned int c = 0; c < COUNT(calls); c++)
			for (int io = BENCH_WRITE; io <= BENCH_READ; io++)
				if (one_line(b, r,
					     (struct line){
						     .io = (enum bench_io)io,
						     .call = calls[c],
						     .clients = clients[n] }))
					return -1;
	return 0;
}
