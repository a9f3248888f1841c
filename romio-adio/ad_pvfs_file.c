/* SPDX-License-Identifier: BSD-2-Clause */
/* ad_pvfs_file.c - size, flush and features. */
#include <errno.h>

#include <pvfs.h>

#include "romio-adio/ad_pvfs.h"

static void get_size(ADIO_File fd, ADIO_Fcntl_t *arg, int *error_code)
{
	struct stat st;

	if (pvfs_fstat(fd->fd_sys, &st) != 0) {
		*error_code = ADIOI_Err_create_code("pvfs_fstat", fd->filename,
						    errno);
		return;
	}
	arg->fsize = st.st_size;
}

void ad_pvfs_fcntl(ADIO_File fd, int op, ADIO_Fcntl_t *arg, int *error_code)
{
	*error_code = MPI_SUCCESS;
	switch (op) {
	case ADIO_FCNTL_GET_FSIZE:
		get_size(fd, arg, error_code);
		break;
	case ADIO_FCNTL_SET_DISKSPACE:
		ADIOI_GEN_Prealloc(fd, arg->diskspace, error_code);
		break;
	case ADIO_FCNTL_SET_ATOMICITY:
		fd->atomicity = arg->atomicity != 0;
		break;
	default:
		*error_code = ADIOI_Err_create_code("ad_pvfs_fcntl",
						    fd->filename, EINVAL);
	}
}

void ad_pvfs_flush(ADIO_File fd, int *error_code)
{
	*error_code = MPI_SUCCESS;
	if (pvfs_fsync(fd->fd_sys) != 0)
		*error_code = ADIOI_Err_create_code("pvfs_fsync", fd->filename,
						    errno);
}

/* One process resizes the file and broadcasts the result. */
void ad_pvfs_resize(ADIO_File fd, ADIO_Offset size, int *error_code)
{
	int rank, err = 0;

	MPI_Comm_rank(fd->comm, &rank);
	if (rank == fd->hints->ranklist[0] &&
	    pvfs_ftruncate(fd->fd_sys, size) != 0)
		err = errno;
	MPI_Bcast(&err, 1, MPI_INT, fd->hints->ranklist[0], fd->comm);
	*error_code = err ? ADIOI_Err_create_code("pvfs_ftruncate",
						  fd->filename, err)
			  : MPI_SUCCESS;
}

int ad_pvfs_feature(ADIO_File fd, int feature)
{
	(void)fd;
	switch (feature) {
	case ADIO_SCALABLE_OPEN:
	case ADIO_SCALABLE_RESIZE:
	case ADIO_TWO_PHASE:
	case ADIO_LOCKS:
	case ADIO_SHARED_FP:
	case ADIO_ATOMIC_MODE:
	case ADIO_IMMEDIATELY_VISIBLE:
		return 1;
	default:
		return 0;
	}
}
