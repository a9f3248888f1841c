/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * par.h - the few collective operations that pvfs-test needs: over MPI (par_mpi.c), or
 * for one process without MPI (par_alone.c).
 */
#ifndef PAR_H
#define PAR_H

struct par {
	int rank, size;
};

/* May remove MPI's own options from argc and argv. */
int par_init(struct par *par, int *argc, char ***argv);
void par_finish(void);
void par_barrier(void);
/* Gathers every rank's val in all[0..size) on rank 0. */
void par_gather(double val, double *all);
/* Returns the largest val of all ranks, on all ranks. */
int par_max(int val);

#endif
