/* SPDX-License-Identifier: BSD-2-Clause */
/* ad_pvfs_hints.c - hints of the driver; equal on all ranks. */

#include "ad_pvfs.h"

#include <hint_fns.h>

static void set_int(ADIO_File fd, MPI_Info info, const char *key, int *value,
		    int *error_code)
{
	if (info != MPI_INFO_NULL)
		ADIOI_Info_check_and_install_int(fd, info, key, value,
						 "ad_pvfs_set_info",
						 error_code);
}

/* enable, disable or automatic: whether accesses in pieces are list I/O. */
static void set_listio(ADIO_File fd, MPI_Info info, const char *key, int *value,
		       int *error_code)
{
	if (info != MPI_INFO_NULL)
		ADIOI_Info_check_and_install_enabled(fd, info, key, value,
						     "ad_pvfs_set_info",
						     error_code);
}

/* At the open; what they say of a new file cannot change later. */
static void set_first(ADIO_File fd, MPI_Info info, int *error_code)
{
	ADIOI_Hints *hints = fd->hints;

	MPI_Info_create(&fd->info);
	hints->start_iodevice = -1;
	set_int(fd, info, "striping_factor", &hints->striping_factor,
		error_code);
	set_int(fd, info, "striping_unit", &hints->striping_unit, error_code);
	set_int(fd, info, "start_iodevice", &hints->start_iodevice, error_code);
	hints->fs_hints.pvfs.listio_read = ADIOI_HINT_AUTO;
	hints->fs_hints.pvfs.listio_write = ADIOI_HINT_AUTO;
	ADIOI_Info_set(fd->info, "romio_pvfs_listio_read", "automatic");
	ADIOI_Info_set(fd->info, "romio_pvfs_listio_write", "automatic");
}

void ad_pvfs_set_info(ADIO_File fd, MPI_Info info, int *error_code)
{
	*error_code = MPI_SUCCESS;
	if (fd->info == MPI_INFO_NULL)
		set_first(fd, info, error_code);
	set_listio(fd, info, "romio_pvfs_listio_read",
		   &fd->hints->fs_hints.pvfs.listio_read, error_code);
	set_listio(fd, info, "romio_pvfs_listio_write",
		   &fd->hints->fs_hints.pvfs.listio_write, error_code);
	if (*error_code == MPI_SUCCESS)
		ADIOI_GEN_SetInfo(fd, info, error_code);
}
