/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_bench.h - MPI-IO programs with access patterns that are common in benchmarks of parallel file
 * systems, for any file system that MPI-IO supports.
 *
 * A program describes the data of a rank as a file view, a type of memory and a sequence of steps.
 * The driver moves this data in each of the chosen ways, round by round, so that all values of a
 * ratio are from one run.
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
	const char *ways; /* the chosen ways, names separated by commas */
	int rounds;
	int elem; /* bytes of an element */
	int block; /* bytes of a block */
	int grid; /* elements of one side of the cube */
	int steps;
	int files;
	bool strided; /* the data has gaps in memory */
	bool verify;
	bool flush; /* flush the written data before the clock stops */
	/* number of computations before each step is written; 0: none */
	int work;
	int nhints;
	char *hint[HINTS_MAX]; /* key=value */
	int rank, ranks;
};

/* The data that one rank moves. */
struct pattern {
	/* view of the file, with etype MPI_BYTE; MPI_BYTE: no view */
	MPI_Datatype view;
	/* type of the memory: one element of it is at buf */
	MPI_Datatype memory;
	char *buf;
	int bytes; /* bytes that a rank moves in one step */
	int steps;
	/* offset of step 0 in the view, and distance of the steps */
	MPI_Offset first, next;
	/* bt: number of cubes at buf, and elements of one side of a cube */
	int cells, side;
};

/* Ends all ranks with a message. */
_Noreturn void die(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
/* Checks the result of an MPI call.  Ends all ranks unless it is MPI_SUCCESS. */
void sure(int code, const char *what);
void *memory(size_t len);
/* Returns the hints of the options, which the caller frees with MPI_Info_free(). */
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

/* mpi_drive.c: moves the pattern in every chosen way, and adds the times to out. */
void drive(const struct options *o, const struct pattern *p,
	   struct json_object *out);

/* Each sets *p to the pattern of a program. */
void tile_pattern(const struct options *o, struct pattern *p);
void bt_pattern(const struct options *o, struct pattern *p);
void block_pattern(const struct options *o, struct pattern *p);
/* bt_solve.c: executes the computation of BT on all cells of the pattern. */
void bt_solve(const struct pattern *p, int times);
/* Measures collective create and set_size. */
void meta_run(const struct options *o, struct json_object *out);
/* Measures accesses by a shared pointer, and by a number under a lock.  Both are on PVFS. */
void pointer_run(const struct options *o, struct json_object *out);

#endif
