/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unlocked.h - runs ROMIO's blocking MPI calls without its lock.  Calls that wait for
 * other ranks wait as in patient.h.
 *
 * ROMIO's mpipr.h turns every MPI_x into PMPI_x.  These macros release the lock before
 * the call and take it again afterwards.
 */
#ifndef UNLOCKED_H
#define UNLOCKED_H

#include "romio-adio/glue/patient.h"

/* Releases the lock completely, and returns how often the thread held it. */
unsigned int romio_unlock_all(void);
void romio_lock_again(unsigned int held);

#define ROMIO_UNLOCKED(call)                                                   \
	__extension__({                                                        \
		unsigned int romio_held = romio_unlock_all();                  \
		int romio_result = (call);                                     \
                                                                               \
		romio_lock_again(romio_held);                                  \
		romio_result;                                                  \
	})

#define PMPI_Allgather(...) ROMIO_UNLOCKED(patient_Allgather(__VA_ARGS__))
#define PMPI_Allgatherv(...) ROMIO_UNLOCKED(PMPI_Allgatherv(__VA_ARGS__))
#define PMPI_Allreduce(...) ROMIO_UNLOCKED(patient_Allreduce(__VA_ARGS__))
#define PMPI_Alltoall(...) ROMIO_UNLOCKED(patient_Alltoall(__VA_ARGS__))
#define PMPI_Alltoallv(...) ROMIO_UNLOCKED(PMPI_Alltoallv(__VA_ARGS__))
#define PMPI_Alltoallw(...) ROMIO_UNLOCKED(PMPI_Alltoallw(__VA_ARGS__))
#define PMPI_Barrier(...) ROMIO_UNLOCKED(patient_Barrier(__VA_ARGS__))
#define PMPI_Bcast(...) ROMIO_UNLOCKED(patient_Bcast(__VA_ARGS__))
#define PMPI_Comm_create(...) ROMIO_UNLOCKED(PMPI_Comm_create(__VA_ARGS__))
#define PMPI_Comm_dup(...) ROMIO_UNLOCKED(patient_Comm_dup(__VA_ARGS__))
#define PMPI_Comm_split(...) ROMIO_UNLOCKED(PMPI_Comm_split(__VA_ARGS__))
#define PMPI_Exscan(...) ROMIO_UNLOCKED(PMPI_Exscan(__VA_ARGS__))
#define PMPI_Gather(...) ROMIO_UNLOCKED(patient_Gather(__VA_ARGS__))
#define PMPI_Gatherv(...) ROMIO_UNLOCKED(patient_Gatherv(__VA_ARGS__))
#define PMPI_Recv(...) ROMIO_UNLOCKED(patient_Recv(__VA_ARGS__))
#define PMPI_Reduce(...) ROMIO_UNLOCKED(PMPI_Reduce(__VA_ARGS__))
#define PMPI_Scan(...) ROMIO_UNLOCKED(PMPI_Scan(__VA_ARGS__))
#define PMPI_Scatter(...) ROMIO_UNLOCKED(PMPI_Scatter(__VA_ARGS__))
#define PMPI_Scatterv(...) ROMIO_UNLOCKED(PMPI_Scatterv(__VA_ARGS__))
#define PMPI_Send(...) ROMIO_UNLOCKED(PMPI_Send(__VA_ARGS__))
#define PMPI_Sendrecv(...) ROMIO_UNLOCKED(PMPI_Sendrecv(__VA_ARGS__))
#define PMPI_Wait(...) ROMIO_UNLOCKED(patient_Wait(__VA_ARGS__))
#define PMPI_Waitall(...) ROMIO_UNLOCKED(patient_Waitall(__VA_ARGS__))
#define PMPI_Waitany(...) ROMIO_UNLOCKED(patient_Waitany(__VA_ARGS__))
#define PMPI_Waitsome(...) ROMIO_UNLOCKED(PMPI_Waitsome(__VA_ARGS__))

#endif
