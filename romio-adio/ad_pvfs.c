/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs.c - the function table of the driver, and the choice of the driver by file name: it
 * serves names that start with "pvfs:", or all names if ROMIO_FSTYPE_FORCE says so.
 */
#include "romio-adio/ad_pvfs.h"

/* ---- functions ---- */

struct ADIOI_Fns_struct ad_pvfs_operations = {
	.ADIOI_xxx_Open = ad_pvfs_open,
	.ADIOI_xxx_OpenColl = ad_pvfs_open_coll,
	.ADIOI_xxx_ReadContig = ad_pvfs_read_contig,
	.ADIOI_xxx_WriteContig = ad_pvfs_write_contig,
	.ADIOI_xxx_ReadStridedColl = ADIOI_GEN_ReadStridedColl,
	.ADIOI_xxx_WriteStridedColl = ADIOI_GEN_WriteStridedColl,
	.ADIOI_xxx_SeekIndividual = ADIOI_GEN_SeekIndividual,
	.ADIOI_xxx_Fcntl = ad_pvfs_fcntl,
	.ADIOI_xxx_SetInfo = ad_pvfs_set_info,
	.ADIOI_xxx_ReadStrided = ad_pvfs_read_strided,
	.ADIOI_xxx_WriteStrided = ad_pvfs_write_strided,
	.ADIOI_xxx_Close = ad_pvfs_close,
	.ADIOI_xxx_IreadContig = ad_pvfs_iread_contig,
	.ADIOI_xxx_IwriteContig = ad_pvfs_iwrite_contig,
	.ADIOI_xxx_ReadDone = ADIOI_FAKE_IODone,
	.ADIOI_xxx_WriteDone = ADIOI_FAKE_IODone,
	.ADIOI_xxx_ReadComplete = ADIOI_FAKE_IOComplete,
	.ADIOI_xxx_WriteComplete = ADIOI_FAKE_IOComplete,
	.ADIOI_xxx_IreadStrided = ad_pvfs_iread_strided,
	.ADIOI_xxx_IwriteStrided = ad_pvfs_iwrite_strided,
	.ADIOI_xxx_Flush = ad_pvfs_flush,
	.ADIOI_xxx_Resize = ad_pvfs_resize,
	.ADIOI_xxx_Delete = ad_pvfs_delete,
	.ADIOI_xxx_Feature = ad_pvfs_feature,
	.fsname = "PVFS-IB",
	.ADIOI_xxx_IreadStridedColl = ADIOI_GEN_IreadStridedColl,
	.ADIOI_xxx_IwriteStridedColl = ADIOI_GEN_IwriteStridedColl,
	.ADIOI_xxx_SetLock = ad_pvfs_lock,
};

/*
 * ---- the driver of a file name ----
 *
 * ROMIO's source is unchanged: its function is renamed here.
 */

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
