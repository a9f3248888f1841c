/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_mpi.h - experiments that run mpi_bench under mpiexec. */
#ifndef PERF_MPI_H
#define PERF_MPI_H

#include "tests/bench/pvfs_perf.h"

struct json_object;

struct mpi_job {
	const char *program; /* "tile" */
	unsigned int ranks;
	const char *args[16]; /* arguments; NULL ends the list */
};

/*
 * Returns false, and adds a line about it to run->r, if run->programs does not have mpi_bench and
 * libmpio-pvfs.so, or there is no mpiexec.
 */
bool mpi_there(struct perf_run *run);
/*
 * Returns the output of the job on t, which the caller frees by json_object_put(), or NULL after a
 * message.  If t is NULL, the job uses MPICH's own MPI-IO on run->local.
 */
struct json_object *mpi_run(const struct perf_run *run,
			    const struct perf_target *t,
			    const struct mpi_job *job);
/* Returns the MB/s of "write" or "read" in one way of mpi_bench; < 0: not measured. */
double mpi_rate(struct json_object *o, bool write, const char *way);

/* Returns the accesses per second of the program "pointer". */
double mpi_accesses(struct json_object *o, bool write, const char *way);
/* Returns the seconds of all steps. */
double mpi_seconds(struct json_object *o, bool write, const char *way);

/*
 * Returns the number of rounds.  It is small, because each job starts processes and compares all
 * data.
 */
unsigned int mpi_rounds(const struct perf_run *run);
/*
 * Returns how often a job repeats its measurement: `often`, or once if only one round is requested.
 */
const char *mpi_often(const struct perf_run *run, const char *often);

/* Runs the part of the experiment tile that uses MPI-IO.  Does nothing if MPI-IO was not built. */
int perf_mpi_tile(struct perf_run *run);

#endif
