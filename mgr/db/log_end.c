/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_end.c - records in a file how far the log was flushed.  Berkeley DB takes the
 * first record that it cannot read for the end of the log.  Without this file, a
 * damaged record or a truncated log file would silently undo acknowledged changes.
 *
 * The file is written after each flush and before the changes of that flush are
 * acknowledged, so it is never ahead of the log.  If the process is killed, the page
 * cache keeps the file.  The checkpointer flushes the file, so after a power loss it is
 * about two seconds old at most.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr/db/db_int.h"
#include "common/util/stamp.h"

#define MAGIC UINT64_C(0x31646e65676f6c70) /* "plogend1" */

/* Within one sector, which a disk writes completely or not at all. */
struct end_record {
	uint64_t magic;
	uint64_t end;
	uint64_t inverse; /* of end */
};
_Static_assert(sizeof(struct end_record) == LOG_END_SIZE, "end of the log");

static void end_path(const struct store *st, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" LOG_END_FILE, st->home);
}

static uint64_t log_place(uint32_t file, uint32_t offset)
{
	return (uint64_t)file << 32 | offset;
}

void log_end_encode(uint64_t end, uint8_t record[LOG_END_SIZE])
{
	const struct end_record rec = { htole64(MAGIC), htole64(end),
					htole64(~end) };

	memcpy(record, &rec, sizeof(rec));
}

static int write_record(int fd, uint64_t end)
{
	uint8_t rec[LOG_END_SIZE];
	ssize_t n;

	log_end_encode(end, rec);
	n = pwrite(fd, rec, sizeof(rec), 0);

	return n < 0 ? -errno : n < (ssize_t)sizeof(rec) ? -ENOSPC : 0;
}

/* -ENOENT: the file is missing (removed, or from a release without it) or empty. */
static int read_record(const struct store *st, uint64_t *end)
{
	struct end_record rec = { 0 };
	char path[PATH_MAX];
	int fd, rc;
	ssize_t n;

	end_path(st, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = pread(fd, &rec, sizeof(rec), 0);
	rc = n < 0 ? -errno : 0;
	close(fd);
	/* a release that was killed while it made the file left it empty */
	if (rc || !n)
		return rc ? rc : -ENOENT;
	if (n < (ssize_t)sizeof(rec) || le64toh(rec.magic) != MAGIC ||
	    rec.end != ~rec.inverse)
		return -EBADMSG;
	*end = le64toh(rec.end);
	return 0;
}

/* The position in the log of the next write. */
static uint64_t written_end(DB_ENV *env)
{
	DB_LOG_STAT *stat;
	uint64_t end;

	if (env->log_stat(env, &stat, 0))
		return 0;
	end = log_place(stat->st_cur_file, stat->st_cur_offset);
	free(stat);
	return end;
}

/*
 * *end: the position that a recovery would take for the end of the log.  0: Berkeley DB finds it
 * damaged.  -errno: the log could not be read at all, for example because file
 * descriptors ran out.
 */
static int readable_end(struct store *st, uint64_t *end)
{
	DB_ENV *env;
	int ret = db_env_create(&env, 0);

	if (ret)
		return ret > 0 ? -ret : -EIO;
	env->set_errcall(env, NULL);
	*end = 0;
	ret = env->open(env, st->home,
			DB_CREATE | DB_INIT_LOG | DB_INIT_MPOOL | DB_PRIVATE,
			0600);
	if (!ret)
		*end = written_end(env);
	env->close(env, 0);
	return ret > 0 && ret != EINVAL ? -ret : 0;
}

static void report_cut(struct store *st, uint64_t found, uint64_t end)
{
	log_error(st->log,
		  "database %s: its log can be read up to %u/%u, and changes "
		  "up to %u/%u were acknowledged: the log is damaged or was "
		  "cut; restore the folder from a backup, or give up these "
		  "changes: pvfs-mgr --restore",
		  st->home, (uint32_t)(found >> 32), (uint32_t)found,
		  (uint32_t)(end >> 32), (uint32_t)end);
}

static void report_unknown(struct store *st, const char *what)
{
	log_error(st->log,
		  "database %s: its file " LOG_END_FILE " %s: without it, the "
		  "end of the log may be missing unnoticed; restore the folder "
		  "from a backup, or start from what can be read: pvfs-mgr "
		  "--restore",
		  st->home, what);
}

static int report_unreadable(struct store *st, const char *what, int rc)
{
	log_error(st->log,
		  "database %s: cannot read %s: %s; remove the cause and "
		  "start again",
		  st->home, what, strerror(-rc));
	return rc;
}

static int accept_lost_log(struct store *st, uint64_t found, uint64_t end)
{
	char path[PATH_MAX];

	if (end)
		log_warn(st->log,
			 "database %s: the log between %u/%u and %u/%u is "
			 "given up: changes that were acknowledged are lost",
			 st->home, (uint32_t)(found >> 32), (uint32_t)found,
			 (uint32_t)(end >> 32), (uint32_t)end);
	end_path(st, path);
	return unlink(path) ? -errno : 0;
}

int log_end_check(struct store *st)
{
	uint64_t end = 0, found = 0;
	uint32_t last = 0;
	int rc = read_record(st, &end);

	if (rc == -ENOENT)
		return 0;
	if (rc == -EBADMSG && st->accept_loss)
		return accept_lost_log(st, 0, 0);
	if (rc == -EBADMSG) {
		report_unknown(st, "is damaged");
		return rc;
	}
	if (rc)
		return report_unreadable(st, "its file " LOG_END_FILE, rc);
	rc = log_files_last(st, &last);
	if (!rc && last >= end >> 32)
		rc = readable_end(st, &found);
	if (rc)
		return report_unreadable(st, "the end of its log", rc);
	if (found >= end)
		return 0;
	if (st->accept_loss)
		return accept_lost_log(st, found, end);
	report_cut(st, found, end);
	return -EBADMSG;
}

static int open_record(const struct store *st)
{
	char path[PATH_MAX];
	struct stat sb;
	int fd;

	end_path(st, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &sb) && !sb.st_size) {
		close(fd);
		return -ENOENT;
	}
	return fd < 0 ? -errno : fd;
}

/* Makes the file atomically.  As long as nothing was flushed, the end is 0. */
static int make_record(struct store *st)
{
	struct end_record rec = { htole64(MAGIC), 0, htole64(~UINT64_C(0)) };
	int rc, dirfd = open(st->home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dirfd < 0)
		return -errno;
	rc = stamp_replace(dirfd, LOG_END_FILE, (const char *)&rec,
			   sizeof(rec));
	close(dirfd);
	if (rc)
		return rc;
	rc = open_record(st);
	if (rc < 0)
		return rc;
	st->log_end.fd = rc;
	return 0;
}

int log_end_find(struct store *st, bool must_exist)
{
	int fd = open_record(st);

	if (fd >= 0)
		st->log_end.fd = fd;
	else if (fd != -ENOENT)
		return report_unreadable(st, "its file " LOG_END_FILE, fd);
	if (fd >= 0 || !must_exist || st->accept_loss)
		return 0;
	report_unknown(st, "is gone or empty");
	return -EIO;
}

int log_end_make(struct store *st)
{
	int rc = make_record(st);

	if (rc)
		log_error(st->log,
			  "cannot make %s/" LOG_END_FILE ": %s; remove the "
			  "cause and start again",
			  st->home, strerror(-rc));
	return rc;
}

/* Berkeley DB cannot change a page that is newer than the end of the log. */
void log_end_report_lost(const struct store *st)
{
	log_error(st->log,
		  "database %s: cannot go on from what can be read of the "
		  "log: restore the folder from a backup, then pvfs-mgr "
		  "--restore",
		  st->home);
}

void log_end_close(struct store *st)
{
	if (st->log_end.fd >= 0)
		close(st->log_end.fd);
}

uint64_t log_end_before_flush(struct store *st)
{
	return written_end(st->env);
}

int log_end_flushed(struct store *st, uint64_t end)
{
	struct log_end *le = &st->log_end;
	int rc = 0;

	pthread_mutex_lock(&le->lock);
	if (le->fd >= 0 && end > le->end)
		rc = write_record(le->fd, end);
	if (!rc && end > le->end) {
		le->end = end;
		le->dirty = true;
	}
	pthread_mutex_unlock(&le->lock);
	return store_error(st, -rc, "write of " LOG_END_FILE);
}

void log_end_sync(struct store *st)
{
	struct log_end *le = &st->log_end;
	bool dirty;

	pthread_mutex_lock(&le->lock);
	dirty = le->dirty;
	le->dirty = false;
	pthread_mutex_unlock(&le->lock);
	if (dirty)
		/* only a safeguard: after an error the next sync tries again */
		fdatasync(le->fd);
}
