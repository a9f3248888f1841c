/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs.h - the ADIO driver for "pvfs:" files, on libpvfs only.  It uses ROMIO's
 * generic code where that is good enough (two-phase collective I/O, seeking), and native
 * code otherwise.
 */
#ifndef AD_PVFS_H
#define AD_PVFS_H

#include <adio.h>

/* This number is unused in ROMIO's adio.h. */
#define ADIO_PVFS 158

extern struct ADIOI_Fns_struct ad_pvfs_operations;

/* ad_pvfs_file.c */
void ad_pvfs_open(ADIO_File fd, int *error_code);
void ad_pvfs_open_coll(ADIO_File fd, int rank, int access_mode,
		       int *error_code);
void ad_pvfs_close(ADIO_File fd, int *error_code);
void ad_pvfs_delete(const char *name, int *error_code);

/* ad_pvfs_hints.c */
void ad_pvfs_set_info(ADIO_File fd, MPI_Info info, int *error_code);

/* ad_pvfs_access.c */
void ad_pvfs_read_contig(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			 int ptr, ADIO_Offset off, ADIO_Status *status,
			 int *error_code);
void ad_pvfs_write_contig(ADIO_File fd, const void *buf, int count,
			  MPI_Datatype type, int ptr, ADIO_Offset off,
			  ADIO_Status *status, int *error_code);

void ad_pvfs_read_strided(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			  int ptr, ADIO_Offset off, ADIO_Status *status,
			  int *error_code);
void ad_pvfs_write_strided(ADIO_File fd, const void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Status *status, int *error_code);

/* ad_pvfs_async.c */
void ad_pvfs_iread_contig(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			  int ptr, ADIO_Offset off, ADIO_Request *request,
			  int *error_code);
void ad_pvfs_iwrite_contig(ADIO_File fd, const void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Request *request, int *error_code);
void ad_pvfs_iread_strided(ADIO_File fd, void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Request *request, int *error_code);
void ad_pvfs_iwrite_strided(ADIO_File fd, const void *buf, int count,
			    MPI_Datatype type, int ptr, ADIO_Offset off,
			    ADIO_Request *request, int *error_code);

/* ad_pvfs_file.c: locks */
struct flock;
/* cmd: F_SETLKW or F_SETLK.  Returns 0 or -errno. */
int ad_pvfs_lock_range(int sys, int cmd, const struct flock *range);
int ad_pvfs_lock(ADIO_File fd, int cmd, int type, ADIO_Offset off, int whence,
		 ADIO_Offset len);

void ad_pvfs_fcntl(ADIO_File fd, int op, ADIO_Fcntl_t *arg, int *error_code);
void ad_pvfs_flush(ADIO_File fd, int *error_code);
void ad_pvfs_resize(ADIO_File fd, ADIO_Offset size, int *error_code);
int ad_pvfs_feature(ADIO_File fd, int feature);

#endif
