/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h - clients that move regular pieces of a file: by lists, with
 * allocation hints, one by one, or as much in one go.  For bench_run().
 */
#ifndef PIECES_H
#define PIECES_H

#include "tests/bench/pvfs_perf.h"

#define PIECES_MAX 8192u
#define PIECES_CLIENTS 4

enum pieces_way {
	PIECES_LIST, /* neighbours in memory are registered together */
	PIECES_HINTS, /* the buffer as allocation hint */
	PIECES_ALONE, /* each piece is registered by itself */
	PIECES_SINGLE, /* a call for each */
	PIECES_WHOLE, /* one call, contiguous */
};

struct pieces_count {
	uint64_t registrations, requests; /* of the measured part */
};

struct pieces {
	const char *file; /* its name */
	unsigned int n;
	size_t len;
	int64_t stride;
	size_t mem_stride;
	int64_t off[PIECES_CLIENTS]; /* of the first piece, by rank */
	enum pieces_way way;
	bool write;
	unsigned int times; /* over and over; 0: once */
	struct pieces_count *count; /* of rank 0, in shared memory; or NULL */
};

/*
 * mpi-tile-io's: 2 x 2 displays of 1024 x 768 elements, one a client; with
 * memory, each lies in an array of all four.
 */
void pieces_tile(struct pieces *p, size_t elem, bool memory);
/* MB/s of PIECES_CLIENTS clients. */
double pieces_rate(const struct pieces *p, double secs);
int pieces_client(const struct bench *b, void *arg, unsigned int rank, bool go);
/* Seconds a time of the slowest of n clients; < 0 after a message. */
double pieces_run(const struct perf_target *t, struct pieces *p,
		  unsigned int n);

#endif
