/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c - opens, checks and closes a store. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/db/lock_index.h"
#include "mgr/db/replication_int.h"

#define STORE_FORMAT 2u
#define FORMAT_FROM 1u /* has no SESSION_DECLARES and no inode writer */
#define LOG_END_MARK                                                           \
	"log_end" /* the file of log_end.c was made and is required */

/*
 * For a new store, or for a step to the next format.  Rows of the old format are valid
 * in the new one.
 */
static int write_format(struct store *st, bool new)
{
	int rc = store_begin(st);

	if (rc)
		return rc;
	rc = meta_put_u64(st, "format", STORE_FORMAT);
	if (!rc && new)
		rc = handle_key_make(st);
	return transaction_end(st, rc);
}

static int step_format(struct store *st)
{
	int rc = write_format(st, false);

	if (!rc)
		log_info(st->log,
			 "database %s: of format %u until now, from now on "
			 "%u, which earlier releases refuse",
			 st->home, FORMAT_FROM, STORE_FORMAT);
	return rc;
}

static int report_format(struct store *st, uint64_t format)
{
	log_error(st->log,
		  "database %s has format %llu, this program knows %u and "
		  "%u; use the release that wrote it",
		  st->home, (unsigned long long)format, FORMAT_FROM,
		  STORE_FORMAT);
	return -EPROTONOSUPPORT;
}

static int check_format(struct store *st)
{
	uint64_t format;
	int rc;

	rc = meta_get_u64(st, "format", &format);
	if (rc == -ENOENT)
		return write_format(st, true);
	if (rc || format == STORE_FORMAT)
		return rc;
	return format == FORMAT_FROM ? step_format(st)
				     : report_format(st, format);
}

static int log_end_mark_get(struct store *st, bool *marked)
{
	uint64_t value;
	int rc = meta_get_u64(st, LOG_END_MARK, &value);

	*marked = !rc;
	return rc == -ENOENT ? 0 : rc;
}

/* Opens the file of log_end.c, or makes it. */
static int open_log_end(struct store *st)
{
	bool marked;
	int rc = log_end_mark_get(st, &marked);

	if (!rc)
		rc = log_end_find(st, marked);
	if (rc || st->log_end.fd >= 0)
		return rc;
	return log_end_make(st);
}

static int put_log_end_mark(struct store *st)
{
	bool marked;
	int rc = log_end_mark_get(st, &marked);

	if (rc || marked)
		return rc;
	rc = store_begin(st);
	return rc ? rc : transaction_end(st, meta_put_u64(st, LOG_END_MARK, 1));
}

/* For a store that calloc() allocated. */
static void store_init(struct store *st, const struct store_attr *attr)
{
	st->log = attr->log;
	st->files = STORE_TABLES;
	pthread_mutex_init(&st->log_files_lock, NULL);
	pthread_mutex_init(&st->log_end.lock, NULL);
	pthread_mutex_init(&st->checkpoint_lock, NULL);
	st->log_end.fd = -1;
	for (int t = 0; t < STORE_FILES; t++)
		st->table_space[t].fd = -1;
}

/* Reads and completes the rows that a manager needs to serve. */
static int open_rows(struct store *st)
{
	int rc = 0;

	if (st->log_end.fd >= 0)
		rc = put_log_end_mark(st);
	if (!rc)
		rc = check_format(st);
	if (!rc)
		rc = dent_hash_open(st);
	if (!rc)
		rc = handle_open(st);
	if (!rc)
		rc = ids_open(st);
	return rc ? rc : lock_rows_open(st);
}

static int report_group(struct store *st)
{
	log_error(st->log,
		  "database %s belongs to one of several managers: start it as "
		  "one of them",
		  st->home);
	return -EPERM;
}

static int open_alone(struct store *st, const struct store_attr *attr)
{
	struct store_applied applied = { 0 };
	bool marked;
	int rc = group_mark_get(st, &marked);

	if (!rc && marked)
		rc = applied_get(st, &applied);
	if (!rc && marked)
		rc = attr->leave_group || (attr->leave_unused_group &&
					   applied.index <= 1)
			     ? group_leave(st)
			     : report_group(st);
	return rc ? rc : open_rows(st);
}

/* The rows are not complete before the first entry. */
static int open_member(struct store *st)
{
	uint64_t format = STORE_FORMAT;
	int rc = meta_get_u64(st, "format", &format);

	if (rc && rc != -ENOENT)
		return rc;
	if (format != STORE_FORMAT && format != FORMAT_FROM)
		return report_format(st, format);
	return group_open(st);
}

int store_open(const struct store_attr *attr, struct store **out)
{
	struct store *st;
	int rc;

	st = calloc(1, sizeof(*st));
	if (!st)
		return -ENOMEM;
	store_init(st, attr);
	st->accept_loss = attr->accept_loss;
	/* until ids_open(): reserve nothing */
	st->id_safe = st->id_end = UINT64_MAX;
	rc = attr->replicated ? replication_new(attr, &st->rep) : 0;
	if (!rc)
		rc = environment_open(st, attr);
	if (!rc)
		rc = open_log_end(st);
	if (!rc)
		rc = st->rep ? open_member(st) : open_alone(st, attr);
	if (rc) {
		if (st->accept_loss)
			log_end_report_lost(st);
		lock_index_close(st->locks);
		environment_close(st);
		free(st);
		return rc == -EBADMSG ? -EIO : rc;
	}
	store_check_space(st);
	*out = st;
	return 0;
}

int store_lead(struct store *st)
{
	bool marked;
	int rc = store_record_committed(st);

	if (rc)
		return rc;
	st->rep->leading = true;
	rc = group_mark_get(st, &marked);
	if (rc || marked)
		return rc ? rc : open_rows(st);
	rc = store_begin(st);
	if (!rc)
		rc = transaction_end(st, group_mark_put(st));
	return rc ? rc : open_rows(st);
}

/* With several managers, changes that are not replicated are undone at the next open. */
static int close_cleanly(struct store *st)
{
	int rc = st->rep ? store_record_committed(st) : 0;

	if (!rc)
		rc = store_checkpoint(st, 0);
	return rc || st->rep ? rc : store_flush(st);
}

void store_close(struct store *st)
{
	if (!st)
		return;
	assert(!st->txn);
	if (!store_failed(st) && !close_cleanly(st))
		log_end_sync(st);
	lock_index_close(st->locks);
	environment_close(st);
	free(st);
}

/* ---- check ---- */

static int check_home(const struct store_attr *attr)
{
	char *path;
	int rc = 0;

	if (asprintf(&path, "%s/db", attr->dir) < 0)
		return -ENOMEM;
	if (access(path, R_OK | W_OK | X_OK)) {
		rc = -errno;
		log_error(attr->log, "cannot check database %s: %s", path,
			  strerror(-rc));
	}
	free(path);
	return rc;
}

/* Call it after all pages were checked. */
static int check_rows(struct store *st, const struct store_attr *attr)
{
	int rc = environment_open(st, attr), locks;
	bool marked;

	if (!rc)
		rc = handle_open(st);
	if (rc)
		return rc;
	locks = lock_rows_check(st);
	rc = log_end_mark_get(st, &marked);
	if (!rc)
		rc = log_end_find(st, marked);
	return rc ? rc : locks;
}

static int with_store(const struct store_attr *attr,
		      int (*fn)(struct store *, const struct store_attr *))
{
	struct store *st = calloc(1, sizeof(*st));
	int rc;

	if (!st)
		return -ENOMEM;
	store_init(st, attr);
	rc = fn(st, attr);
	environment_close(st);
	free(st);
	return rc;
}

static bool has_member_table(const struct store_attr *attr)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/db/%s", attr->dir,
		 store_table_name(TABLE_MEMBER));
	return !access(path, F_OK);
}

int store_check(const struct store_attr *attr)
{
	int rc = check_home(attr);

	if (rc)
		return rc;
	/* no rows yet: on a damaged page, Berkeley DB may never return */
	rc = with_store(attr, environment_recover);
	if (rc == -ENOSPC || rc == -EBADMSG)
		return rc;
	for (enum store_table t = 0; t < STORE_FILES; t++) {
		int one = 0;

		if (t < STORE_TABLES || has_member_table(attr))
			one = table_pages_check(attr, store_table_name(t));
		rc = rc ? rc : one;
	}
	return rc ? rc : with_store(attr, check_rows);
}
