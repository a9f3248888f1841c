/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raft_disk.h - all file access of a member's log, as a table of functions.  Tests inject faults
 * with a table of their own: torn writes, writes lost in a crash, -ENOSPC, -EIO.  A table is for
 * one folder.
 *
 * All functions return -errno on errors.  Names have no slash.  After an error of sync() or
 * sync_folder(), the content of the disk is unknown, and the process must end.  If the table
 * returns -EDQUOT, the raft_disk functions return -ENOSPC.
 */
#ifndef RAFT_DISK_H
#define RAFT_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct raft_disk_ops {
	/* Returns a descriptor.  make: creates the file, or empties it. */
	int (*open)(void *arg, const char *name, bool make);
	void (*close)(void *arg, int fd);
	/* Returns the bytes in the file. */
	int64_t (*size)(void *arg, int fd);
	/* Reads or writes all len bytes.  read(): -EIO: the file ends earlier. */
	int (*read)(void *arg, int fd, void *buf, size_t len, uint64_t offset);
	int (*write)(void *arg, int fd, const void *buf, size_t len,
		     uint64_t offset);
	/*
	 * Allocates space for the first len bytes.  NULL, or no effect: the disk cannot do this;
	 * only writing shows whether there is space.
	 */
	int (*reserve)(void *arg, int fd, uint64_t len);
	/* Makes the data of the file and its size durable. */
	int (*sync)(void *arg, int fd);
	int (*rename)(void *arg, const char *from, const char *to);
	/* -ENOENT: there is no such file. */
	int (*remove)(void *arg, const char *name);
	/* Makes the names in the folder durable. */
	int (*sync_folder)(void *arg);
	int (*list)(void *arg, void (*each)(void *ctx, const char *name),
		    void *ctx);
};

struct raft_disk {
	const struct raft_disk_ops *ops;
	void *arg;
};

static inline int raft_disk_error(int rc)
{
	return rc == -EDQUOT ? -ENOSPC : rc;
}

static inline int raft_disk_open(const struct raft_disk *disk, const char *name,
				 bool make)
{
	return raft_disk_error(disk->ops->open(disk->arg, name, make));
}

static inline void raft_disk_close(const struct raft_disk *disk, int fd)
{
	disk->ops->close(disk->arg, fd);
}

static inline int64_t raft_disk_size(const struct raft_disk *disk, int fd)
{
	return disk->ops->size(disk->arg, fd);
}

static inline int raft_disk_read(const struct raft_disk *disk, int fd,
				 void *buf, size_t len, uint64_t offset)
{
	return disk->ops->read(disk->arg, fd, buf, len, offset);
}

static inline int raft_disk_write(const struct raft_disk *disk, int fd,
				  const void *buf, size_t len, uint64_t offset)
{
	return raft_disk_error(
		disk->ops->write(disk->arg, fd, buf, len, offset));
}

static inline int raft_disk_reserve(const struct raft_disk *disk, int fd,
				    uint64_t len)
{
	return disk->ops->reserve
		       ? raft_disk_error(disk->ops->reserve(disk->arg, fd, len))
		       : 0;
}

static inline int raft_disk_sync(const struct raft_disk *disk, int fd)
{
	return raft_disk_error(disk->ops->sync(disk->arg, fd));
}

static inline int raft_disk_rename(const struct raft_disk *disk,
				   const char *from, const char *to)
{
	return raft_disk_error(disk->ops->rename(disk->arg, from, to));
}

static inline int raft_disk_remove(const struct raft_disk *disk,
				   const char *name)
{
	return disk->ops->remove(disk->arg, name);
}

static inline int raft_disk_sync_folder(const struct raft_disk *disk)
{
	return raft_disk_error(disk->ops->sync_folder(disk->arg));
}

static inline int raft_disk_list(const struct raft_disk *disk,
				 void (*each)(void *ctx, const char *name),
				 void *ctx)
{
	return disk->ops->list(disk->arg, each, ctx);
}

/*
 * Makes a table for the files of the existing folder path.  Close it with folder_disk_close().
 * -EBUSY: this or another process has the folder open.
 */
int folder_disk_open(const char *path, struct raft_disk *disk);
void folder_disk_close(struct raft_disk *disk);

#endif
