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
