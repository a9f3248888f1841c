/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h - clients that move regular pieces of a file: by lists, with allocation hints, one by
 * one, or as one contiguous range.  Their functions are for bench_run().
 */
#ifndef PIECES_H
#define PIECES_H

#include "tests/bench/pvfs_perf.h"

#define PIECES_MAX 8192u
#define PIECES_CLIENTS 4

enum pieces_way {
	/* lists; neighbouring pieces of memory are registered together */
	PIECES_LIST,
	PIECES_HINTS, /* lists, with the buffer as allocation hint */
	PIECES_ALONE, /* lists; each piece of memory is registered separately */
	PIECES_SINGLE, /* one call for each piece */
	PIECES_WHOLE, /* one call for a contiguous range */
};

struct pieces_count {
	/* counts of the measurement, without its preparation */
	uint64_t registrations, requests;
};

struct pieces {
	const char *file; /* its name */
	unsigned int n;
	size_t len;
	int64_t stride;
	size_t mem_stride;
	/* offset of the first piece of each rank */
	int64_t off[PIECES_CLIENTS];
	enum pieces_way way;
	bool write;
	unsigned int times; /* number of repetitions; 0: one */
	/* counts of rank 0, in shared memory; or NULL */
	struct pieces_count *count;
};

/*
 * Sets *p to the pattern of mpi-tile-io: 2 x 2 displays of 1024 x 768 elements, one for each
 * client.  With memory set, each display is part of an array of all four.
 */
void pieces_tile(struct pieces *p, size_t elem, bool memory);
/* Returns the MB/s of PIECES_CLIENTS clients. */
double pieces_rate(const struct pieces *p, double secs);
int pieces_client(const struct bench *b, void *arg, unsigned int rank, bool go);
/*
 * Runs n clients.  Returns the seconds that the slowest needs for one repetition; < 0 after a
 * message.
 */
double pieces_run(const struct perf_target *t, struct pieces *p,
		  unsigned int n);

#endif
