/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs_mdbi.h - the multi-dimensional block interface of PVFS: a file as an
 * array of records in D dimensions, read and written by blocks.
 *
 *   set_blk(fd, 2, 500, 2, 6, 3, 3): records of 500 bytes, blocks of 2 x 3 of
 *   them, 6 x 3 blocks; read_blk(fd, buf, 2, 0) reads the third of the top.
 *
 * The first dimension varies fastest, in the file as well as in a block's
 * memory.  Indices count blocks from 0.  Files of PVFS and ordinary ones.  All
 * calls may be used from any threads; they answer -1 and errno on failure: what
 * the header names, EBADF for a descriptor that open_blk() did not give,
 * ENOMEM, and where data is read or written what pvfs_pread() and
 * pvfs_pwrite() may answer.
 */
#ifndef PVFS_MDBI_H
#define PVFS_MDBI_H

#ifdef __cplusplus
extern "C" {
#endif

#define PVFS_MDBI_DIMS_MAX 16

/*
 * As open(2), without O_APPEND (EINVAL); mode is looked at with O_CREAT alone.
 * Returns a descriptor, to be closed with close_blk().
 */
int open_blk(const char *path, int flags, int mode);
/*
 * Records of record_size bytes in D dimensions; then for each dimension the
 * elements of a block and the number of blocks.  May be called again: what is
 * buffered is written first, and buf_blk() forgotten.  Asks no server else.
 * Returns 0.  EINVAL: not 1 to PVFS_MDBI_DIMS_MAX dimensions, a size below 1, a
 * block above INT_MAX bytes, an array above 2^63 - 1 bytes.
 */
int set_blk(int fd, int D, int record_size, int ne1, int nb1, ...);
/*
 * Buffers superblocks of bf1 x ... x bfD blocks, one at a time: the first
 * read of a block in it reads all of it, writes are gathered in it.  All 1:
 * no buffering, as at the beginning.  A factor for each dimension.  What was
 * buffered before is written first.  Returns 0.  EINVAL: before set_blk(), a
 * factor below 1, a superblock above INT_MAX bytes.
 */
int buf_blk(int fd, int bf1, ...);
/*
 * One block, with an index for each dimension; buf has its bytes, record_size
 * times the elements of each dimension, and is free again on return.  Return
 * these bytes; what of the block lies behind the end of the file reads as
 * zeros.
 * EINVAL: before set_blk(), or an index outside of the array.  EBADF: fd is not
 * open for it, also where the block would only be buffered.
 */
int read_blk(int fd, char *buf, int index1, ...);
int write_blk(int fd, const char *buf, int index1, ...);
/*
 * What is buffered is written and on stable storage; what was buffered for
 * reading is forgotten, so that the next reads see other clients' writes.
 * Returns 0.
 */
int fsync_blk(int fd);
/*
 * Writes what is buffered.  Returns 0; fd is closed also on errors, which it
 * answers.
 */
int close_blk(int fd);

#ifdef __cplusplus
}
#endif

#endif
