/* SPDX-License-Identifier: BSD-2-Clause */
/* par_mpi.c - par.h over MPI. */
#include <mpi.h>

#include "client/tools/admin/par.h"

int par_init(struct par *par, int *argc, char ***argv)
{
	if (MPI_Init(argc, argv) != MPI_SUCCESS)
		return -1;
	MPI_Comm_rank(MPI_COMM_WORLD, &par->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &par->size);
	return 0;
}

void par_finish(void)
{
	MPI_Finalize();
}

void par_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

void par_gather(double val, double *all)
{
	MPI_Gather(&val, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

int par_max(int val)
{
	int max = val;

	MPI_Allreduce(&val, &max, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return max;
}
