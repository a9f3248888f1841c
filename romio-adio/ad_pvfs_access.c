/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs_access.c - blocking reads and writes. A noncontiguous access is one list I/O call. It
 * passes the extent of the memory buffer, so that libpvfs registers the buffer once (ICPP 2003,
 * section 5). If an MPI hint disables list I/O, ROMIO uses data sieving or one call for each piece.
 */
#include <errno.h>

#include <pvfs.h>

#include "romio-adio/ad_pvfs.h"
#include "romio-adio/strided.h"

/* ---- contiguous ---- */

/* Returns the number of bytes that an access moves. */
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

/* ---- noncontiguous ---- */

static int64_t run_strided(ADIO_File fd, unsigned int how, const void *buf,
			   int count, MPI_Datatype type, int ptr,
			   ADIO_Offset off)
{
	struct strided s;
	int64_t done = strided_init(&s, fd, how, buf, count, type, ptr, off);

	if (done < 0)
		return done;
	done = strided_run(&s);
	if (done > 0 && ptr == ADIO_INDIVIDUAL)
		fd->fp_ind = strided_place(&s, done);
	strided_free(&s);
	return done;
}

static void end_strided(ADIO_File fd, const char *call, int64_t done,
			MPI_Datatype type, ADIO_Status *status, int *error_code)
{
	*error_code = MPI_SUCCESS;
	if (done < 0)
		*error_code = ADIOI_Err_create_code(call, fd->filename,
						    (int)-done);
	else if (status)
		MPIR_Status_set_bytes(status, type, done);
}

void ad_pvfs_read_strided(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			  int ptr, ADIO_Offset off, ADIO_Status *status,
			  int *error_code)
{
	int64_t done;

	if (fd->hints->fs_hints.pvfs.listio_read == ADIOI_HINT_DISABLE) {
		ADIOI_GEN_ReadStrided(fd, buf, count, type, ptr, off, status,
				      error_code);
		return;
	}
	done = run_strided(fd, 0, buf, count, type, ptr, off);
	end_strided(fd, "pvfs_read_list", done, type, status, error_code);
}

void ad_pvfs_write_strided(ADIO_File fd, const void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Status *status, int *error_code)
{
	int64_t done;

	if (fd->hints->fs_hints.pvfs.listio_write == ADIOI_HINT_DISABLE) {
		ADIOI_GEN_WriteStrided(fd, buf, count, type, ptr, off, status,
				       error_code);
		return;
	}
	done = run_strided(fd, STRIDED_WRITE, buf, count, type, ptr, off);
	end_strided(fd, "pvfs_write_list", done, type, status, error_code);
}
