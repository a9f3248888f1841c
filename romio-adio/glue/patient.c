/* SPDX-License-Identifier: BSD-2-Clause */
/* patient.c - see patient.h. */
#include <sched.h>

#include "romio-adio/glue/patient.h"

#define POLLS 100u /* polls before yielding the processor */

/* Called between two polls. */
static void pause_between_polls(unsigned int *polls)
{
	if (++*polls > POLLS)
		sched_yield();
}

int patient_Wait(MPI_Request *request, MPI_Status *status)
{
	unsigned int polls = 0;
	int done = 0, err;

	for (;;) {
		err = PMPI_Test(request, &done, status);
		if (done || err != MPI_SUCCESS)
			return err;
		pause_between_polls(&polls);
	}
}

int patient_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
	unsigned int polls = 0;
	int done = 0, err;

	for (;;) {
		err = PMPI_Testall(n, requests, &done, statuses);
		if (done || err != MPI_SUCCESS)
			return err;
		pause_between_polls(&polls);
	}
}

int patient_Waitany(int n, MPI_Request requests[], int *index,
		    MPI_Status *status)
{
	unsigned int polls = 0;
	int done = 0, err;

	for (;;) {
		err = PMPI_Testany(n, requests, index, &done, status);
		if (done || err != MPI_SUCCESS)
			return err;
		pause_between_polls(&polls);
	}
}

/* Completes an operation whose start returned err. */
static int wait_if_started(int err, MPI_Request *request)
{
	return err == MPI_SUCCESS ? patient_Wait(request, MPI_STATUS_IGNORE)
				  : err;
}

int patient_Allgather(const void *send, int nsend, MPI_Datatype send_type,
		      void *recv, int nrecv, MPI_Datatype recv_type,
		      MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(PMPI_Iallgather(send, nsend, send_type, recv,
					       nrecv, recv_type, comm, &r),
			       &r);
}

int patient_Allreduce(const void *send, void *recv, int n, MPI_Datatype type,
		      MPI_Op op, MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(
		PMPI_Iallreduce(send, recv, n, type, op, comm, &r), &r);
}

int patient_Alltoall(const void *send, int nsend, MPI_Datatype send_type,
		     void *recv, int nrecv, MPI_Datatype recv_type,
		     MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(PMPI_Ialltoall(send, nsend, send_type, recv,
					      nrecv, recv_type, comm, &r),
			       &r);
}

int patient_Barrier(MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(PMPI_Ibarrier(comm, &r), &r);
}

int patient_Bcast(void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(PMPI_Ibcast(buf, n, type, root, comm, &r), &r);
}

int patient_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
	MPI_Request r;

	return wait_if_started(PMPI_Comm_idup(comm, copy, &r), &r);
}

int patient_Gather(const void *send, int nsend, MPI_Datatype send_type,
		   void *recv, int nrecv, MPI_Datatype recv_type, int root,
		   MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(PMPI_Igather(send, nsend, send_type, recv, nrecv,
					    recv_type, root, comm, &r),
			       &r);
}

int patient_Gatherv(const void *send, int nsend, MPI_Datatype send_type,
		    void *recv, const int nrecv[], const int places[],
		    MPI_Datatype recv_type, int root, MPI_Comm comm)
{
	MPI_Request r;

	return wait_if_started(PMPI_Igatherv(send, nsend, send_type, recv,
					     nrecv, places, recv_type, root,
					     comm, &r),
			       &r);
}

int patient_Recv(void *buf, int n, MPI_Datatype type, int from, int tag,
		 MPI_Comm comm, MPI_Status *status)
{
	MPI_Request r;
	int err = PMPI_Irecv(buf, n, type, from, tag, comm, &r);

	return err == MPI_SUCCESS ? patient_Wait(&r, status) : err;
}
