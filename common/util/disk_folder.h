/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * disk_folder.h - access to the files of one folder, as a table of functions, for files that must
 * survive a crash.  Tests inject faults with a table of their own: torn writes, writes lost in a
 * crash, -ENOSPC, -EIO.
 *
 * All functions return -errno on errors.  Names have no slash.  After an error of sync() or
 * sync_folder(), the content of the disk is unknown, and the process must end.  If the table
 * returns -EDQUOT, the disk_folder functions return -ENOSPC.
 */
#ifndef DISK_FOLDER_H
#define DISK_FOLDER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_folder_ops {
	/*
	 * Opens a file and returns its descriptor. If `make` is true, creates the file, or empties
	 * it.
	 */
	int (*open)(void *arg, const char *name, bool make);
	void (*close)(void *arg, int fd);
	/* Returns the size of the file in bytes. */
	int64_t (*size)(void *arg, int fd);
	/* Reads or writes all len bytes. read() returns -EIO if the file ends earlier. */
	int (*read)(void *arg, int fd, void *buf, size_t len, uint64_t offset);
	int (*write)(void *arg, int fd, const void *buf, size_t len,
		     uint64_t offset);
	/*
	 * Allocates space for the first len bytes. If the disk cannot do this, the function is NULL
	 * or has no effect; then only writing shows whether there is space.
	 */
	int (*reserve)(void *arg, int fd, uint64_t len);
	/* Makes the data of the file and its size durable. */
	int (*sync)(void *arg, int fd);
	int (*rename)(void *arg, const char *from, const char *to);
	/* Removes a file. Returns -ENOENT if there is no such file. */
	int (*remove)(void *arg, const char *name);
	/* Makes the names in the folder durable. */
	int (*sync_folder)(void *arg);
	int (*list)(void *arg, void (*each)(void *ctx, const char *name),
		    void *ctx);
};

struct disk_folder {
	const struct disk_folder_ops *ops;
	void *arg;
};

static inline int disk_folder_error(int rc)
{
	return rc == -EDQUOT ? -ENOSPC : rc;
}

static inline int disk_folder_open_file(const struct disk_folder *disk,
					const char *name, bool make)
{
	return disk_folder_error(disk->ops->open(disk->arg, name, make));
}

static inline void disk_folder_close_file(const struct disk_folder *disk,
					  int fd)
{
	disk->ops->close(disk->arg, fd);
}

static inline int64_t disk_folder_size(const struct disk_folder *disk, int fd)
{
	return disk->ops->size(disk->arg, fd);
}

static inline int disk_folder_read(const struct disk_folder *disk, int fd,
				   void *buf, size_t len, uint64_t offset)
{
	return disk->ops->read(disk->arg, fd, buf, len, offset);
}

static inline int disk_folder_write(const struct disk_folder *disk, int fd,
				    const void *buf, size_t len,
				    uint64_t offset)
{
	return disk_folder_error(
		disk->ops->write(disk->arg, fd, buf, len, offset));
}

static inline int disk_folder_reserve(const struct disk_folder *disk, int fd,
				      uint64_t len)
{
	return disk->ops->reserve
		       ? disk_folder_error(
				 disk->ops->reserve(disk->arg, fd, len))
		       : 0;
}

static inline int disk_folder_sync(const struct disk_folder *disk, int fd)
{
	return disk_folder_error(disk->ops->sync(disk->arg, fd));
}

static inline int disk_folder_rename(const struct disk_folder *disk,
				     const char *from, const char *to)
{
	return disk_folder_error(disk->ops->rename(disk->arg, from, to));
}

static inline int disk_folder_remove(const struct disk_folder *disk,
				     const char *name)
{
	return disk->ops->remove(disk->arg, name);
}

static inline int disk_folder_sync_folder(const struct disk_folder *disk)
{
	return disk_folder_error(disk->ops->sync_folder(disk->arg));
}

/* Gives a synced file its name, durably.  Replaces the file that has this name. */
static inline int disk_folder_install(const struct disk_folder *disk,
				      const char *from, const char *to)
{
	int rc = disk_folder_rename(disk, from, to);

	return rc ? rc : disk_folder_sync_folder(disk);
}

static inline int disk_folder_list(const struct disk_folder *disk,
				   void (*each)(void *ctx, const char *name),
				   void *ctx)
{
	return disk->ops->list(disk->arg, each, ctx);
}

/*
 * Makes a table for the files of the existing folder path. Close the table with
 * disk_folder_close(). Returns -EBUSY if this or another process has the folder open.
 */
int disk_folder_open(const char *path, struct disk_folder *disk);
void disk_folder_close(struct disk_folder *disk);

#endif
