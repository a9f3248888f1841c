/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs_lock.c - what stands behind ROMIO's lock macros: atomic mode and
 * shared file pointers.  The manager keeps the locks, so they hold among
 * nodes and go with a rank that dies.  Of the open file, not of the process:
 * two files opened by one rank are two.
 */
#include <errno.h>
#include <fcntl.h>

#include <pvfs.h>

#include "ad_pvfs.h"

static int of_open_file(int cmd)
{
	return cmd == F_SETLKW ? F_OFD_SETLKW : F_OFD_SETLK;
}

int ad_pvfs_lock(ADIO_File fd, int cmd, int type, ADIO_Offset off, int whence,
		 ADIO_Offset len)
{
	struct flock lock = { .l_type = (short)type,
			      .l_whence = (short)whence,
			      .l_start = off,
			      .l_len = len };

	if (len == 0)
		return MPI_SUCCESS;
	if (pvfs_fcntl(fd->fd_sys, of_open_file(cmd), &lock) == 0)
		return MPI_SUCCESS;
	return ADIOI_Err_create_code("pvfs_fcntl", fd->filename, errno);
}
