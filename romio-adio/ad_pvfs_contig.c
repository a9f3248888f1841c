/* SPDX-License-Identifier: BSD-2-Clause */
/* ad_pvfs_contig.c - one piece of memory, one piece of the file. */
#include <errno.h>

#include <pvfs.h>

#include "romio-adio/ad_pvfs.h"

/* The bytes of an access. */
static size_t access_length(int count, MPI_Datatype type)
{
	MPI_Count size;

	MPI_Type_size_x(type, &size);
	return (size_t)size * (size_t)count;
}

/* Handles a call that moved n bytes, or returned -1 with errno. */
static void end_contig(ADIO_File fd, const char *call, ssize_t n, int ptr,
		       ADIO_Offset off, MPI_Datatype type, ADIO_Status *status,
		       int *error_code)
{
	if (n < 0) {
		*error_code = ADIOI_Err_create_code(call, fd->filename, errno);
		return;
	}
	fd->fp_sys_posn = off + n;
	if (ptr == ADIO_INDIVIDUAL)
		fd->fp_ind += n;
	if (status)
		MPIR_Status_set_bytes(status, type, n);
	*error_code = MPI_SUCCESS;
}

void ad_pvfs_read_contig(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			 int ptr, ADIO_Offset off, ADIO_Status *status,
			 int *error_code)
{
	ssize_t n;

	if (ptr == ADIO_INDIVIDUAL)
		off = fd->fp_ind;
	n = pvfs_pread(fd->fd_sys, buf, access_length(count, type), off);
	end_contig(fd, "pvfs_pread", n, ptr, off, type, status, error_code);
}

void ad_pvfs_write_contig(ADIO_File fd, const void *buf, int count,
			  MPI_Datatype type, int ptr, ADIO_Offset off,
			  ADIO_Status *status, int *error_code)
{
	ssize_t n;

	if (ptr == ADIO_INDIVIDUAL)
		off = fd->fp_ind;
	n = pvfs_pwrite(fd->fd_sys, buf, access_length(count, type), off);
	end_contig(fd, "pvfs_pwrite", n, ptr, off, type, status, error_code);
}
