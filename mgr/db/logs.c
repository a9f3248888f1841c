/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logs.c - log files that are allocated before Berkeley DB needs them.  Berkeley DB
 * starts to write in an existing empty file as in one of its own.  If space is short, a
 * log file that a checkpoint made unnecessary becomes the next one, so that nobody else
 * gets its blocks.
 *
 * A recovery removes log files without a header.  Before a recovery, the files that are
 * allocated ahead are therefore renamed to spares.  The first spare has both names,
 * because the recovery may need it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr/db/db_int.h"

#define AHEAD 2u /* files after the one in use */
#define ENOUGH (STORE_LOG_FILE / 2 + STORE_LOG_BUFFER) /* minimum to continue */
#define NAME_LEN 14 /* length of log.0000000001 */

static void log_path(const struct store *st, uint32_t n, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/log.%010u", st->home, n);
}

/* A file that is not yet, or no longer, a log file. */
static void side_path(const struct store *st, const char *name,
		      char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", st->home, name);
}

static void spare_path(const struct store *st, unsigned int k,
		       char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/spare.%u", st->home, k);
}

/* Extends the file to the size of a log file; the new part is 0.  -errno. */
static int allocate(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = -posix_fallocate(fd, 0, STORE_LOG_FILE);
	close(fd);
	return rc;
}

/* The caller holds logs_lock, or there is no other thread yet. */
static int make(struct store *st, const char *path)
{
	char fresh[PATH_MAX];
	int rc;

	side_path(st, "next", fresh);
	rc = allocate(fresh, O_CREAT | O_TRUNC);
	if (!rc && rename(fresh, path))
		rc = -errno;
	if (rc)
		unlink(fresh);
	return rc;
}

/* Returns the number of allocated log files after n. */
static uint32_t fill(struct store *st, uint32_t n)
{
	char path[PATH_MAX];
	uint32_t ahead;

	pthread_mutex_lock(&st->logs_lock);
	if (st->logs_made < n)
		st->logs_made = n;
	for (; st->logs_made < n + AHEAD; st->logs_made++) {
		log_path(st, st->logs_made + 1, path);
		if (make(st, path))
			break;
	}
	ahead = st->logs_made - n;
	pthread_mutex_unlock(&st->logs_lock);
	return ahead;
}

static bool in_use(struct store *st, uint32_t *n, uint32_t *offset)
{
	DB_LOG_STAT *stat;

	if (store_error(st, st->env->log_stat(st->env, &stat, 0), "log"))
		return false;
	*n = stat->st_cur_file;
	*offset = stat->st_cur_offset;
	free(stat);
	return true;
}

enum store_room logs_room(struct store *st)
{
	uint32_t n, offset, ahead;

	if (!in_use(st, &n, &offset))
		return STORE_ROOM_NONE;
	ahead = fill(st, n);
	if (ahead >= AHEAD)
		return STORE_ROOM;
	return (uint64_t)(ahead + 1) * STORE_LOG_FILE - offset < ENOUGH
		       ? STORE_ROOM_NONE
		       : STORE_ROOM_LOW;
}

static int write_zeros(int fd)
{
	static const char zeros[1 << 16];
	ssize_t n;

	for (off_t at = 0; at < (off_t)STORE_LOG_FILE; at += n) {
		n = pwrite(fd, zeros, sizeof(zeros), at);
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

static int clear(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = -posix_fallocate(fd, 0, STORE_LOG_FILE);
	if (!rc && fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, STORE_LOG_FILE))
		rc = write_zeros(fd);
	if (!rc && fdatasync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

static bool wanted(struct store *st, uint32_t n)
{
	bool short_of;

	pthread_mutex_lock(&st->logs_lock);
	short_of = st->logs_made < n + AHEAD;
	pthread_mutex_unlock(&st->logs_lock);
	return short_of;
}

/* `old` is no longer named as a log file, so a recovery never reads a half-cleared one. */
static void become_next(struct store *st, const char *old, uint32_t n)
{
	char path[PATH_MAX];
	int rc = clear(old);

	pthread_mutex_lock(&st->logs_lock);
	if (!rc && st->logs_made < n + AHEAD) {
		log_path(st, st->logs_made + 1, path);
		rc = rename(old, path);
		st->logs_made += !rc;
	} else {
		rc = -1;
	}
	pthread_mutex_unlock(&st->logs_lock);
	if (rc)
		unlink(old);
}

static void let_go(struct store *st, const char *name, uint32_t n)
{
	char path[PATH_MAX], old[PATH_MAX];

	side_path(st, name, path);
	side_path(st, "old", old);
	if (!wanted(st, n))
		unlink(path);
	else if (!rename(path, old))
		become_next(st, old, n);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void logs_tidy(struct store *st)
{
	char **names = NULL;
	uint32_t n, offset;
	size_t count = 0;

	if (store_error(st, st->env->log_archive(st->env, &names, 0),
			"old log files") ||
	    !names || !in_use(st, &n, &offset))
		return;
	while (names[count])
		count++;
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++)
		let_go(st, names[i], n);
	free(names);
}

/* 1: the file has contents; 0: it has none; -errno. */
static int begun(const char *path)
{
	static const char zeros[STORE_PAGE];
	char page[STORE_PAGE];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;
	int rc;

	if (fd < 0)
		return -errno;
	n = read(fd, page, sizeof(page));
	rc = n < 0 ? -errno : memcmp(page, zeros, (size_t)n) != 0;
	close(fd);
	return rc;
}

int logs_last(const struct store *st, uint32_t *last)
{
	DIR *dir = opendir(st->home);
	char path[PATH_MAX];
	struct dirent *de;
	int rc = 0;

	if (!dir)
		return -errno;
	*last = 0;
	while (rc >= 0 && (de = readdir(dir))) {
		unsigned long n;
		char *end;

		if (strncmp(de->d_name, "log.", 4) ||
		    strlen(de->d_name) != NAME_LEN)
			continue;
		n = strtoul(de->d_name + 4, &end, 10);
		if (*end || n > UINT32_MAX || n <= *last)
			continue;
		log_path(st, (uint32_t)n, path);
		rc = begun(path);
		if (rc > 0)
			*last = (uint32_t)n;
	}
	closedir(dir);
	return rc < 0 ? rc : 0;
}

static bool there(const char *path, nlink_t *links)
{
	struct stat stat;

	if (lstat(path, &stat))
		return false;
	*links = stat.st_nlink;
	return true;
}

/* -ENOENT: there are enough spares. */
static int spare_free(const struct store *st, char path[PATH_MAX])
{
	nlink_t links;

	for (unsigned int k = 0; k < AHEAD; k++) {
		spare_path(st, k, path);
		if (!there(path, &links))
			return 0;
	}
	return -ENOENT;
}

/* The file may have been used, or lack some of its blocks. */
static void become_spare(struct store *st, const char *path)
{
	char spare[PATH_MAX];
	int rc = begun(path) ? clear(path) : allocate(path, 0);

	if (!rc)
		rc = spare_free(st, spare);
	if (rc || rename(path, spare))
		unlink(path);
}

/* Cleans up after an operation that a crash interrupted. */
static void take_up(struct store *st)
{
	static const char *const gone[] = { "reserve", "next" };
	char path[PATH_MAX];
	nlink_t links;

	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
		side_path(st, gone[i], path);
		unlink(path); /* "reserve" is from earlier versions */
	}
	for (unsigned int k = 0; k < AHEAD; k++) {
		spare_path(st, k, path);
		if (there(path, &links) && links > 1)
			unlink(path);
	}
	side_path(st, "old", path);
	if (there(path, &links))
		become_spare(st, path);
}

int logs_prepare(struct store *st)
{
	char path[PATH_MAX], spare[PATH_MAX];
	nlink_t links;
	uint32_t last;
	int rc = logs_last(st, &last);

	if (rc) {
		log_error(st->log, "database %s: cannot read its log: %s",
			  st->home, strerror(-rc));
		return rc;
	}
	take_up(st);
	log_path(st, last, path);
	if (last)
		allocate(path, 0);
	for (uint32_t n = last + 1; log_path(st, n, path), there(path, &links);
	     n++)
		become_spare(st, path);
	while (!rc && !spare_free(st, spare))
		rc = make(st, spare);
	log_path(st, last + 1, path);
	spare_path(st, 0, spare);
	return link(spare, path) && !last ? -ENOSPC : 0;
}

static void return_spare(struct store *st, const char *spare, uint32_t n)
{
	char path[PATH_MAX];

	if (begun(spare) ? clear(spare) : 0)
		unlink(spare);
	if (st->logs_made < n + AHEAD) {
		log_path(st, st->logs_made + 1, path);
		if (!rename(spare, path))
			st->logs_made++;
	}
	unlink(spare);
}

void logs_begin(struct store *st)
{
	char path[PATH_MAX];
	uint32_t n, offset;
	nlink_t links;

	if (!in_use(st, &n, &offset))
		return;
	spare_path(st, 0, path);
	if (there(path, &links) && links > 1)
		unlink(path); /* recovery used it or did not need it */
	st->logs_made = n;
	while (log_path(st, st->logs_made + 1, path), there(path, &links))
		st->logs_made++;
	for (unsigned int k = 0; k < AHEAD; k++) {
		spare_path(st, k, path);
		if (there(path, &links))
			return_spare(st, path, n);
	}
}
