/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuse_mount.h - the mounts of pvfs-fuse that this process uses.  Each has the page of the
 * mount's daemon (shortcut.h), and a session of this process with the servers.
 *
 * 	unused -- fuse_mount_request_session() --> wanted
 * 	wanted -- fuse_mounts_connect() --> connected, or failed
 */
#ifndef FUSE_MOUNT_H
#define FUSE_MOUNT_H

#include "client/lib/file/file.h"
#include "client/preload/bypass/ident.h"
#include "client/preload/shortcut.h"

enum fuse_mount_state {
	FUSE_MOUNT_UNUSED,
	FUSE_MOUNT_WANTED,
	FUSE_MOUNT_CONNECTED,
	FUSE_MOUNT_FAILED
};

struct fuse_mount {
	struct ident id; /* dev and mount of the mount; ino is 0 */
	const struct shortcut_page *page; /* NULL: bypassing is not possible */
	pthread_mutex_t lock; /* held while tab and fs are initialised */
	bool prepared; /* tab and fs are initialised; never reset */
	atomic_int state; /* an enum fuse_mount_state */
	struct pvfstab tab;
	struct fs fs;
};

/* All mounts that this process uses. */
#define FUSE_MOUNTS 16u
struct fuse_mounts {
	pthread_mutex_t lock; /* held while an element is added */
	atomic_uint n; /* elements are never removed */
	struct fuse_mount mount[FUSE_MOUNTS];
	struct log log;
	struct log_file log_file; /* of log */
};

/* Initialises *all, whose memory must be zero.  Reads PVFS_LOG. */
void fuse_mounts_init(struct fuse_mounts *all);
/*
 * Returns the mount that contains the file of fd, whose identity is id.  At the first file of a
 * mount, asks the mount's daemon.  The result is valid until the process ends.  NULL: the caller
 * uses the kernel for the data of the file.
 */
struct fuse_mount *fuse_mounts_find(struct fuse_mounts *all, int fd,
				    const struct ident *id);
/*
 * Starts the deadline of a call, connects to the servers if necessary, and opens the file of fd in
 * the session of this process.  flags: those of fd (F_GETFL).  Returns 0 and sets *f, which the
 * caller releases by file_put(); or -errno.
 */
int fuse_mount_open(struct fuse_mounts *all, struct fuse_mount *mount, int fd,
		    int flags, struct file **f);

/*
 * Marks the mount as FUSE_MOUNT_WANTED.  fuse_mounts_connect() then connects it in another thread.
 */
void fuse_mount_request_session(struct fuse_mount *mount);
/* Connects all mounts in the state FUSE_MOUNT_WANTED, and waits for that. */
void fuse_mounts_connect(struct fuse_mounts *all);
static inline bool fuse_mount_is_connected(const struct fuse_mount *mount)
{
	return atomic_load(&mount->state) == FUSE_MOUNT_CONNECTED;
}
/* Whether reads and writes of the file must go through the mount. */
static inline bool fuse_mount_is_marked(const struct fuse_mount *mount,
					uint64_t handle)
{
	return __atomic_load_n(&mount->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/*
 * For fork(): hold() is called before it, release() after it in both processes, and then disown()
 * in the child; see fs.h.  leave() ends all sessions; later calls may create new ones.
 */
void fuse_mounts_hold(struct fuse_mounts *all);
void fuse_mounts_release(struct fuse_mounts *all);
void fuse_mounts_disown(struct fuse_mounts *all);
void fuse_mounts_leave(struct fuse_mounts *all);

#endif
