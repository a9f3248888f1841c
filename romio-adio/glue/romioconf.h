/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * romioconf.h - what ROMIO's configure would find on Debian with MPICH: a 64-bit Linux and a
 * complete MPI.  It enables ROMIO's drivers UFS, NFS and TESTFS; TESTFS accesses no file system.
 * The driver of this project needs no line here.
 */
#ifndef ROMIOCONF_H
#define ROMIOCONF_H

#define ROMIO_INSIDE_MPICH 1
#define ROMIO_RUN_ON_LINUX 1
#define ROMIO_UFS 1
#define ROMIO_NFS 1
#define ROMIO_TESTFS 1

#define MPICH 1
#define HAVE_MPIIO_CONST const
#define HAVE_MPIX_H 1
#define HAVE_MPI_COMBINERS 1
#define HAVE_MPI_DARRAY_SUBARRAY 1
#define HAVE_MPI_GREQUEST 1
#define HAVE_MPI_INFO 1
#define HAVE_MPI_LONG_LONG_INT 1
#define HAVE_MPI_STATUS_SET_ELEMENTS_X 1
#define HAVE_MPI_TYPE_SIZE_X 1
#define HAVE_STATUS_SET_BYTES 1
#define HAVE_DECL_MPI_COMBINER_HINDEXED_BLOCK 1
#define HAVE_LONG_LONG_64 1
#define HAVE_INT_LT_POINTER 1
#define INT_LT_POINTER 1
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8

/* every MPI_File_x is a weak name of PMPI_File_x, as in MPICH */
#define HAVE_WEAK_SYMBOLS 1
#define HAVE_PRAGMA_WEAK 1
#define USE_WEAK_SYMBOLS 1

#define STDC_HEADERS 1
#define HAVE_DECL_PWRITE 1
#define HAVE_DIRENT_H 1
#define HAVE_FCNTL_H 1
#define HAVE_FSYNC 1
#define HAVE_FTRUNCATE 1
#define HAVE_INTTYPES_H 1
#define HAVE_LIMITS_H 1
#define HAVE_LSTAT 1
#define HAVE_MALLOC_H 1
#define HAVE_MEMALIGN 1
#define HAVE_MEMORY_H 1
#define HAVE_READLINK 1
#define HAVE_SIGNAL_H 1
#define HAVE_STAT 1
#define HAVE_STATFS 1
#define HAVE_STATVFS 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRDUP 1
#define HAVE_STRERROR 1
#define HAVE_STRINGS_H 1
#define HAVE_STRING_H 1
#define HAVE_STRUCT_STATFS 1
#define ROMIO_HAVE_STRUCT_STATFS_WITH_F_TYPE 1
#define HAVE_SYS_MOUNT_H 1
#define HAVE_SYS_PARAM_H 1
#define HAVE_SYS_STATVFS_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_VFS_H 1
#define HAVE_TIME_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1

#endif
