/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_mpi.h - experiments that run mpi_bench under mpiexec. */
#ifndef PERF_MPI_H
#define PERF_MPI_H

#include "tests/bench/pvfs_perf.h"

struct json_object;

struct mpi_job {
	const char *program; /* "tile" */
	unsigned int ranks;
	const char *args[16]; /* up to a NULL */
};

/*
 * False, noted in run->r as missing, when run->programs has no mpi_bench or no
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
/* MB/s of "write" or "read" in a way of mpi_bench's; < 0: not there. */
double mpi_rate(struct json_object *o, bool write, const char *way);

/* Accesses a second; of "pointer". */
double mpi_accesses(struct json_object *o, bool write, const char *way);
/* The seconds of all steps. */
double mpi_seconds(struct json_object *o, bool write, const char *way);

/* Each job starts processes and compares all data: a few rounds are enough. */
unsigned int mpi_rounds(const struct perf_run *run);
/* How often a job itself does something: once, where only one round is wanted. */
const char *mpi_often(const struct perf_run *run, const char *often);

/* The part of tile that goes through MPI-IO; nothing if it was not built. */
int perf_mpi_tile(struct perf_run *run);

#endif
