/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backup.c - a copy of the files of a store that is in use.
 *
 * Each table is copied page by page as it is on the disk: Berkeley DB writes none of the pages that
 * are being read.  The log is copied after the tables, so it has all changes of their pages.  The
 * recovery of the copy begins at its last checkpoint, so there is none during the copy.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "mgr/db/replication_int.h"

#define GIB (UINT64_C(1) << 30)
#define CHUNK (UINT32_C(1) << 18) /* bytes */

/* A running copy; the callbacks of Berkeley DB find it in the store. */
struct store_copying {
	struct store *st;
	const struct store_sink *sink;
	int error; /* of the sink */
};

/* rc: of the sink.  Returns the first error. */
static int note_sink(struct store_copying *copy, int rc)
{
	if (rc && !copy->error) {
		copy->error = rc;
		atomic_store(&copy->st->copy_refused, true);
	}
	return copy->error;
}

static int may_continue(struct store_copying *copy)
{
	return note_sink(copy, store_is_short(copy->st) ? -ENOSPC : 0);
}

static int give_file(struct store_copying *copy, const char *name)
{
	if (may_continue(copy))
		return copy->error;
	return note_sink(copy, copy->sink->file(copy->sink->arg, name));
}

static int give_data(struct store_copying *copy, uint64_t offset,
		     const void *bytes, size_t len)
{
	if (may_continue(copy))
		return copy->error;
	return note_sink(copy,
			 copy->sink->data(copy->sink->arg, offset, bytes, len));
}

static struct store_copying *copy_of(DB_ENV *env)
{
	return ((struct store *)env->app_private)->copy;
}

static int on_table(DB_ENV *env, const char *table, const char *target,
		    void **handle)
{
	*handle = copy_of(env);
	return give_file(copy_of(env), table) ? EIO : 0;
}

static int on_pages(DB_ENV *env, u_int32_t gib, u_int32_t offset, u_int32_t len,
		    u_int8_t *pages, void *handle)
{
	return give_data(handle, gib * GIB + offset, pages, len) ? EIO : 0;
}

static int on_table_end(DB_ENV *env, const char *table, void *handle)
{
	return 0;
}

static int copy_table(struct store_copying *copy, const char *table)
{
	DB_ENV *env = copy->st->env;
	int ret = env->dbbackup(env, table, "", 0);

	if (copy->error || !ret)
		return copy->error;
	log_error(copy->st->log, "database %s: copy of table %s: %s",
		  copy->st->home, table, db_strerror(ret));
	return -EIO;
}

static int copy_tables(struct store_copying *copy)
{
	DB_ENV *env = copy->st->env;
	int rc = 0;

	if (env->set_backup_callbacks(env, on_table, on_pages, on_table_end) ||
	    env->set_backup_config(env, DB_BACKUP_SIZE, CHUNK))
		return -ENOMEM;
	for (enum store_table t = 0; !rc && t < copy->st->files; t++)
		rc = copy_table(copy, store_table_name(t));
	return rc;
}

/* The first `end` bytes; UINT64_MAX: all. */
static int copy_bytes(struct store_copying *copy, int fd, uint64_t end)
{
	uint8_t *buf = malloc(CHUNK);
	int rc = buf ? 0 : -ENOMEM;
	uint64_t at = 0;
	ssize_t n = 1;

	while (!rc && n > 0 && at < end) {
		n = pread(fd, buf, end - at < CHUNK ? end - at : CHUNK,
			  (off_t)at);
		if (n > 0)
			rc = give_data(copy, at, buf, (size_t)n);
		else if (n < 0)
			rc = -errno;
		at += (uint64_t)n;
	}
	free(buf);
	return rc;
}

static int copy_log_file(struct store_copying *copy, const char *name,
			 uint64_t end)
{
	char path[PATH_MAX];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", copy->st->home, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = give_file(copy, name);
	if (!rc)
		rc = copy_bytes(copy, fd, end);
	close(fd);
	return rc;
}

/* Log files that are allocated ahead have higher numbers and nothing in them. */
static int copy_log(struct store_copying *copy, uint64_t end)
{
	const unsigned long last = end >> 32;
	DB_ENV *env = copy->st->env;
	char **names = NULL;
	int rc = store_error(copy->st,
			     env->log_archive(env, &names, DB_ARCH_LOG),
			     "list log files");

	for (size_t i = 0; !rc && names && names[i]; i++) {
		unsigned long n = strtoul(names[i] + 4, NULL, 10);

		if (n <= last)
			rc = copy_log_file(copy, names[i],
					   n < last ? UINT64_MAX
						    : (uint32_t)end);
	}
	free(names);
	return rc;
}

static int copy_log_end(struct store_copying *copy, uint64_t end)
{
	uint8_t record[LOG_END_SIZE];
	int rc = give_file(copy, LOG_END_FILE);

	log_end_encode(end, record);
	return rc ? rc : give_data(copy, 0, record, sizeof(record));
}

static int copy_all(struct store_copying *copy)
{
	uint64_t end;
	int rc = copy_tables(copy);

	if (rc)
		return rc;
	end = log_end_before_flush(copy->st);
	rc = store_flush_log(copy->st);
	if (!rc)
		rc = copy_log(copy, end);
	return rc ? rc : copy_log_end(copy, end);
}

int store_copy(struct store *st, const struct store_sink *sink)
{
	struct store_copying copy = { .st = st, .sink = sink };
	int rc;

	pthread_mutex_lock(&st->checkpoint_lock);
	st->copy = &copy;
	rc = store_failed(st) ? -EIO : copy_all(&copy);
	st->copy = NULL;
	atomic_store(&st->copy_refused, false);
	pthread_mutex_unlock(&st->checkpoint_lock);
	return rc;
}
