/* SPDX-License-Identifier: BSD-2-Clause */
/* api_open.c - pvfs_open() and related calls. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/file/held.h"
#include "client/lib/locks/lock.h"

#define KEPT_FLAGS (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC)

/* ---- the current umask of the process ---- */

/*
 * A process can read its umask with umask(2) only by changing it.  ROMIO and the
 * coreutils set it and set it back.  These are two short system calls, but another thread
 * may run between them: a file that it creates gets the wrong mode, and an umask() of
 * that thread is undone.  OrangeFS reads it once, at the first use, and misses later
 * changes.  Here a process with one thread, which the C library knows, uses the two calls
 * with its signals blocked.  A process with several threads reads /proc, which changes
 * nothing and costs some ten microseconds.
 */
static bool umask_from_proc(mode_t *mask)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char buf[256], *line;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	line = strstr(buf, "\nUmask:");
	if (!line)
		return false;
	*mask = (mode_t)strtoul(line + 7, NULL, 8);
	return true;
}

/* The mask in between is strict, in case anything creates a file meanwhile. */
static mode_t umask_set_back(void)
{
	sigset_t all, before;
	mode_t mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	mask = umask(077);
	umask(mask);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return mask;
}

uint32_t mode_and_umask(mode_t mode)
{
	mode_t mask;

	if (__libc_single_threaded || !umask_from_proc(&mask))
		mask = umask_set_back();
	return WIRE_MODE(mode & 07777, mask & 0777);
}

/* ---- open ---- */

struct open_args {
	int flags;
	mode_t mode;
	const struct pvfs_filestat *meta;
	const struct fpart *part;
	const struct pvfs_handle *handle; /* or NULL: open by path */

	struct mgr_open how;
	struct file_view view;
	struct where *w;
	struct file *f;
};

static uint32_t wire_flags(int flags)
{
	static const struct {
		int flag;
		uint32_t wire;
	} map[] = {
		{ O_CREAT, WIRE_O_CREAT },
		{ O_EXCL, WIRE_O_EXCL },
		{ O_TRUNC, WIRE_O_TRUNC },
		{ O_APPEND, WIRE_O_APPEND },
		{ O_NOFOLLOW, WIRE_O_NOFOLLOW },
		{ O_DIRECTORY, WIRE_O_DIRECTORY },
	};
	uint32_t wire = 0;
	size_t i;

	for (i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (flags & map[i].flag)
			wire |= map[i].wire;
	}
	if ((flags & O_ACCMODE) != O_WRONLY)
		wire |= WIRE_O_READ;
	if ((flags & O_ACCMODE) != O_RDONLY)
		wire |= WIRE_O_WRITE;
	return wire;
}

static int dist_from_meta(const struct pvfs_filestat *meta, struct dist *dist)
{
	*dist = (struct dist){ .base = UINT32_MAX,
			       .pcount = UINT32_MAX,
			       .ssize = UINT32_MAX };
	if (!meta)
		return 0;
	if (meta->base < -1 || meta->pcount < -1 || meta->ssize < -1)
		return -EINVAL;
	if (meta->base >= 0)
		dist->base = (uint32_t)meta->base;
	if (meta->pcount > 0)
		dist->pcount = (uint32_t)meta->pcount;
	if (meta->ssize > 0)
		dist->ssize = (uint32_t)meta->ssize;
	return 0;
}

static int open_check(struct open_args *a)
{
	int rc = 0;

	a->view = (struct file_view){ 0 };
	if (a->part)
		rc = view_from_part(a->part, &a->view);
	if (!rc && a->part && a->flags & O_APPEND)
		rc = -EINVAL;
	return rc ? rc : dist_from_meta(a->meta, &a->how.dist);
}

static bool truncates_existing(int flags)
{
	return flags & O_TRUNC && !(flags & O_CREAT && flags & O_EXCL);
}

static int open_target(struct session *s, const struct target *t, void *arg)
{
	struct open_args *a = arg;
	struct target by_handle = { .path = "" };
	struct attr attr;
	uint64_t open;
	int rc;

	if (a->handle) {
		if (a->handle->fsid != s->fsid)
			return -EXDEV;
		by_handle.handle = a->handle->handle;
		t = &by_handle;
	}
	rc = truncates_existing(a->flags) ? lock_check_cut(a->w->fs, s, t) : 0;
	if (!rc)
		rc = mgr_open(s, t, &a->how, &attr, &open);
	if (rc)
		return rc;
	a->f->fs = a->w->fs;
	file_opened(a->f, s, &attr, open);
	return 0;
}

static int follow_counted(struct where *w, struct open_args *a)
{
	uint64_t begun = profile_start();
	int rc;

	w->counted = true;
	rc = where_follow(w, 0, open_target, a);
	if (rc != WHERE_ORDINARY)
		api_counted(PROFILE_OPEN, rc ? PROFILE_NAMES : a->f->profile,
			    begun, rc);
	return rc;
}

/* Returns 0 and sets a->f, or WHERE_ORDINARY, or -errno. */
static int open_pvfs(struct where *w, struct open_args *a)
{
	int rc;

	if ((a->flags & O_TMPFILE) == O_TMPFILE || a->flags & O_PATH)
		return -EOPNOTSUPP;
	if ((a->flags & O_ACCMODE) == O_ACCMODE ||
	    (a->flags & O_CREAT && a->flags & O_DIRECTORY))
		return -EINVAL;
	a->how.flags = wire_flags(a->flags);
	if (a->flags & O_CREAT)
		a->how.mode = mode_and_umask(a->mode);
	a->f = file_new(w->fs, a->flags & KEPT_FLAGS);
	if (!a->f)
		return -ENOMEM;
	file_set_view(a->f, &a->view);
	a->w = w;
	rc = follow_counted(w, a);
	if (rc)
		file_put(a->f);
	return rc;
}

/* Creates a descriptor for f.  Consumes the reference to f. */
static int descriptor_install(struct file *f, int flags)
{
	int fd = process_reserve(flags & O_CLOEXEC), rc;

	if (fd < 0) {
		file_put(f);
		return fd;
	}
	rc = process_set(fd, f);
	if (rc) {
		close(fd);
		file_put(f);
		return rc;
	}
	return fd;
}

static int open_ordinary(const struct where *w, const struct open_args *a)
{
	int fd = openat(w->at, w->path, a->flags & ~(O_META | O_PART), a->mode),
	    rc;
	struct file *f;

	if (fd < 0)
		return -errno;
	if (!a->part)
		return fd;
	f = file_new(NULL, a->flags & KEPT_FLAGS);
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	file_set_view(f, &a->view);
	rc = process_set(fd, f);
	if (rc) {
		file_put(f);
		close(fd);
	}
	return rc ? rc : fd;
}

static int do_open(int dir, const char *path, struct open_args *a)
{
	struct where w;
	int rc = open_check(a);

	if (rc)
		return rc;
	where_find_at(&w, dir, path);
	if (!w.fs)
		return open_ordinary(&w, a);
	rc = open_pvfs(&w, a);
	if (rc == WHERE_ORDINARY)
		return open_ordinary(&w, a);
	if (!rc && profile_on())
		profile_named(a->f->profile, w.base ? path : w.buf, a->flags);
	return rc ? rc : descriptor_install(a->f, a->flags);
}

static int open_va(int dir, const char *path, int flags, va_list ap)
{
	struct open_args a = { .flags = flags };

	if (flags & (O_CREAT | O_META | O_PART | (O_TMPFILE & ~O_DIRECTORY)))
		a.mode = va_arg(ap, mode_t);
	if (flags & O_META)
		a.meta = va_arg(ap, const struct pvfs_filestat *);
	if (flags & O_PART)
		a.part = va_arg(ap, const struct fpart *);
	if (((flags & O_META) && !a.meta) || ((flags & O_PART) && !a.part))
		return -EFAULT;
	return do_open(dir, path, &a);
}

int pvfs_open(const char *path, int flags, ...)
{
	va_list ap;
	int rc;

	va_start(ap, flags);
	rc = open_va(AT_FDCWD, path, flags, ap);
	va_end(ap);
	return api_int(rc);
}

int pvfs_open64(const char *path, int flags, ...)
{
	va_list ap;
	int rc;

	va_start(ap, flags);
	rc = open_va(AT_FDCWD, path, flags, ap);
	va_end(ap);
	return api_int(rc);
}

int pvfs_openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	int rc;

	va_start(ap, flags);
	rc = open_va(dir, path, flags, ap);
	va_end(ap);
	return api_int(rc);
}

int api_open(const char *path, int flags, mode_t mode)
{
	struct open_args a = { .flags = flags, .mode = mode };

	return flags & (O_META | O_PART) ? -EINVAL
					 : do_open(AT_FDCWD, path, &a);
}

int pvfs_creat(const char *path, mode_t mode)
{
	return pvfs_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* ---- by handle ---- */

int pvfs_get_handle(int fd, struct pvfs_handle *handle)
{
	struct file *f = process_file(fd);
	struct session *s;
	int rc = f && f->fs ? 0 : -ENOTTY;

	if (!f && fcntl(fd, F_GETFD) < 0)
		rc = -EBADF;
	if (!rc)
		rc = fs_session(f->fs, &s);
	if (!rc) {
		*handle = (struct pvfs_handle){ .fsid = s->fsid,
						.handle = f->handle };
		session_put(s);
	}
	if (f)
		file_put(f);
	return api_int(rc);
}

static int do_open_handle(const char *path, struct open_args *a)
{
	struct where w;
	int rc;

	if (a->flags & (O_CREAT | O_EXCL | O_TRUNC | O_META | O_PART) ||
	    !a->handle->handle)
		return -EINVAL;
	where_find(&w, path);
	if (!w.fs)
		return -EXDEV;
	rc = open_pvfs(&w, a);
	if (!rc && profile_on())
		profile_named(a->f->profile, NULL, a->flags);
	return rc ? rc : descriptor_install(a->f, a->flags);
}

int pvfs_open_handle(const char *path, const struct pvfs_handle *handle,
		     int flags)
{
	struct open_args a = { .flags = flags, .handle = handle };

	return api_int(do_open_handle(path, &a));
}

int pvfs_close(int fd)
{
	struct file *f = process_file(fd);
	unsigned int counts = f ? f->profile : PROFILE_NAMES;
	uint64_t begun = f && f->fs ? profile_start() : 0;
	int rc;

	if (f) {
		lock_closed(f);
		file_put(f);
	}
	process_set(fd, NULL);
	rc = close(fd);
	profile_done(PROFILE_CLOSE, counts, begun, rc, false);
	return rc;
}
