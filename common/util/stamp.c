/* SPDX-License-Identifier: BSD-2-Clause */
/* stamp.c - the stamp file and the lock of a storage directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/stamp.h"

#define STAMP_TEXT 192
#define HEAD "pvfs-ib store\nversion "
#define STORE_LINE "store "
#define OWNER_LINE "manager "

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

/* The lines that depend on the version and the daemon's configuration. */
static size_t format_fixed(const struct stamp *s, uint32_t version, char *buf,
			   size_t len)
{
	return (size_t)snprintf(buf, len,
				HEAD "%u\nfilesystem %016" PRIx64
				     "\nrole %s\nindex %u\n",
				version, s->fsid, s->role, s->index);
}

static size_t format_all(const struct stamp *s, uint32_t version, char *buf,
			 size_t len)
{
	size_t n = format_fixed(s, version, buf, len);

	if (s->store)
		n += (size_t)snprintf(buf + n, len - n,
				      STORE_LINE "%016" PRIx64 "\n", s->store);
	if (s->owner)
		n += (size_t)snprintf(buf + n, len - n,
				      OWNER_LINE "%016" PRIx64 "\n", s->owner);
	return n;
}

/* The version in a text that may be a stamp. If it cannot be one, STAMP_VERSION. */
static uint32_t version_of(const char *text)
{
	unsigned long v = 0;

	if (!strncmp(text, HEAD, strlen(HEAD)))
		v = strtoul(text + strlen(HEAD), NULL, 10);
	return v && v <= UINT32_MAX ? (uint32_t)v : STAMP_VERSION;
}

/* The number in the line, with *text moved after it; 0: another line, or none. */
static uint64_t take_line(const char **text, const char *name)
{
	size_t len = strlen(name);
	uint64_t id;
	char *end;

	if (strncmp(*text, name, len) != 0)
		return 0;
	id = strtoull(*text + len, &end, 16);
	if (end != *text + len + 16 || *end != '\n')
		return 0;
	*text = end + 1;
	return id;
}

int stamp_write(int dirfd, const struct stamp *stamp)
{
	char text[STAMP_TEXT];
	size_t len = format_all(stamp, STAMP_VERSION, text, sizeof(text));

	return stamp_replace(dirfd, STAMP_FILE, text, len);
}

/* 1: the directory is empty (except for a new file system's lost+found); 0; or -errno. */
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

static int stamp_new(int dirfd, const char *dir, const struct stamp *stamp,
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
		rc = stamp_write(dirfd, stamp);
	if (rc)
		log_error(log, "cannot stamp storage %s: %s", dir,
			  strerror(-rc));
	else
		log_info(log, "storage %s was empty: new store", dir);
	return rc;
}

/* The line with the first difference, for the message. */
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

/* Reads the stamp file. Returns its length or -errno. */
static ssize_t stamp_read(int dirfd, const char *dir, char *have, size_t len,
			  const struct log *log)
{
	int fd = openat(dirfd, STAMP_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, have, len - 1);

	if (n < 0)
		n = -errno;
	if (n < 0 && n != -ENOENT)
		log_error(log, "cannot read %s/%s: %s", dir, STAMP_FILE,
			  strerror((int)-n));
	if (fd >= 0)
		close(fd);
	have[n < 0 ? 0 : n] = '\0';
	return n;
}

static int refuse_later(const char *dir, const struct stamp *stamp,
			const struct log *log)
{
	log_error(log,
		  "%s/%s is of version %u, this program knows up to %u: a "
		  "later release upgraded this store, which cannot be "
		  "undone; start that release",
		  dir, STAMP_FILE, stamp->version, STAMP_VERSION);
	return -EINVAL;
}

/* Parses what follows the fixed lines. False: unknown text. */
static bool take_rest(const char *more, struct stamp *stamp)
{
	stamp->store = take_line(&more, STORE_LINE);
	stamp->owner = take_line(&more, OWNER_LINE);
	return !*more;
}

static int stamp_check(int dirfd, const char *dir, struct stamp *stamp,
		       const struct log *log)
{
	char want[STAMP_TEXT], have[STAMP_TEXT], diff[2 * STAMP_TEXT];
	size_t len;
	ssize_t n = stamp_read(dirfd, dir, have, sizeof(have), log);

	stamp->version = STAMP_VERSION;
	if (n == -ENOENT)
		return stamp_new(dirfd, dir, stamp, log);
	if (n < 0)
		return (int)n;
	stamp->version = version_of(have);
	if (stamp->version > STAMP_VERSION)
		return refuse_later(dir, stamp, log);
	len = format_fixed(stamp, stamp->version, want, sizeof(want));
	if (!strncmp(have, want, len) && take_rest(have + len, stamp))
		return 0;
	format_all(stamp, stamp->version, want, sizeof(want));
	first_difference(have, want, diff, sizeof(diff));
	log_error(log,
		  "%s/%s says %s: this store belongs to something else; "
		  "correct 'storage', 'id' or --index",
		  dir, STAMP_FILE, diff);
	return -EINVAL;
}

/*
 * For a full disk: overwrites the digit of the version in place. This needs no new block, and a
 * crash leaves the old or the new version.
 */
static int write_over(int dirfd, const struct stamp *stamp)
{
	char was[STAMP_TEXT], text[STAMP_TEXT];
	size_t len = format_all(stamp, STAMP_VERSION, text, sizeof(text));
	int fd, rc;

	if (format_all(stamp, stamp->version, was, sizeof(was)) != len)
		return -ENOSPC;
	fd = openat(dirfd, STAMP_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, text, len);
	close(fd);
	return rc;
}

int stamp_step(int dirfd, const char *dir, struct stamp *stamp,
	       const struct log *log)
{
	int rc;

	if (stamp->version == STAMP_VERSION)
		return 0;
	rc = stamp_write(dirfd, stamp);
	if (rc == -ENOSPC || rc == -EDQUOT)
		rc = write_over(dirfd, stamp);
	if (rc) {
		log_error(log, "cannot write %s/%s: %s", dir, STAMP_FILE,
			  strerror(-rc));
		return rc;
	}
	log_info(log,
		 "storage %s: upgraded from version %u to version %u, which "
		 "earlier releases refuse",
		 dir, stamp->version, STAMP_VERSION);
	stamp->version = STAMP_VERSION;
	return 0;
}

int stamp_look(int dirfd, struct stamp *stamp, char *why, size_t len)
{
	char want[STAMP_TEXT], have[STAMP_TEXT];
	size_t fixed;
	uint32_t version;
	ssize_t n = stamp_read(dirfd, "", have, sizeof(have), NULL);

	if (n == -ENOENT) {
		int empty = dir_empty(dirfd);

		return empty ? empty > 0 ? -ENOENT : empty : -ENOTEMPTY;
	}
	if (n < 0)
		return (int)n;
	version = version_of(have);
	fixed = format_fixed(stamp,
			     version > STAMP_VERSION ? STAMP_VERSION : version,
			     want, sizeof(want));
	if (!strncmp(have, want, fixed)) {
		take_rest(have + fixed, stamp);
		return 0;
	}
	first_difference(have, want, why, len);
	return -EINVAL;
}

static void say_unusable(const char *dir, int rc, const struct log *log)
{
	if (rc == -EROFS)
		log_error(log,
			  "storage %s is read-only here: mounted so (mount -o "
			  "remount,rw), or only for a systemd unit, as all "
			  "outside /var/lib/pvfs: systemctl edit it, [Service] "
			  "ReadWritePaths=%s",
			  dir, dir);
	else
		log_error(log,
			  "cannot make storage %s: %s; make it, or correct "
			  "'storage'; systemd units cannot see /home",
			  dir, strerror(-rc));
}

/*
 * Tests for a read-only file system before anything is written; permissions are checked elsewhere.
 */
static int check_writable(int fd)
{
	return faccessat(fd, ".", W_OK, AT_EACCESS) && errno == EROFS ? -EROFS
								      : 0;
}

static int open_folder(const char *dir, const struct log *log)
{
	int fd, rc = mkdir(dir, 0700) && errno != EEXIST ? -errno : 0;

	if (rc) {
		say_unusable(dir, rc, log);
		return rc;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		log_error(log, "cannot open storage %s: %s", dir,
			  strerror(-rc));
		return rc;
	}
	rc = check_writable(fd);
	if (!rc)
		return fd;
	say_unusable(dir, rc, log);
	close(fd);
	return rc;
}

static int open_locked(const char *dir, const struct log *log)
{
	int fd = open_folder(dir, log), rc;

	if (fd < 0)
		return fd;
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

int stamp_open(const char *dir, struct stamp *stamp, const struct log *log)
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
