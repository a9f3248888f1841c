/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patient.h - MPI's blocking calls for ROMIO, which wait so that other processes can run.
 *
 * MPICH's own calls poll without ever yielding the processor.  With more ranks than
 * processors, the waiting ranks of a collective access would use the time slices that the
 * last rank, or a server on the same host, needs.
 *
 * The calls are named and used like MPI's.  All ranks must use them, or none: they are
 * nonblocking collective calls, which do not match blocking ones.
 */
#ifndef PATIENT_H
#define PATIENT_H

#include <mpi.h>

int patient_Allgather(const void *send, int nsend, MPI_Datatype send_type,
		      void *recv, int nrecv, MPI_Datatype recv_type,
		      MPI_Comm comm);
int patient_Allreduce(const void *send, void *recv, int n, MPI_Datatype type,
		      MPI_Op op, MPI_Comm comm);
int patient_Alltoall(const void *send, int nsend, MPI_Datatype send_type,
		     void *recv, int nrecv, MPI_Datatype recv_type,
		     MPI_Comm comm);
int patient_Barrier(MPI_Comm comm);
int patient_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm);
int patient_Comm_dup(MPI_Comm comm, MPI_Comm *copy);
int patient_Gather(const void *send, int nsend, MPI_Datatype send_type,
		   void *recv, int nrecv, MPI_Datatype recv_type, int root,
		   MPI_Comm comm);
int patient_Gatherv(const void *send, int nsend, MPI_Datatype send_type,
		    void *recv, const int nrecv[], const int places[],
		    MPI_Datatype recv_type, int root, MPI_Comm comm);
int patient_Recv(void *buf, int n, MPI_Datatype type, int from, int tag,
		 MPI_Comm comm, MPI_Status *status);
int patient_Wait(MPI_Request *request, MPI_Status *status);
int patient_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]);
int patient_Waitany(int n, MPI_Request requests[], int *index,
		    MPI_Status *status);

#endif
