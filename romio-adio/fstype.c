/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fstype.c - selects the driver of a file name: ours if the name starts with "pvfs:" or
 * ROMIO_FSTYPE_FORCE says so, ROMIO's own choice otherwise.  ROMIO's source is unchanged:
 * its function is renamed here.
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
