/* SPDX-License-Identifier: BSD-2-Clause */
/* stamp.c - the stamp file and the lock of a storage directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stamp.h"

#define STAMP_TEXT 128

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

int stamp_replace(int dirfd, const char *name, const char *text, size_t len)
{
	char tmp[64];
	int fd, rc;

	snprintf(tmp, sizeof(tmp), "%s.new", name);
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, len);
	close(fd);
	if (!rc && renameat(dirfd, tmp, dirfd, name))
		rc = -errno;
	if (rc) {
		unlinkat(dirfd, tmp, 0);
		return rc;
	}
	return fsync(dirfd) ? -errno : 0;
}

static int stamp_format(const struct stamp *s, char *buf, size_t len)
{
	return snprintf(buf, len,
			"pvfs-ib store\nversion %u\nfilesystem %016" PRIx64
			"\nrole %s\nindex %u\n",
			STAMP_VERSION, s->fsid, s->role, s->index);
}

/* 1: nothing in it (a new file system's lost+found apart), 0, or -errno. */
static int dir_empty(int dirfd)
{
	struct dirent *de;
	int fd, rc = 1;
	DIR *d;

	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		rc = -errno;
		close(fd);
		return rc;
	}
	errno = 0;
	while (rc && (de = readdir(d)))
		rc = !strcmp(de->d_name, ".") || !strcmp(de->d_name, "..") ||
		     !strcmp(de->d_name, "lost+found") ||
		     !strcmp(de->d_name, STAMP_FILE ".new");
	if (rc && errno)
		rc = -errno;
	closedir(d);
	return rc;
}

static int stamp_new(int dirfd, const char *dir, const char *want, size_t len,
		     const struct log *log)
{
	int rc = dir_empty(dirfd);

	if (!rc) {
		log_error(log,
			  "storage %s holds files but no %s: it is no store; "
			  "correct 'storage' or empty the directory",
			  dir, STAMP_FILE);
		return -EINVAL;
	}
	if (rc > 0)
		rc = stamp_replace(dirfd, STAMP_FILE, want, len);
	if (rc)
		log_error(log, "cannot stamp storage %s: %s", dir,
			  strerror(-rc));
	else
		log_info(log, "storage %s was empty: new store", dir);
	return rc;
}

/* The line of text that holds the first difference, for the message. */
static void first_difference(const char *have, const char *want, char *line,
			     size_t len)
{
	size_t i = 0, n;

	for (n = 0; have[n] && have[n] == want[n]; n++)
		if (have[n] == '\n')
			i = n + 1;
	snprintf(line, len, "'%.*s' instead of '%.*s'",
		 (int)strcspn(have + i, "\n"), have + i,
		 (int)strcspn(want + i, "\n"), want + i);
}

static int stamp_check(int dirfd, const char *dir, const struct stamp *stamp,
		       const struct log *log)
{
	char want[STAMP_TEXT], have[STAMP_TEXT], diff[2 * STAMP_TEXT];
	int want_len = stamp_format(stamp, want, sizeof(want));
	ssize_t n;
	int fd;

	fd = openat(dirfd, STAMP_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT)
		return stamp_new(dirfd, dir, want, (size_t)want_len, log);
	n = fd < 0 ? -1 : read(fd, have, sizeof(have) - 1);
	if (n < 0) {
		n = -errno;
		log_error(log, "cannot read %s/%s: %s", dir, STAMP_FILE,
			  strerror((int)-n));
	}
	if (fd >= 0)
		close(fd);
	if (n < 0)
		return (int)n;
	have[n] = '\0';
	if (!strcmp(have, want))
		return 0;
	first_difference(have, want, diff, sizeof(diff));
	log_error(log,
		  "%s/%s says %s: this store belongs to something else; "
		  "correct 'storage', 'id' or --index",
		  dir, STAMP_FILE, diff);
	return -EINVAL;
}

static int open_locked(const char *dir, const struct log *log)
{
	int fd, rc;

	if (mkdir(dir, 0700) && errno != EEXIST) {
		rc = -errno;
		log_error(log,
			  "cannot make storage %s: %s; make it, or correct "
			  "'storage'",
			  dir, strerror(-rc));
		return rc;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		log_error(log, "cannot open storage %s: %s", dir,
			  strerror(-rc));
		return rc;
	}
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
	log_error(log,
		  "cannot lock storage %s: %s; is another daemon running "
		  "on it? each needs its own 'storage'",
		  dir, strerror(-rc));
	close(fd);
	return rc;
}

int stamp_open(const char *dir, const struct stamp *stamp,
	       const struct log *log)
{
	int fd = open_locked(dir, log);
	int rc;

	if (fd < 0)
		return fd;
	rc = stamp_check(fd, dir, stamp, log);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}
