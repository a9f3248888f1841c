/* SPDX-License-Identifier: BSD-2-Clause */
/* api_name.c - names: mkdir, rename, links and similar calls; getdents and directory streams. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/file/dir.h"

static int do_mkdir(struct session *s, const struct target *t, void *arg)
{
	uint32_t *mode = arg;

	return mgr_mkdir(s, t, *mode, NULL);
}

int pvfs_mkdirat(int dir, const char *path, mode_t mode)
{
	struct where w;
	uint32_t bits;
	int rc;

	where_find_at(&w, dir, path);
	if (!w.fs)
		return mkdirat(w.at, w.path, mode);
	bits = mode_and_umask(mode) & WIRE_MODE(01777, 0777);
	rc = where_follow(&w, 0, do_mkdir, &bits);
	return rc == WHERE_ORDINARY ? mkdirat(w.at, w.path, mode) : api_int(rc);
}

int pvfs_mkdir(const char *path, mode_t mode)
{
	return pvfs_mkdirat(AT_FDCWD, path, mode);
}

static int do_mknod(struct session *s, const struct target *t, void *arg)
{
	return mgr_mknod(s, t, arg, NULL);
}

static bool slash_last(const char *path)
{
	size_t len = strlen(path);

	return len && path[len - 1] == '/';
}

/*
 * For "name/", mknod(2) has another error than open(2).  So the manager is asked for a FIFO of
 * this name, which it never creates, to get the error of mknod(2).
 */
static int do_creat(struct session *s, const struct target *t, void *arg)
{
	const struct mgr_mknod nothing = { .mode = S_IFIFO };
	const struct mgr_mknod *what = arg;
	struct mgr_open how = { .flags = WIRE_O_CREAT | WIRE_O_EXCL,
				.mode = what->mode & WIRE_MODE(07777, 0777),
				.dist = { UINT32_MAX, UINT32_MAX,
					  UINT32_MAX } };
	struct attr attr;
	uint64_t open;

	if (slash_last(t->path))
		return mgr_mknod(s, t, &nothing, NULL);
	return mgr_open(s, t, &how, &attr, &open);
}

/* The checks that the kernel does first.  Returns 0 or -errno. */
static int mknod_from_mode(mode_t mode, dev_t dev, struct mgr_mknod *what)
{
	*what = (struct mgr_mknod){ .mode = mode_and_umask(mode & 07777) |
					    (mode & S_IFMT) };
	switch (mode & S_IFMT) {
	case S_IFCHR:
	case S_IFBLK:
		what->major = major(dev);
		what->minor = minor(dev);
		return 0;
	case S_IFIFO:
	case S_IFSOCK:
	case S_IFREG:
	case 0:
		return 0;
	case S_IFDIR:
		return -EPERM;
	}
	return -EINVAL;
}

int pvfs_mknodat(int dir, const char *path, mode_t mode, dev_t dev)
{
	struct mgr_mknod what;
	struct where w;
	bool regular = S_ISREG(mode) || !(mode & S_IFMT);
	int rc;

	where_find_at(&w, dir, path);
	if (!w.fs)
		return mknodat(w.at, w.path, mode, dev);
	rc = mknod_from_mode(mode, dev, &what);
	if (!rc)
		rc = where_follow(&w, 0, regular ? do_creat : do_mknod, &what);
	return rc == WHERE_ORDINARY ? mknodat(w.at, w.path, mode, dev)
				    : api_int(rc);
}

int pvfs_mknod(const char *path, mode_t mode, dev_t dev)
{
	return pvfs_mknodat(AT_FDCWD, path, mode, dev);
}

static int do_rmdir(struct session *s, const struct target *t, void *arg)
{
	return mgr_rmdir(s, t);
}

static int do_unlink(struct session *s, const struct target *t, void *arg)
{
	return mgr_unlink(s, t);
}

int pvfs_unlinkat(int dir, const char *path, int flags)
{
	struct where w;
	int rc;

	if (flags & ~AT_REMOVEDIR)
		return api_int(-EINVAL);
	rc = where_run_at(&w, dir, path, 0, flags ? do_rmdir : do_unlink, NULL);
	return rc == WHERE_ORDINARY ? unlinkat(w.at, w.path, flags)
				    : api_int(rc);
}

int pvfs_unlink(const char *path)
{
	return pvfs_unlinkat(AT_FDCWD, path, 0);
}

int pvfs_rmdir(const char *path)
{
	return pvfs_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

static int rename_noreplace(struct session *s, const struct target *from,
			    const struct target *to, unsigned int *which)
{
	return mgr_rename2(s, from, to, WIRE_RN_NOREPLACE, which);
}

static int rename_exchange(struct session *s, const struct target *from,
			   const struct target *to, unsigned int *which)
{
	return mgr_rename2(s, from, to, WIRE_RN_EXCHANGE, which);
}

static int no_such_flags(struct session *s, const struct target *from,
			 const struct target *to, unsigned int *which)
{
	return -EINVAL;
}

static pair_op rename_op(unsigned int flags)
{
	switch (flags) {
	case 0:
		return mgr_rename;
	case RENAME_NOREPLACE:
		return rename_noreplace;
	case RENAME_EXCHANGE:
		return rename_exchange;
	}
	return no_such_flags;
}

int pvfs_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		   unsigned int flags)
{
	struct where a, b;
	int rc;

	where_find_at(&a, from_dir, from);
	where_find_at(&b, to_dir, to);
	rc = where_follow_pair(&a, &b, rename_op(flags));
	if (rc == WHERE_ORDINARY)
		return renameat2(a.at, a.path, b.at, b.path, flags);
	/* a manager of an earlier release */
	return api_int(rc == -ENOSYS ? -EINVAL : rc);
}

int pvfs_rename2(const char *from, const char *to, unsigned int flags)
{
	return pvfs_renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

int pvfs_rename(const char *from, const char *to)
{
	return pvfs_rename2(from, to, 0);
}

static int link_found(struct where *a, struct where *b, int flags)
{
	int rc = where_follow_pair(a, b, mgr_link);

	return rc == WHERE_ORDINARY
		       ? linkat(a->at, a->path, b->at, b->path, flags)
		       : api_int(rc);
}

/* AT_EMPTY_PATH with an empty path names the object of a descriptor. */
static bool links_descriptor(int dir, const char *path, int flags)
{
	struct file *f = flags & AT_EMPTY_PATH && path && !*path ? api_file(dir)
								 : NULL;

	if (f)
		file_put(f);
	return f;
}

/* The manager does not follow a link in the last component. */
static int is_no_link(int dir, const char *path)
{
	struct stat st;

	if (pvfs_fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return S_ISLNK(st.st_mode) ? -EOPNOTSUPP : 0;
}

int pvfs_linkat(int from_dir, const char *from, int to_dir, const char *to,
		int flags)
{
	struct where a, b;
	int rc = 0;

	if (links_descriptor(from_dir, from, flags))
		return api_int(-EINVAL);
	where_find_at(&a, from_dir, from);
	where_find_at(&b, to_dir, to);
	if (a.fs && flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		rc = -EINVAL;
	else if (a.fs && flags & AT_SYMLINK_FOLLOW)
		rc = is_no_link(from_dir, from);
	return rc ? api_int(rc) : link_found(&a, &b, flags);
}

int pvfs_link(const char *from, const char *to)
{
	return pvfs_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int do_symlink(struct session *s, const struct target *t, void *arg)
{
	return mgr_symlink(s, arg, t);
}

int pvfs_symlinkat(const char *target, int dir, const char *path)
{
	struct where w;
	int rc;

	where_find_at(&w, dir, path);
	if (!w.fs)
		return symlinkat(target, w.at, w.path);
	if (!*target)
		return api_int(-ENOENT);
	if (strlen(target) >= PATH_MAX)
		return api_int(-ENAMETOOLONG);
	rc = where_follow(&w, 0, do_symlink, (void *)(uintptr_t)target);
	return rc == WHERE_ORDINARY ? symlinkat(target, w.at, w.path)
				    : api_int(rc);
}

int pvfs_symlink(const char *target, const char *path)
{
	return pvfs_symlinkat(target, AT_FDCWD, path);
}

struct readlink_arg {
	char *buf;
	size_t len, n;
};

static int do_readlink(struct session *s, const struct target *t, void *arg)
{
	struct readlink_arg *a = arg;

	return mgr_readlink(s, t, a->buf, a->len, &a->n);
}

ssize_t pvfs_readlinkat(int dir, const char *path, char *buf, size_t len)
{
	struct readlink_arg a = { buf, len, 0 };
	struct where w;
	int rc;

	if (!len)
		return api_ret(-EINVAL);
	rc = where_run_at(&w, dir, path, WIRE_P_NOFOLLOW, do_readlink, &a);
	if (rc == WHERE_ORDINARY)
		return readlinkat(w.at, w.path, buf, len);
	return rc ? api_ret(rc) : (ssize_t)a.n;
}

ssize_t pvfs_readlink(const char *path, char *buf, size_t len)
{
	return pvfs_readlinkat(AT_FDCWD, path, buf, len);
}

/* ---- getdents and directory streams ---- */

#define STREAM_BYTES 32768u

/* Releases the reference to f. */
static ssize_t getdents_counted(struct file *f, void *buf, size_t len)
{
	uint64_t begun = profile_start();
	ssize_t n = -ENOTDIR;

	if (f->type == S_IFDIR) {
		file_lock_pos(f);
		n = dir_fill(f, buf, len);
		pthread_mutex_unlock(&f->pos_lock);
	}
	api_counted(PROFILE_DIR, f->profile, begun, n < 0 ? (int)n : 0);
	file_put(f);
	return n;
}

ssize_t pvfs_getdents(int fd, void *buf, size_t len)
{
	struct file *f = process_file(fd);

	return f ? api_ret(getdents_counted(f, buf, len))
		 : getdents64(fd, buf, len);
}

struct pvfs_dir {
	DIR *ordinary; /* or the fields below */
	int fd;
	long pos; /* position after the last entry returned */
	size_t len, at;
	struct dirent buf[STREAM_BYTES / sizeof(struct dirent)];
};

static PVFS_DIR *stream_of(int fd, bool ordinary)
{
	struct pvfs_dir *dir = malloc(sizeof(*dir));

	if (!dir)
		return NULL;
	dir->ordinary = NULL;
	dir->fd = fd;
	dir->pos = 0;
	dir->len = 0;
	dir->at = 0;
	if (ordinary) {
		dir->ordinary = fdopendir(fd);
		if (!dir->ordinary) {
			free(dir);
			return NULL;
		}
	}
	return dir;
}

PVFS_DIR *pvfs_fdopendir(int fd)
{
	struct file *f = process_file(fd);
	bool is_dir;

	if (!f)
		return stream_of(fd, true);
	is_dir = f->type == S_IFDIR;
	file_put(f);
	if (!is_dir) {
		errno = ENOTDIR;
		return NULL;
	}
	return stream_of(fd, false);
}

PVFS_DIR *pvfs_opendir(const char *path)
{
	int fd = pvfs_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	PVFS_DIR *dir;
	int saved;

	if (fd < 0)
		return NULL;
	dir = pvfs_fdopendir(fd);
	if (!dir) {
		saved = errno;
		pvfs_close(fd);
		errno = saved;
	}
	return dir;
}

struct dirent *pvfs_readdir(PVFS_DIR *dir)
{
	struct dirent *ent;
	ssize_t n;

	if (dir->ordinary)
		return readdir(dir->ordinary);
	if (dir->at == dir->len) {
		n = pvfs_getdents(dir->fd, dir->buf, sizeof(dir->buf));
		if (n <= 0)
			return NULL;
		dir->len = (size_t)n;
		dir->at = 0;
	}
	ent = (struct dirent *)((char *)dir->buf + dir->at);
	dir->at += ent->d_reclen;
	dir->pos = ent->d_off;
	return ent;
}

long pvfs_telldir(PVFS_DIR *dir)
{
	return dir->ordinary ? telldir(dir->ordinary) : dir->pos;
}

void pvfs_seekdir(PVFS_DIR *dir, long pos)
{
	if (dir->ordinary) {
		seekdir(dir->ordinary, pos);
		return;
	}
	if (pvfs_lseek(dir->fd, pos, SEEK_SET) < 0)
		return;
	dir->pos = pos;
	dir->len = 0;
	dir->at = 0;
}

void pvfs_rewinddir(PVFS_DIR *dir)
{
	if (dir->ordinary)
		rewinddir(dir->ordinary);
	else
		pvfs_seekdir(dir, 0);
}

int pvfs_dirfd(PVFS_DIR *dir)
{
	return dir->ordinary ? dirfd(dir->ordinary) : dir->fd;
}

int pvfs_closedir(PVFS_DIR *dir)
{
	int rc = dir->ordinary ? closedir(dir->ordinary) : pvfs_close(dir->fd);

	free(dir);
	return rc;
}
