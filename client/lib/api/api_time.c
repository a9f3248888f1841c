/* SPDX-License-Identifier: BSD-2-Clause */
/* api_time.c - setting the times of files. */
#include <fcntl.h>
#include <sys/stat.h>

#include "client/lib/api/api_int.h"

#define NS 1000000000

/* False: tv_nsec is invalid. */
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
