/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs_lock.c - the implementation of ROMIO's lock macros, for atomic mode and shared
 * file pointers.  The manager stores the locks, so they work among nodes and end with a
 * rank that dies.  They belong to the open file, not to the process: two files opened by
 * one rank are different owners.
 */
#include <errno.h>
#include <fcntl.h>

#include <pvfs.h>

#include "romio-adio/ad_pvfs.h"

int ad_pvfs_lock_range(int sys, int cmd, const struct flock *range)
{
	struct flock lock = *range;

	cmd = cmd == F_SETLKW ? F_OFD_SETLKW : F_OFD_SETLK;
	return pvfs_fcntl(sys, cmd, &lock) ? -errno : 0;
}

int ad_pvfs_lock(ADIO_File fd, int cmd, int type, ADIO_Offset off, int whence,
		 ADIO_Offset len)
{
	const struct flock range = { .l_type = (short)type,
				     .l_whence = (short)whence,
				     .l_start = off,
				     .l_len = len };
	int err = len ? ad_pvfs_lock_range(fd->fd_sys, cmd, &range) : 0;

	return err ? ADIOI_Err_create_code("pvfs_fcntl", fd->filename, -err)
		   : MPI_SUCCESS;
}
