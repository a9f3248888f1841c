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

void ad_pvfs_set_info(ADIO_File fd, MPI_Info info, int *error_code)
{
	*error_code = MPI_SUCCESS;
	if (fd->info == MPI_INFO_NULL) {
		MPI_Info_create(&fd->info);
		fd->hints->start_iodevice = -1;
		set_int(fd, info, "striping_factor",
			&fd->hints->striping_factor, error_code);
		set_int(fd, info, "striping_unit", &fd->hints->striping_unit,
			error_code);
		set_int(fd, info, "start_iodevice", &fd->hints->start_iodevice,
			error_code);
	}
	if (*error_code == MPI_SUCCESS)
		ADIOI_GEN_SetInfo(fd, info, error_code);
}
