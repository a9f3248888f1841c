/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_files.c - log files that are allocated before Berkeley DB needs them.  Berkeley DB
 * starts to write in an existing empty file as in one of its own.  If space is short, a
 * log file that a checkpoint made unnecessary becomes the next one, so that nobody else
 * gets its blocks.
 *
 * If nobody allocates files in time, Berkeley DB makes the next one itself, at any moment.  So a
 * file never replaces another one that has its name already.
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
static int file_allocate(const char *path, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	rc = -posix_fallocate(fd, 0, STORE_LOG_FILE);
	close(fd);
	return rc;
}

/*
 * Gives an allocated file this name instead of its own.  -EEXIST: there is such a file; this one is
 * deleted, as after any other error.
 */
static int file_rename_new(const char *from, const char *to)
{
	int rc = link(from, to) ? -errno : 0;

	unlink(from);
	return rc;
}

/* The caller holds log_files_lock, or there is no other thread yet. */
static int file_make(struct store *st, const char *path)
{
	char fresh[PATH_MAX];
	int rc;

	side_path(st, "next", fresh);
	rc = file_allocate(fresh, O_CREAT | O_TRUNC);
	if (!rc)
		return file_rename_new(fresh, path);
	unlink(fresh);
	return rc;
}

/* Returns the number of allocated log files after n. */
static uint32_t files_allocate_ahead(struct store *st, uint32_t n)
{
	char path[PATH_MAX];
	uint32_t ahead;
	int rc;

	pthread_mutex_lock(&st->log_files_lock);
	if (st->log_files_made < n)
		st->log_files_made = n;
	for (; st->log_files_made < n + AHEAD; st->log_files_made++) {
		log_path(st, st->log_files_made + 1, path);
		rc = file_make(st, path);
		if (rc && rc != -EEXIST)
			break;
	}
	ahead = st->log_files_made - n;
	pthread_mutex_unlock(&st->log_files_lock);
	return ahead;
}

static bool position_of_log(struct store *st, uint32_t *n, uint32_t *offset)
{
	DB_LOG_STAT *stat;

	if (store_error(st, st->env->log_stat(st->env, &stat, 0), "log"))
		return false;
	*n = stat->st_cur_file;
	*offset = stat->st_cur_offset;
	free(stat);
	return true;
}

enum store_space log_files_check_space(struct store *st)
{
	uint32_t n, offset, ahead;

	if (!position_of_log(st, &n, &offset))
		return STORE_SPACE_NONE;
	ahead = files_allocate_ahead(st, n);
	if (ahead >= AHEAD)
		return STORE_SPACE_OK;
	return (uint64_t)(ahead + 1) * STORE_LOG_FILE - offset < ENOUGH
		       ? STORE_SPACE_NONE
		       : STORE_SPACE_LOW;
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

static int file_clear(const char *path)
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

static bool is_file_wanted(struct store *st, uint32_t n)
{
	bool short_of;

	pthread_mutex_lock(&st->log_files_lock);
	short_of = st->log_files_made < n + AHEAD;
	pthread_mutex_unlock(&st->log_files_lock);
	return short_of;
}

/* `old` is no longer named as a log file, so a recovery never reads a half-cleared one. */
static void file_become_next(struct store *st, const char *old, uint32_t n)
{
	char path[PATH_MAX];
	int rc = file_clear(old);

	pthread_mutex_lock(&st->log_files_lock);
	if (st->log_files_made < n)
		st->log_files_made = n;
	if (!rc && st->log_files_made < n + AHEAD) {
		log_path(st, st->log_files_made + 1, path);
		rc = file_rename_new(old, path);
		st->log_files_made += !rc || rc == -EEXIST;
	} else {
		unlink(old);
	}
	pthread_mutex_unlock(&st->log_files_lock);
}

static void file_recycle(struct store *st, const char *name, uint32_t n)
{
	char path[PATH_MAX], old[PATH_MAX];

	side_path(st, name, path);
	side_path(st, "old", old);
	if (!is_file_wanted(st, n))
		unlink(path);
	else if (!rename(path, old))
		file_become_next(st, old, n);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void log_files_recycle(struct store *st)
{
	char **names = NULL;
	uint32_t n, offset;
	size_t count = 0;

	if (store_error(st, st->env->log_archive(st->env, &names, 0),
			"old log files") ||
	    !names || !position_of_log(st, &n, &offset))
		return;
	while (names[count])
		count++;
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++)
		file_recycle(st, names[i], n);
	free(names);
}

/* 1: the file has contents; 0: it has none; -errno. */
static int file_has_contents(const char *path)
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

int log_files_last(const struct store *st, uint32_t *last)
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
		rc = file_has_contents(path);
		if (rc > 0)
			*last = (uint32_t)n;
	}
	closedir(dir);
	return rc < 0 ? rc : 0;
}

static bool file_exists(const char *path, nlink_t *links)
{
	struct stat stat;

	if (lstat(path, &stat))
		return false;
	*links = stat.st_nlink;
	return true;
}

/* -ENOENT: there are enough spares. */
static int find_free_spare_name(const struct store *st, char path[PATH_MAX])
{
	nlink_t links;

	for (unsigned int k = 0; k < AHEAD; k++) {
		spare_path(st, k, path);
		if (!file_exists(path, &links))
			return 0;
	}
	return -ENOENT;
}

/* The file may have been used, or lack some of its blocks. */
static void file_become_spare(struct store *st, const char *path)
{
	char spare[PATH_MAX];
	int rc = file_has_contents(path) ? file_clear(path)
					 : file_allocate(path, 0);

	if (!rc)
		rc = find_free_spare_name(st, spare);
	if (rc || rename(path, spare))
		unlink(path);
}

/* Cleans up after an operation that a crash interrupted. */
static void files_recover_names(struct store *st)
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
		if (file_exists(path, &links) && links > 1)
			unlink(path);
	}
	side_path(st, "old", path);
	if (file_exists(path, &links) && links > 1)
		unlink(path);
	else if (file_exists(path, &links))
		file_become_spare(st, path);
}

int log_files_prepare(struct store *st)
{
	char path[PATH_MAX], spare[PATH_MAX];
	nlink_t links;
	uint32_t last;
	int rc = log_files_last(st, &last);

	if (rc) {
		log_error(st->log, "database %s: cannot read its log: %s",
			  st->home, strerror(-rc));
		return rc;
	}
	files_recover_names(st);
	log_path(st, last, path);
	if (last)
		file_allocate(path, 0);
	for (uint32_t n = last + 1;
	     log_path(st, n, path), file_exists(path, &links); n++)
		file_become_spare(st, path);
	while (!rc && !find_free_spare_name(st, spare))
		rc = file_make(st, spare);
	log_path(st, last + 1, path);
	spare_path(st, 0, spare);
	return link(spare, path) && !last ? -ENOSPC : 0;
}

static void spare_become_log(struct store *st, const char *spare, uint32_t n)
{
	char path[PATH_MAX];

	if (file_has_contents(spare) ? file_clear(spare) : 0)
		unlink(spare);
	if (st->log_files_made < n + AHEAD) {
		log_path(st, st->log_files_made + 1, path);
		if (!rename(spare, path))
			st->log_files_made++;
	}
	unlink(spare);
}

void log_files_begin(struct store *st)
{
	char path[PATH_MAX];
	uint32_t n, offset;
	nlink_t links;

	if (!position_of_log(st, &n, &offset))
		return;
	spare_path(st, 0, path);
	if (file_exists(path, &links) && links > 1)
		unlink(path); /* recovery used it or did not need it */
	st->log_files_made = n;
	while (log_path(st, st->log_files_made + 1, path),
	       file_exists(path, &links))
		st->log_files_made++;
	for (unsigned int k = 0; k < AHEAD; k++) {
		spare_path(st, k, path);
		if (file_exists(path, &links))
			spare_become_log(st, path, n);
	}
}
