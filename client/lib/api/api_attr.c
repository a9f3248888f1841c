/* SPDX-License-Identifier: BSD-2-Clause */
/* api_attr.c - stat, access, modes, owners, sizes and times. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"
#include "client/lib/file/dir.h"
#include "client/lib/file/held.h"
#include "client/lib/names/stat.h"

static uint32_t path_flags(int flags)
{
	return flags & AT_SYMLINK_NOFOLLOW ? WIRE_P_NOFOLLOW : 0;
}

static int stat_at(int dir, const char *path, struct stat *st, int flags)
{
	struct where w;
	int rc = where_run_at(&w, dir, path, path_flags(flags), stat_get, st);

	if (rc == WHERE_ORDINARY) {
		if (fstatat(w.at, w.path, st, flags))
			return -errno;
		process_show_dev(w.at, w.path, flags, st);
		return 0;
	}
	if (!rc)
		file_apply_write_time(w.fs, st);
	return rc;
}

int api_stat(const char *path, bool follow, struct stat *st)
{
	return stat_at(AT_FDCWD, path, st, follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

int pvfs_fstatat(int dir, const char *path, struct stat *st, int flags)
{
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH))
		return api_int(-EINVAL);
	if (flags & AT_EMPTY_PATH && path && !*path && dir != AT_FDCWD)
		return pvfs_fstat(dir, st);
	return api_int(stat_at(dir, path, st, flags));
}

int pvfs_stat(const char *path, struct stat *st)
{
	return api_int(api_stat(path, true, st));
}

int pvfs_lstat(const char *path, struct stat *st)
{
	return api_int(api_stat(path, false, st));
}

struct file *api_file(int fd)
{
	struct file *f = process_file(fd);

	if (f && !f->fs) {
		file_put(f);
		f = NULL;
	}
	return f;
}

static int meta_run(struct file *f, target_op op, void *arg)
{
	int rc = api_run(PROFILE_META, f, op, arg);

	file_put(f);
	return api_int(rc);
}

int api_fstat(int fd, struct file *f, struct stat *st)
{
	struct stat_open open = { .st = st };
	int rc;

	if (!f || !f->fs) {
		if (fstat(fd, st))
			return -errno;
		process_show_dev(fd, NULL, 0, st);
		return 0;
	}
	open.reads = &f->ends;
	rc = api_run(PROFILE_STAT, f, stat_get_open, &open);
	if (f->type == S_IFDIR)
		return dir_stat(f, rc, st);
	if (!rc)
		file_apply_write_time(f->fs, st);
	return rc;
}

int pvfs_fstat(int fd, struct stat *st)
{
	struct file *f = process_file(fd);
	int rc = api_fstat(fd, f, st);

	if (f)
		file_put(f);
	return api_int(rc);
}

static int do_access(struct session *s, const struct target *t, void *arg)
{
	uint32_t *mask = arg;

	return mgr_access(s, t, *mask);
}

int pvfs_faccessat(int dir, const char *path, int mode, int flags)
{
	uint32_t mask = (uint32_t)mode;
	struct where w;
	int rc;

	if (mode & ~(R_OK | W_OK | X_OK) ||
	    flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW))
		return api_int(-EINVAL);
	rc = where_run_at(&w, dir, path, path_flags(flags), do_access, &mask);
	return rc == WHERE_ORDINARY ? faccessat(w.at, w.path, mode, flags)
				    : api_int(rc);
}

int pvfs_access(const char *path, int mode)
{
	return pvfs_faccessat(AT_FDCWD, path, mode, 0);
}

/* ---- SETATTR ---- */

struct setattr_arg {
	const struct setattr *set;
	struct attr attr;
};

static int do_setattr(struct session *s, const struct target *t, void *arg)
{
	struct setattr_arg *a = arg;

	return mgr_setattr(s, t, a->set, &a->attr);
}

static void note_times(struct fs *fs, const struct setattr_arg *a)
{
	if (a->set->valid & (WIRE_S_MTIME | WIRE_S_MTIME_NOW))
		file_forget_write_time(fs, a->attr.handle);
}

int setattr_at(struct where *w, int dir, const char *path, int flags,
	       const struct setattr *set)
{
	struct setattr_arg a = { .set = set };
	int rc;

	if (flags & ~AT_SYMLINK_NOFOLLOW)
		return -EINVAL;
	rc = where_run_at(w, dir, path, path_flags(flags), do_setattr, &a);

	if (!rc)
		note_times(w->fs, &a);
	return rc;
}

int setattr_file(struct file *f, const struct setattr *set)
{
	struct setattr_arg a = { .set = set };
	int rc = api_run(PROFILE_META, f, do_setattr, &a);

	if (!rc)
		note_times(f->fs, &a);
	file_put(f);
	return rc;
}

static struct setattr of_mode(mode_t mode)
{
	return (struct setattr){ .valid = WIRE_S_MODE, .mode = mode & 07777 };
}

/* -1 leaves an id unchanged.  chown with two ids of -1 is still sent. */
static struct setattr of_owner(uid_t uid, gid_t gid)
{
	return (struct setattr){
		.valid = WIRE_S_UID | WIRE_S_GID,
		.uid = uid,
		.gid = gid,
	};
}

int pvfs_fchmodat(int dir, const char *path, mode_t mode, int flags)
{
	struct setattr set = of_mode(mode);
	struct where w;
	int rc = setattr_at(&w, dir, path, flags, &set);

	return rc == WHERE_ORDINARY ? fchmodat(w.at, w.path, mode, flags)
				    : api_int(rc);
}

int pvfs_chmod(const char *path, mode_t mode)
{
	return pvfs_fchmodat(AT_FDCWD, path, mode, 0);
}

int pvfs_fchmod(int fd, mode_t mode)
{
	struct setattr set = of_mode(mode);
	struct file *f = api_file(fd);

	return f ? api_int(setattr_file(f, &set)) : fchmod(fd, mode);
}

int pvfs_fchownat(int dir, const char *path, uid_t uid, gid_t gid, int flags)
{
	struct setattr set = of_owner(uid, gid);
	struct where w;
	int rc = setattr_at(&w, dir, path, flags, &set);

	return rc == WHERE_ORDINARY ? fchownat(w.at, w.path, uid, gid, flags)
				    : api_int(rc);
}

int pvfs_chown(const char *path, uid_t uid, gid_t gid)
{
	return pvfs_fchownat(AT_FDCWD, path, uid, gid, 0);
}

int pvfs_lchown(const char *path, uid_t uid, gid_t gid)
{
	return pvfs_fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

int pvfs_fchown(int fd, uid_t uid, gid_t gid)
{
	struct setattr set = of_owner(uid, gid);
	struct file *f = api_file(fd);

	return f ? api_int(setattr_file(f, &set)) : fchown(fd, uid, gid);
}

/* ---- TRUNCATE ---- */

static int do_truncate(struct session *s, const struct target *t, void *arg)
{
	int64_t *size = arg;

	return mgr_truncate(s, t, (uint64_t)*size);
}

struct truncate_arg {
	struct where w;
	int64_t size;
};

static int truncate_path(struct session *s, const struct target *t, void *arg)
{
	struct truncate_arg *a = arg;
	int rc = lock_check_cut(a->w.fs, s, t);

	return rc ? rc : do_truncate(s, t, &a->size);
}

int pvfs_truncate(const char *path, int64_t size)
{
	struct truncate_arg a;
	int rc;

	if (size < 0)
		return api_int(-EINVAL);
	a.size = size;
	rc = where_run(&a.w, path, 0, truncate_path, &a);
	return rc == WHERE_ORDINARY ? truncate(a.w.path, size) : api_int(rc);
}

int pvfs_ftruncate(int fd, int64_t size)
{
	struct file *f = api_file(fd);

	if (!f)
		return ftruncate(fd, size);
	if (size >= 0 && (atomic_load(&f->flags) & O_ACCMODE) != O_RDONLY)
		return meta_run(f, do_truncate, &size);
	file_put(f);
	return api_int(-EINVAL);
}

int pvfs_truncate64(const char *path, int64_t size)
{
	return pvfs_truncate(path, size);
}

int pvfs_ftruncate64(int fd, int64_t size)
{
	return pvfs_ftruncate(fd, size);
}

#define NS 1000000000

/* Adds one time of utimensat(2) to the change.  Returns false if it is invalid or out of range. */
static bool one_time(const struct timespec *ts, uint32_t set, uint32_t now,
		     uint32_t *valid, int64_t *ns)
{
	if (ts->tv_nsec == UTIME_OMIT)
		return true;
	if (ts->tv_nsec == UTIME_NOW) {
		*valid |= now;
		return true;
	}
	if (ts->tv_nsec < 0 || ts->tv_nsec >= NS)
		return false;
	if (__builtin_mul_overflow((int64_t)ts->tv_sec, NS, ns) ||
	    __builtin_add_overflow(*ns, ts->tv_nsec, ns))
		return false;
	*valid |= set;
	return true;
}

static int of_times(const struct timespec *ts, struct setattr *set)
{
	*set = (struct setattr){ 0 };
	if (!ts) {
		set->valid = WIRE_S_ATIME_NOW | WIRE_S_MTIME_NOW;
		return 0;
	}
	if (!one_time(&ts[0], WIRE_S_ATIME, WIRE_S_ATIME_NOW, &set->valid,
		      &set->atime) ||
	    !one_time(&ts[1], WIRE_S_MTIME, WIRE_S_MTIME_NOW, &set->valid,
		      &set->mtime))
		return -EINVAL;
	return 0;
}

int pvfs_utimensat(int dir, const char *path, const struct timespec *times,
		   int flags)
{
	struct setattr set;
	struct where w;
	int rc = of_times(times, &set);

	if (!rc)
		rc = setattr_at(&w, dir, path, flags, &set);
	if (rc == WHERE_ORDINARY)
		return utimensat(w.at, w.path, times, flags);
	return api_int(rc);
}

int pvfs_utimens(const char *path, const struct timespec *times)
{
	return pvfs_utimensat(AT_FDCWD, path, times, 0);
}

int pvfs_lutimens(const char *path, const struct timespec *times)
{
	return pvfs_utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

int pvfs_utimes(const char *path, const struct timeval *times)
{
	struct timespec ts[2];
	int i;

	if (!times)
		return pvfs_utimens(path, NULL);
	for (i = 0; i < 2; i++) {
		if (times[i].tv_usec < 0 || times[i].tv_usec >= 1000000)
			return api_int(-EINVAL);
		ts[i].tv_sec = times[i].tv_sec;
		ts[i].tv_nsec = times[i].tv_usec * 1000;
	}
	return pvfs_utimens(path, ts);
}

int pvfs_utime(const char *path, const struct utimbuf *times)
{
	struct timespec ts[2] = { { 0 } };

	if (!times)
		return pvfs_utimens(path, NULL);
	ts[0].tv_sec = times->actime;
	ts[1].tv_sec = times->modtime;
	return pvfs_utimens(path, ts);
}

int pvfs_futimens(int fd, const struct timespec *times)
{
	struct file *f = process_file(fd);
	struct setattr set;
	int rc;

	if (!f || !f->fs) {
		if (f)
			file_put(f);
		return futimens(fd, times);
	}
	rc = of_times(times, &set);
	if (!rc)
		return api_int(setattr_file(f, &set));
	file_put(f);
	return api_int(rc);
}
