/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared_fp.c - shared file pointers of "pvfs:" files.  The pointer is a counter, so an access
 * sends one request, where ROMIO locks, reads, writes and unlocks a file.  Other files use ROMIO's
 * code.
 *
 * The counter is number 0 of the hidden file that ROMIO creates for the pointer.  Each open file
 * has its own hidden file, even if it is open only for reading.  The linker puts these functions
 * before ROMIO's (--wrap).
 */
#include <errno.h>

#include <pvfs.h>

#include "romio-adio/ad_pvfs.h"

#define POINTER 0u /* number of the counter */

void __wrap_ADIO_Get_shared_fp(ADIO_File fd, ADIO_Offset incr, ADIO_Offset *fp,
			       int *error_code);
void __real_ADIO_Get_shared_fp(ADIO_File fd, ADIO_Offset incr, ADIO_Offset *fp,
			       int *error_code);
void __wrap_ADIO_Set_shared_fp(ADIO_File fd, ADIO_Offset fp, int *error_code);
void __real_ADIO_Set_shared_fp(ADIO_File fd, ADIO_Offset fp, int *error_code);

/*
 * Opens the hidden file.  ROMIO closes it with the file, and the first rank that closes it removes
 * it.
 */
static int open_pointer(ADIO_File fd)
{
	int err = MPI_SUCCESS;
	MPI_Comm alone;

	if (fd->shared_fp_fd != ADIO_FILE_NULL)
		return err;
	err = MPI_Comm_dup(MPI_COMM_SELF, &alone);
	if (err != MPI_SUCCESS)
		return err;
	fd->shared_fp_fd = ADIO_Open(
		MPI_COMM_SELF, alone, fd->shared_fp_fname, fd->file_system,
		fd->fns, ADIO_CREATE | ADIO_RDWR | ADIO_DELETE_ON_CLOSE, 0,
		MPI_BYTE, MPI_BYTE, MPI_INFO_NULL, ADIO_PERM_NULL, &err);
	return err;
}

static int code_of(ADIO_File fd, const char *call, int rc)
{
	return rc ? ADIOI_Err_create_code(call, fd->filename, errno)
		  : MPI_SUCCESS;
}

void __wrap_ADIO_Get_shared_fp(ADIO_File fd, ADIO_Offset incr, ADIO_Offset *fp,
			       int *error_code)
{
	int64_t old = 0;

	if (fd->file_system != ADIO_PVFS) {
		__real_ADIO_Get_shared_fp(fd, incr, fp, error_code);
		return;
	}
	*fp = 0;
	*error_code = open_pointer(fd);
	if (*error_code != MPI_SUCCESS)
		return;
	*error_code = code_of(fd, "pvfs_fetch_add",
			      pvfs_fetch_add(fd->shared_fp_fd->fd_sys, POINTER,
					     incr, &old));
	*fp = old;
}

void __wrap_ADIO_Set_shared_fp(ADIO_File fd, ADIO_Offset fp, int *error_code)
{
	if (fd->file_system != ADIO_PVFS) {
		__real_ADIO_Set_shared_fp(fd, fp, error_code);
		return;
	}
	*error_code = open_pointer(fd);
	if (*error_code != MPI_SUCCESS)
		return;
	*error_code = code_of(fd, "pvfs_counter_set",
			      pvfs_counter_set(fd->shared_fp_fd->fd_sys,
					       POINTER, fp, NULL));
}
