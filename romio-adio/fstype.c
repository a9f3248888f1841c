/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fstype.c - which driver serves a file name: ours where the name says
 * "pvfs:" or ROMIO_FSTYPE_FORCE does, ROMIO's own choice otherwise.
 *
 * ROMIO's source stays as it is: its function gets another name here.
 */
#include "romio-adio/ad_pvfs.h"

void romio_ResolveFileType(MPI_Comm comm, const char *filename, int *fstype,
			   ADIOI_Fns **ops, int *error_code);

#define ADIO_ResolveFileType romio_ResolveFileType
#include <adio/common/ad_fstype.c>
#undef ADIO_ResolveFileType

#define PREFIX "pvfs:"

void ADIO_ResolveFileType(MPI_Comm comm, const char *filename, int *fstype,
			  ADIOI_Fns **ops, int *error_code)
{
	const char *force = secure_getenv("ROMIO_FSTYPE_FORCE");
	const char *name = force ? force : filename;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
		romio_ResolveFileType(comm, filename, fstype, ops, error_code);
		return;
	}
	*fstype = ADIO_PVFS;
	*ops = &ad_pvfs_operations;
	*error_code = MPI_SUCCESS;
}
