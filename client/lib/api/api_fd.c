/* SPDX-License-Identifier: BSD-2-Clause */
/* api_fd.c - descriptors: dup, fcntl, flock, fsync, partitions. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/file/dir.h"
#include "client/lib/file/handover.h"
#include "client/lib/locks/lock.h"

/* Registers newfd, a copy of f's descriptor (or -1).  Consumes the reference to f. */
static int dup_register(struct file *f, int newfd)
{
	int rc;

	if (newfd < 0) {
		rc = -errno;
	} else {
		rc = process_set(newfd, f);
		if (!rc)
			return newfd;
		close(newfd);
	}
	file_put(f);
	return api_int(rc);
}

int pvfs_dup(int fd)
{
	struct file *f = process_file(fd);

	return f ? dup_register(f, dup(fd)) : dup(fd);
}

/* The caller has checked that fd is not newfd. */
static int put_in_place(int fd, int newfd)
{
	struct file *f = process_file(fd);
	int rc = dup2(fd, newfd);

	if (f)
		return dup_register(f, rc);
	if (rc >= 0)
		process_set(newfd, NULL);
	return rc;
}

int pvfs_dup2(int fd, int newfd)
{
	struct file *before;
	int rc;

	if (fd == newfd)
		return dup2(fd, newfd);
	before = process_file(newfd);
	rc = put_in_place(fd, newfd);
	if (before && rc >= 0)
		lock_closed(before);
	if (before)
		file_put(before);
	return rc;
}

/* ---- fcntl ---- */

static int set_flags(struct file *f, int flags)
{
	bool append = flags & O_APPEND, part;

	if (append == !!(atomic_load(&f->flags) & O_APPEND))
		return 0;
	pthread_mutex_lock(&f->lock);
	part = f->view.off || f->view.gsize;
	pthread_mutex_unlock(&f->lock);
	if (append && part)
		return -EINVAL;
	if (f->fs)
		return file_set_append(f, append);
	if (append)
		atomic_fetch_or(&f->flags, O_APPEND);
	else
		atomic_fetch_and(&f->flags, ~O_APPEND);
	return 0;
}

static int set_cloexec(int fd, int flags)
{
	int rc = fcntl(fd, F_SETFD, flags);

	if (!rc)
		process_cloexec(fd);
	return rc;
}

bool api_is_lock(int cmd)
{
	switch (cmd) {
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return true;
	}
	return false;
}

int api_lock(struct file *f, int cmd, struct flock *range)
{
	uint64_t begun = profile_start();

	return api_counted(PROFILE_LOCK, f->profile, begun,
			   lock_fcntl(f, cmd, range));
}

/* PVFS files only; the caller keeps its reference to f. */
static int fcntl_pvfs(struct file *f, int fd, int cmd, long arg)
{
	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return dup_register(file_get(f), fcntl(fd, cmd, (int)arg));
	case F_GETFD:
		return fcntl(fd, cmd);
	case F_SETFD:
		return set_cloexec(fd, (int)arg);
	case F_GETFL:
		return atomic_load(&f->flags);
	case F_SETFL:
		return api_int(set_flags(f, (int)arg));
	}
	if (api_is_lock(cmd))
		return api_int(api_lock(f, cmd, (struct flock *)arg));
	return api_int(-EINVAL);
}

static int fcntl_ordinary(struct file *f, int fd, int cmd, long arg)
{
	int rc;

	if (cmd == F_SETFL) {
		rc = set_flags(f, (int)arg);
		if (rc)
			return api_int(rc);
	}
	rc = fcntl(fd, cmd, arg);
	if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
		return dup_register(file_get(f), rc);
	return rc;
}

int pvfs_fcntl(int fd, int cmd, ...)
{
	struct file *f = process_file(fd);
	va_list ap;
	long arg;
	int rc;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	if (!f)
		return fcntl(fd, cmd, arg);
	rc = f->fs ? fcntl_pvfs(f, fd, cmd, arg)
		   : fcntl_ordinary(f, fd, cmd, arg);
	file_put(f);
	return rc;
}

static int flock_pvfs(struct file *f, int operation)
{
	uint64_t begun = profile_start();

	return api_counted(PROFILE_LOCK, f->profile, begun,
			   lock_flock(f, operation));
}

int pvfs_flock(int fd, int operation)
{
	struct file *f = process_file(fd);
	int rc;

	rc = f && f->fs ? api_int(flock_pvfs(f, operation))
			: flock(fd, operation);
	if (f)
		file_put(f);
	return rc;
}

/* ---- fsync ---- */

/* For other objects: the manager answers a change only when it is on stable storage. */
int api_fsync(int fd, struct file *f)
{
	uint64_t begun = profile_start();

	if (!f || !f->fs)
		return fsync(fd) ? -errno : 0;
	return api_counted(PROFILE_FSYNC, f->profile, begun,
			   f->type == S_IFREG ? file_sync(f) : 0);
}

int pvfs_fsync(int fd)
{
	struct file *f = process_file(fd);
	int rc = api_fsync(fd, f);

	if (f)
		file_put(f);
	return api_int(rc);
}

int pvfs_fdatasync(int fd)
{
	struct file *f = process_file(fd);

	if (!f)
		return fdatasync(fd);
	file_put(f);
	return pvfs_fsync(fd);
}

/* ---- ioctl ---- */

static int get_part(struct file *f, struct fpart *part)
{
	*part = (struct fpart){ 0 };
	if (!f)
		return 0;
	pthread_mutex_lock(&f->lock);
	view_to_part(&f->view, part);
	pthread_mutex_unlock(&f->lock);
	return 0;
}

static int set_part(struct file *f, const struct fpart *part)
{
	struct file_view view;
	int rc = view_from_part(part, &view);

	if (rc)
		return rc;
	if (f->type == S_IFDIR ||
	    (atomic_load(&f->flags) & O_APPEND && (view.off || view.gsize)))
		return -EINVAL;
	pthread_mutex_lock(&f->pos_lock);
	pthread_mutex_lock(&f->lock);
	file_set_view(f, &view);
	handover_update(f);
	pthread_mutex_unlock(&f->lock);
	f->pos = 0;
	handover_update_pos(f);
	pthread_mutex_unlock(&f->pos_lock);
	return 0;
}

/* Registers an ordinary descriptor with the library when it gets a partition. */
static int ordinary_fd_register(int fd, const struct fpart *part)
{
	int flags = fcntl(fd, F_GETFL), rc;
	struct stat st;
	struct file *f;

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	f = file_new(NULL, flags);
	if (!f)
		return -ENOMEM;
	f->type = st.st_mode & S_IFMT;
	rc = set_part(f, part);
	if (!rc)
		rc = process_set(fd, f);
	if (rc)
		file_put(f);
	return rc;
}

static int get_meta(struct file *f, struct pvfs_filestat *meta)
{
	if (f->type != S_IFREG)
		return -EINVAL;
	*meta = (struct pvfs_filestat){
		.base = (int32_t)f->dist.base,
		.pcount = (int32_t)f->dist.pcount,
		.ssize = (int32_t)f->dist.ssize,
	};
	return 0;
}

static int ioctl_part(struct file *f, int fd, int cmd, void *data)
{
	if (cmd == GETPART)
		return fcntl(fd, F_GETFD) < 0 ? -errno : get_part(f, data);
	return f ? set_part(f, data) : ordinary_fd_register(fd, data);
}

int pvfs_ioctl(int fd, int cmd, void *data)
{
	struct file *f = process_file(fd);
	int rc = -ENOTTY;

	if (cmd == GETPART || cmd == SETPART)
		rc = api_int(ioctl_part(f, fd, cmd, data));
	else if (!f || !f->fs)
		rc = ioctl(fd, (unsigned long)cmd, data);
	else
		rc = api_int(cmd == GETMETA ? get_meta(f, data) : -ENOTTY);
	if (f)
		file_put(f);
	return rc;
}
