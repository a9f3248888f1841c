/* SPDX-License-Identifier: BSD-2-Clause */
/* api_int.h - shared by the files of the C interface. */
#ifndef API_INT_H
#define API_INT_H

#include <errno.h>
#include <fcntl.h>

#include "client/lib/api.h"
#include "client/lib/process/process.h"
#include "client/lib/session/coroutine.h"
#include "client/lib/process/where.h"

/* Converts a negative errno to -1 and errno. */
static inline ssize_t api_ret(ssize_t rc)
{
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

static inline int api_int(int rc)
{
	return (int)api_ret(rc);
}

/* Counts a call on f that began at profile_start() and returns rc. */
static inline int api_counted(enum profile_kind kind, unsigned int file,
			      uint64_t begun, int rc)
{
	profile_done(kind, file, begun, rc, begun && coroutine_self());
	return rc;
}

/* Runs op as file_run() does, and counts the call in the profile. */
static inline int api_run(enum profile_kind kind, struct file *f, target_op op,
			  void *arg)
{
	uint64_t begun = profile_start();

	return api_counted(kind, f->profile, begun, file_run(f, op, arg));
}

/*
 * Returns the open PVFS file of fd, with a reference for the caller; NULL if fd is a file of
 * another file system.  (The library also tracks such a descriptor if the program set a
 * partition, a strided view of the file, on it.)
 */
struct file *api_file(int fd);

/* Combines the permission bits of a new file and the umask of the process: WIRE_MODE(). */
uint32_t mode_and_umask(mode_t mode);

/*
 * Sends SETATTR for a path, which starts at dir.  flags: 0 or AT_SYMLINK_NOFOLLOW.  Returns as
 * where_run_at().
 */
int setattr_at(struct where *w, int dir, const char *path, int flags,
	       const struct setattr *set);
/* Sends SETATTR for f and releases the caller's reference to f.  Returns 0 or -errno. */
int setattr_file(struct file *f, const struct setattr *set);

/* pvfs_open(), pvfs_stat() etc., but they return -errno.  Here f is the file of fd. */
int api_open(const char *path, int flags, mode_t mode);
int api_stat(const char *path, bool follow, struct stat *st);
int api_fstat(int fd, struct file *f, struct stat *st);
int api_fsync(int fd, struct file *f);
int api_lock(struct file *f, int cmd, struct flock *range);
/* Returns whether cmd, of fcntl(2), is a lock command that api_lock() accepts. */
bool api_is_lock(int cmd);

/* The parameters of pvfs_read_list64() without the descriptor. */
struct api_list {
	bool write;
	size_t nmem, nfile;
	char *const *mem;
	const size_t *mem_len;
	char *const *parent;
	const size_t *parent_len;
	const int64_t *pos, *len;
};
ssize_t api_list(int fd, struct file *f, const struct api_list *list);

#endif
