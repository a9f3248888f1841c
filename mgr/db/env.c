/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * env.c - the Berkeley DB environment and its tables.  The environment is private to
 * the process: it has no region files, and each start recovers from the log alone.  One
 * thread updates, so there is no lock subsystem.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr/db/db_int.h"

static const char *const table_name[STORE_TABLES] = {
	[STORE_META] = "meta",	     [STORE_INODES] = "inodes",
	[STORE_DIRENTS] = "dirents", [STORE_SYMLINKS] = "symlinks",
	[STORE_OPENS] = "opens",     [STORE_SESSIONS] = "sessions",
	[STORE_REPLIES] = "replies", [STORE_INTENTS] = "intents",
	[STORE_TOMBS] = "tombs",     [STORE_LOCKS] = "locks",
	[STORE_LOCKERS] = "lockers",
};

const char *store_table_name(enum store_table table)
{
	return table_name[table];
}

/* Berkeley DB repeats this message in every call after a failure. */
#define ECHO "BDB0060 "

static bool tells_of_space(const char *msg)
{
	return strstr(msg, strerror(ENOSPC)) || strstr(msg, strerror(EDQUOT));
}

static void on_message(const DB_ENV *env, const char *prefix, const char *msg)
{
	struct store *st = env->app_private;

	if (tells_of_space(msg))
		atomic_store(&st->was_full, true);
	if (st->closing || !strncmp(msg, ECHO, strlen(ECHO)))
		return;
	if (store_may_say(st))
		log_error(st->log, "database %s: %s", st->home, msg);
}

/* A failed write needs nothing here: its caller gets the error and retries. */
static void on_event(DB_ENV *env, u_int32_t event, void *info)
{
	struct store *st = env->app_private;

	if (event == DB_EVENT_PANIC)
		atomic_store(&st->failed, true);
}

static int env_configure(struct store *st, uint64_t cache)
{
	DB_ENV *env = st->env;
	int ret;

	env->app_private = st;
	env->set_errcall(env, on_message);
	if ((ret = env->set_event_notify(env, on_event)))
		return ret;
	ret = env->set_cachesize(env, (u_int32_t)(cache >> 30),
				 (u_int32_t)(cache & ((1u << 30) - 1)), 1);
	if (ret)
		return ret;
	if ((ret = env->set_lg_bsize(env, STORE_LOG_BUFFER)))
		return ret;
	if ((ret = env->set_lg_max(env, STORE_LOG_FILE)))
		return ret;
	/* a flush then overwrites blocks and does not change the size of the file */
	return env->log_set_config(env, DB_LOG_ZERO, 1);
}

static int table_open(struct store *st, enum store_table table, bool make)
{
	u_int32_t flags = (make ? DB_CREATE : 0) | DB_AUTO_COMMIT | DB_THREAD;
	DB *db;
	int ret;

	if ((ret = db_create(&db, st->env, 0)))
		return ret;
	st->db[table] = db;
	/* one page is one block of the file system, so its writes are atomic */
	if ((ret = db->set_pagesize(db, STORE_PAGE)))
		return ret;
	if ((ret = db->set_flags(db, DB_CHKSUM)))
		return ret;
	return db->open(db, NULL, table_name[table], NULL, DB_BTREE, flags,
			0600);
}

/* Reads the first and the last row, and the pages on the path to them. */
static int table_check(struct store *st, enum store_table table)
{
	uint8_t last[STORE_KEY_MAX];
	struct store_iter it;
	int rc;

	memset(last, 0xff, sizeof(last));
	rc = edges_check(st, table);
	if (!rc)
		rc = store_iter_open(st, table, "", 0, &it);
	if (rc)
		return rc;
	rc = store_iter_next(&it);
	if (!rc)
		rc = store_iter_floor(&it, last, sizeof(last));
	store_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

static bool has_inodes(struct store *st)
{
	struct store_iter it;

	return store_first(st, STORE_INODES, "", 0, &it) != -ENOENT;
}

static int lost(struct store *st, const char *table)
{
	log_error(st->log,
		  "database %s has no table %s: the file was removed; restore "
		  "the folder from a backup",
		  st->home, table);
	atomic_store(&st->failed, true);
	return ENOENT;
}

/* The format is written once all tables exist.  After that no table may be created. */
static int tables_open(struct store *st)
{
	uint64_t format;
	int ret, t;
	bool made;

	ret = table_open(st, STORE_META, true);
	if (ret)
		return ret;
	made = meta_get_u64(st, "format", &format) == -ENOENT;
	for (t = STORE_META + 1; !ret && t < STORE_TABLES; t++)
		ret = table_open(st, t, made);
	if (ret == ENOENT)
		return lost(st, table_name[t - 1]);
	if (!ret && made && has_inodes(st))
		return lost(st, table_name[STORE_META]);
	return ret;
}

/* table: NULL if it is not known. */
static void say_damaged(struct store *st, const char *table)
{
	log_error(st->log,
		  "database %s: %s%s is damaged, or not of one copy with the "
		  "other files: restore the folder from a backup",
		  st->home, table ? "its table " : "a file of it",
		  table ? table : "");
}

#define MIB (UINT64_C(1) << 20)
#define START_NEEDS (64 * MIB) /* log files, pages, and a margin */

static int say_full(struct store *st)
{
	uint64_t left = 0;

	room_left(st, &left);
	if (left > START_NEEDS)
		left = START_NEEDS;
	log_error(st->log,
		  "database %s: its disk is too full to recover it: free %llu "
		  "MiB there and start again; nothing is lost",
		  st->home, (unsigned long long)((START_NEEDS - left) / MIB));
	return -ENOSPC;
}

static int tables_check(struct store *st)
{
	for (enum store_table t = 0; t < STORE_TABLES; t++) {
		int rc = table_check(st, t);

		if (rc && atomic_load(&st->was_full))
			return say_full(st);
		if (rc) {
			say_damaged(st, table_name[t]);
			return rc;
		}
	}
	return 0;
}

static int make_home(struct store *st, const char *dir)
{
	if (asprintf(&st->home, "%s/db", dir) < 0) {
		st->home = NULL;
		return -ENOMEM;
	}
	if (!mkdir(st->home, 0700) || errno == EEXIST)
		return 0;
	log_error(st->log, "cannot make %s: %s", st->home, strerror(errno));
	return -errno;
}

static int opened(struct store *st, int ret)
{
	int rc = store_error(st, ret, "open");

	if (ret && atomic_load(&st->was_full))
		return say_full(st);
	/* Berkeley DB has logged any other cause */
	if (ret < 0 || ret == EINVAL)
		say_damaged(st, NULL);
	return rc;
}

static int prepare(struct store *st, const char *dir)
{
	int rc = make_home(st, dir);

	if (!rc)
		rc = log_end_check(st);
	if (!rc)
		rc = logs_prepare(st);
	return rc == -ENOSPC ? say_full(st) : rc;
}

int env_recover(struct store *st, const struct store_attr *attr)
{
	int rc, ret;

	rc = prepare(st, attr->dir);
	if (rc)
		return rc;
	ret = db_env_create(&st->env, 0);
	if (ret)
		return store_error(st, ret, "create");
	ret = env_configure(st, attr->cache_size);
	if (!ret)
		ret = st->env->open(st->env, st->home,
				    DB_CREATE | DB_INIT_TXN | DB_INIT_LOG |
					    DB_INIT_MPOOL | DB_PRIVATE |
					    DB_THREAD | DB_RECOVER,
				    0600);
	if (!ret)
		logs_begin(st);
	return opened(st, ret);
}

int env_open(struct store *st, const struct store_attr *attr)
{
	int rc = env_recover(st, attr);

	if (!rc)
		rc = opened(st, tables_open(st));
	if (!rc)
		rc = tables_check(st);
	return rc ? rc : slack_open(st);
}

void env_close(struct store *st)
{
	st->closing = store_failed(st);
	for (int t = 0; t < STORE_TABLES; t++)
		if (st->db[t])
			st->db[t]->close(st->db[t], DB_NOSYNC);
	if (st->env)
		st->env->close(st->env, 0);
	slack_close(st);
	log_end_close(st);
	pthread_mutex_destroy(&st->log_end.lock);
	pthread_mutex_destroy(&st->logs_lock);
	free(st->home);
}
