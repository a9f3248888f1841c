/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs_mdbi.h - the multi-dimensional block interface of PVFS: a file as an array of
 * records in D dimensions, read and written by blocks.
 *
 *   set_blk(fd, 2, 500, 2, 6, 3, 3): a record has 500 bytes, a block has 2 x 3 records, and
 *   the array has 6 x 3 blocks.  read_blk(fd, buf, 2, 0) reads the third block of the first
 *   row.
 *
 * The first dimension varies fastest, in the file as well as in the memory of a block.
 * Indices count blocks from 0.  The calls work on files of PVFS and on ordinary files,
 * from any threads.  On failure they return -1 with errno: the errors below; EBADF for a
 * descriptor that open_blk() did not return; ENOMEM; and for data the errors of
 * pvfs_pread() and pvfs_pwrite().
 */
#ifndef PVFS_MDBI_H
#define PVFS_MDBI_H

#ifdef __cplusplus
extern "C" {
#endif

#define PVFS_MDBI_DIMS_MAX 16

/*
 * Opens a file, like open(2); O_APPEND fails with EINVAL.  mode is used only with
 * O_CREAT.  Returns a descriptor; the caller closes it with close_blk().
 */
int open_blk(const char *path, int flags, int mode);
/*
 * Sets the shape: records of record_size bytes in D dimensions; then, for each dimension,
 * the elements in a block and the number of blocks.  A repeated call first writes
 * buffered data and cancels buf_blk(); apart from that, the call asks no server.  Returns
 * 0.  EINVAL: the dimensions are not 1 to PVFS_MDBI_DIMS_MAX, a size is below 1, a block
 * is above INT_MAX bytes, or the array is above 2^63 - 1 bytes.
 */
int set_blk(int fd, int D, int record_size, int ne1, int nb1, ...);
/*
 * Buffers superblocks of bf1 x ... x bfD blocks, one at a time; there is a factor for
 * each dimension.  The first read of a block in a superblock reads all of it, and writes
 * are gathered in it.  Factors of 1 disable buffering, as after set_blk().  Data that was
 * buffered before is written first.  Returns 0.  EINVAL: called before set_blk(), a
 * factor below 1, or a superblock above INT_MAX bytes.
 */
int buf_blk(int fd, int bf1, ...);
/*
 * Read or write one block, with an index for each dimension.  buf has the bytes of a
 * block: record_size times the elements of each dimension.  The calls do not use it after
 * they return.  Return this number of bytes.  The part of a block beyond the end of the
 * file reads as zeros.  EINVAL: called before set_blk(), or an index is outside the
 * array.  EBADF: fd is not open for this access, even if the block would only be
 * buffered.
 */
int read_blk(int fd, char *buf, int index1, ...);
int write_blk(int fd, const char *buf, int index1, ...);
/*
 * Writes buffered data to stable storage.  Drops data buffered for reading, so that later
 * reads see writes of other clients.  Returns 0.
 */
int fsync_blk(int fd);
/*
 * Writes buffered data and closes fd.  Returns 0, or -1 with the error of the write; fd
 * is closed in either case.
 */
int close_blk(int fd);

#ifdef __cplusplus
}
#endif

#endif
