/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs_async.c - nonblocking accesses, contiguous or not, as generalised requests that
 * run in the library (pending.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "romio-adio/pending.h"

struct access {
	struct pending p;
	struct strided s;
	char *name;
	MPI_Request request;
	bool complete; /* MPI was told */
};

static void access_free(struct access *a)
{
	strided_free(&a->s);
	free(a->name);
	free(a);
}

/* ---- callbacks for MPI ---- */

static int on_query(void *state, MPI_Status *status)
{
	const struct access *a = state;
	int64_t n = a->p.result;

	MPI_Status_set_elements_x(status, MPI_BYTE, n < 0 ? 0 : n);
	MPI_Status_set_cancelled(status, 0);
	if (n >= 0)
		return MPI_SUCCESS;
	return ADIOI_Err_create_code(a->s.write ? "pvfs_write_list"
						: "pvfs_read_list",
				     a->name, (int)-n);
}

static int on_free(void *state)
{
	struct access *a = state;

	pending_wait(&a->p, 0);
	access_free(a);
	return MPI_SUCCESS;
}

/* The transfer is in flight, so it cannot be cancelled. */
static int on_cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static int complete_request(struct access *a)
{
	if (a->complete || !pending_move(&a->p))
		return MPI_SUCCESS;
	a->complete = true;
	return MPI_Grequest_complete(a->request);
}

static int on_poll(void *state, MPI_Status *status)
{
	(void)status;
	return complete_request(state);
}

static int on_wait(int count, void **states, double timeout, MPI_Status *status)
{
	int i, err = MPI_SUCCESS;

	(void)status;
	for (i = 0; i < count && err == MPI_SUCCESS; i++) {
		struct access *a = states[i];

		pending_wait(&a->p, timeout);
		err = complete_request(a);
	}
	return err;
}

/* ---- start ---- */

/* One for the process, like MPI; under ROMIO's lock. */
static MPIX_Grequest_class class;

static int request_new(struct access *a, ADIO_Request *request)
{
	int err = MPI_SUCCESS;

	if (!class)
		err = MPIX_Grequest_class_create(on_query, on_free, on_cancel,
						 on_poll, on_wait, &class);
	if (err == MPI_SUCCESS)
		err = MPIX_Grequest_class_allocate(class, a, request);
	a->request = *request;
	return err;
}

static struct access *access_new(ADIO_File fd, unsigned int how,
				 const void *buf, int count, MPI_Datatype type,
				 int ptr, ADIO_Offset off)
{
	struct access *a = calloc(1, sizeof(*a));

	if (!a || strided_init(&a->s, fd, how | STRIDED_KEEP, buf, count, type,
			       ptr, off)) {
		free(a);
		return NULL;
	}
	a->name = strdup(fd->filename);
	if (a->name)
		return a;
	access_free(a);
	return NULL;
}

/*
 * In atomic mode, an access needs locks of its own; otherwise, two accesses of one rank
 * would not exclude each other.  For a contiguous access the locks are ROMIO's, which
 * releases them as soon as this call returns.
 */
static bool may_run_beside(const ADIO_File fd, struct access *a)
{
	if (!fd->atomicity)
		return true;
	return a->s.atomic && strided_alone(&a->s, a->name);
}

static void start_access(ADIO_File fd, unsigned int how, const void *buf,
			 int count, MPI_Datatype type, int ptr, ADIO_Offset off,
			 ADIO_Request *request, int *error_code)
{
	struct access *a = access_new(fd, how, buf, count, type, ptr, off);

	if (!a) {
		*error_code = ADIOI_Err_create_code("ad_pvfs_async",
						    fd->filename, ENOMEM);
		return;
	}
	*error_code = request_new(a, request);
	if (*error_code != MPI_SUCCESS) {
		access_free(a);
		return;
	}
	if (ptr == ADIO_INDIVIDUAL && a->s.total)
		fd->fp_ind = strided_place(&a->s, a->s.total);
	if (!may_run_beside(fd, a) || pending_start(&a->p, &a->s))
		pending_ended(&a->p, strided_run(&a->s));
}

void ad_pvfs_iread_contig(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			  int ptr, ADIO_Offset off, ADIO_Request *request,
			  int *error_code)
{
	start_access(fd, STRIDED_CONTIG, buf, count, type, ptr, off, request,
		     error_code);
}

void ad_pvfs_iwrite_contig(ADIO_File fd, const void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Request *request, int *error_code)
{
	start_access(fd, STRIDED_CONTIG | STRIDED_WRITE, buf, count, type, ptr,
		     off, request, error_code);
}

void ad_pvfs_iread_strided(ADIO_File fd, void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Request *request, int *error_code)
{
	start_access(fd, 0, buf, count, type, ptr, off, request, error_code);
}

void ad_pvfs_iwrite_strided(ADIO_File fd, const void *buf, int count,
			    MPI_Datatype type, int ptr, ADIO_Offset off,
			    ADIO_Request *request, int *error_code)
{
	start_access(fd, STRIDED_WRITE, buf, count, type, ptr, off, request,
		     error_code);
}
