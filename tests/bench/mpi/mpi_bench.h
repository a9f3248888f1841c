/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_bench.h - MPI-IO programs with the access patterns that parallel file systems are judged by,
 * on any file system that MPI-IO reaches.
 *
 * A program describes the data of a rank as a file view, a type of memory and a row of steps.  The
 * driver moves it in each of the chosen ways, round by round, so that ratios are of one run.
 */
#ifndef MPI_BENCH_H
#define MPI_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

#define ROUNDS_MAX 64
#define HINTS_MAX 16

struct options {
	const char *program, *file;
	const char *ways; /* names with commas */
	int rounds;
	int elem; /* bytes of an element */
	int block; /* bytes */
	int grid; /* elements of a side */
	int steps;
	int files;
	bool strided; /* gaps in memory */
	bool verify;
	bool flush; /* flush the written data before the clock stops */
	int work; /* times to compute before each step is written; 0: no */
	int nhints;
	char *hint[HINTS_MAX]; /* key=value */
	int rank, ranks;
};

/* The data that one rank moves. */
struct pattern {
	MPI_Datatype view; /* of the file, etype MPI_BYTE; MPI_BYTE: none */
	MPI_Datatype memory; /* one of them at buf */
	char *buf;
	int bytes; /* of a step and rank */
	int steps;
	MPI_Offset first, next; /* of step 0, from step to step; in the view */
	int cells, side; /* bt: cubes at buf, and elements of a side of one */
};

/* Ends all ranks with a message. */
_Noreturn void die(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* An MPI call's result is MPI_SUCCESS, or the end. */
void sure(int code, const char *what);
void *memory(size_t len);
/* The hints of the options; the caller's to MPI_Info_free(). */
MPI_Info hints(const struct options *o);
double median(const double *v, int n);
/*
 * slowest() returns the slowest rank's seconds, the same at all ranks; barrier() waits until all
 * ranks are there.  Both sleep meanwhile.  If there are fewer processors than processes, a rank
 * that polls takes the processor from the servers and from ranks that still move data.  Then the
 * result would be the scheduler's.
 */
double slowest(double seconds);
void barrier(void);

/* Moves the pattern in every way and adds what it took to out: mpi_drive.c. */
void drive(const struct options *o, const struct pattern *p,
	   struct json_object *out);

/* The programs: fill *p. */
void tile_pattern(const struct options *o, struct pattern *p);
void bt_pattern(const struct options *o, struct pattern *p);
void block_pattern(const struct options *o, struct pattern *p);
/* BT's computing, on all cells of the pattern: bt_solve.c. */
void bt_solve(const struct pattern *p, int times);
/* Collective create and set_size, timed by itself. */
void meta_run(const struct options *o, struct json_object *out);
/* Accesses by a shared pointer, and by a number under a lock; both on PVFS. */
void pointer_run(const struct options *o, struct json_object *out);

#endif
