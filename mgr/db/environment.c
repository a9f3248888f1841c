/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * environment.c - the Berkeley DB environment and its tables.  The environment is private to the
 * process: it has no region files, and each start recovers from the log alone.  One thread
 * updates, so there is no lock subsystem.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "mgr/db/replication_int.h"

/* ---- open and close ---- */

static const char *const table_name[STORE_FILES] = {
	[STORE_META] = "meta",
	[STORE_INODES] = "inodes",
	[STORE_DIRENTS] = "dirents",
	[STORE_SYMLINKS] = "symlinks",
	[STORE_OPENS] = "opens",
	[STORE_SESSIONS] = "sessions",
	[STORE_REPLIES] = "replies",
	[STORE_INTENTS] = "intents",
	[STORE_ENDED_SESSIONS] = "tombs",
	[STORE_LOCKS] = "locks",
	[STORE_LOCKERS] = "lockers",
	[TABLE_MEMBER] = "member",
};

const char *store_table_name(enum store_table table)
{
	return table_name[table];
}

/* Berkeley DB repeats this message in every call after a failure. */
#define REPEATED_MESSAGE "BDB0060 "

static bool is_about_space(const char *msg)
{
	return strstr(msg, strerror(ENOSPC)) || strstr(msg, strerror(EDQUOT));
}

static void on_message(const DB_ENV *env, const char *prefix, const char *msg)
{
	struct store *st = env->app_private;

	if (is_about_space(msg))
		atomic_store(&st->was_full, true);
	if (st->closing || atomic_load(&st->copy_refused) ||
	    !strncmp(msg, REPEATED_MESSAGE, strlen(REPEATED_MESSAGE)))
		return;
	if (store_may_log(st))
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

/*
 * Edges: checks the pages on the path to the first and to the last row of a table.
 *
 * A page begins with a header of 26 bytes, whose last byte is the type of the page, and
 * a checksum.  The offsets of its entries follow, 2 bytes each.  An entry of an inner
 * page has the number of its child from its fifth byte on.
 */

#define PAGE_ROOT 1u /* the number of the root, at any size of the table */
#define ENTRIES_AT 20u
#define TYPE_AT 25u
#define PLACES_AT 32u
#define CHILD_AT 4u
#define INNER 3u
#define LEAF 5u
#define LEVELS_MAX 16u

/* 1: *number is the child page; 0: the page is a leaf; -EIO: it is neither. */
static int page_child(const uint8_t *page, bool last, db_pgno_t *number)
{
	uint16_t entries, at;

	if (page[TYPE_AT] == LEAF)
		return 0;
	memcpy(&entries, page + ENTRIES_AT, sizeof(entries));
	if (page[TYPE_AT] != INNER || !entries ||
	    PLACES_AT + 2u * entries > STORE_PAGE)
		return -EIO;
	memcpy(&at, page + PLACES_AT + (last ? 2u * (entries - 1u) : 0),
	       sizeof(at));
	if (at + CHILD_AT + sizeof(*number) > STORE_PAGE)
		return -EIO;
	memcpy(number, page + at + CHILD_AT, sizeof(*number));
	return 1;
}

static int step_down(struct store *st, DB_MPOOLFILE *pages, bool last,
		     db_pgno_t *number)
{
	void *page;
	int more, rc;

	rc = store_error(st, pages->get(pages, number, NULL, 0, &page),
			 "read a page");
	if (rc)
		return rc;
	more = page_child(page, last, number);
	rc = store_error(st, pages->put(pages, page, DB_PRIORITY_UNCHANGED, 0),
			 "read a page");
	return rc ? rc : more;
}

static int edge_check(struct store *st, DB_MPOOLFILE *pages, bool last)
{
	db_pgno_t number = PAGE_ROOT;
	unsigned int level = 0;
	int rc = 1;

	while (rc > 0 && level++ < LEVELS_MAX)
		rc = step_down(st, pages, last, &number);
	return rc > 0 ? -EIO : rc;
}

static int table_check_edges(struct store *st, enum store_table table)
{
	DB_MPOOLFILE *pages = st->db[table]->get_mpf(st->db[table]);
	int rc = edge_check(st, pages, false);

	if (!rc)
		rc = edge_check(st, pages, true);
	if (rc)
		atomic_store(&st->failed, true);
	return rc;
}

/* Reads the first and the last row, and the pages on the path to them. */
static int table_check(struct store *st, enum store_table table)
{
	uint8_t last[STORE_KEY_MAX];
	struct store_cursor it;
	int rc;

	memset(last, 0xff, sizeof(last));
	rc = table_check_edges(st, table);
	if (rc || table == TABLE_MEMBER)
		return rc; /* undo_all() reads its rows */
	rc = store_cursor_open(st, table, "", 0, &it);
	if (rc)
		return rc;
	rc = store_cursor_next(&it);
	if (!rc)
		rc = store_cursor_floor(&it, last, sizeof(last));
	store_cursor_close(&it);
	return rc == -ENOENT ? 0 : rc;
}

static bool has_inodes(struct store *st)
{
	struct store_cursor it;

	return store_get_first(st, STORE_INODES, "", 0, &it) != -ENOENT;
}

static int report_lost_table(struct store *st, const char *table)
{
	log_error(st->log,
		  "database %s has no table %s: the file was removed; restore "
		  "the folder from a backup",
		  st->home, table);
	atomic_store(&st->failed, true);
	return ENOENT;
}

/* A store without the mark has nothing in this table. */
static int member_table_open(struct store *st)
{
	bool marked;
	int ret;

	if (group_mark_get(st, &marked))
		return EIO;
	if (!marked && !st->rep)
		return 0;
	ret = table_open(st, TABLE_MEMBER, !marked);
	st->files = STORE_FILES;
	return ret == ENOENT ? report_lost_table(st, table_name[TABLE_MEMBER])
			     : ret;
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
		return report_lost_table(st, table_name[t - 1]);
	if (!ret && made && has_inodes(st))
		return report_lost_table(st, table_name[STORE_META]);
	return ret ? ret : member_table_open(st);
}

/* table: NULL if it is not known. */
static void report_damaged(struct store *st, const char *table)
{
	log_error(st->log,
		  "database %s: %s%s is damaged, or not of one copy with the "
		  "other files: restore the folder from a backup",
		  st->home, table ? "its table " : "a file of it",
		  table ? table : "");
}

#define MIB (UINT64_C(1) << 20)
#define START_NEEDS (64 * MIB) /* log files, pages, and a margin */

static int report_full(struct store *st)
{
	uint64_t left = 0;

	store_free_bytes(st, &left);
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
	for (enum store_table t = 0; t < st->files; t++) {
		int rc = table_check(st, t);

		if (rc && atomic_load(&st->was_full))
			return report_full(st);
		if (rc) {
			report_damaged(st, table_name[t]);
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

static int report_open(struct store *st, int ret)
{
	int rc = store_error(st, ret, "open");

	if (ret && atomic_load(&st->was_full))
		return report_full(st);
	/* Berkeley DB has logged any other cause */
	if (ret < 0 || ret == EINVAL)
		report_damaged(st, NULL);
	return rc;
}

static int prepare_home(struct store *st, const char *dir)
{
	int rc = make_home(st, dir);

	if (!rc)
		rc = log_end_check(st);
	if (!rc)
		rc = log_files_prepare(st);
	return rc == -ENOSPC ? report_full(st) : rc;
}

int environment_recover(struct store *st, const struct store_attr *attr)
{
	int rc, ret;

	rc = prepare_home(st, attr->dir);
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
		log_files_begin(st);
	return report_open(st, ret);
}

/* Recovery has written all pages. */
static int zeros_check(struct store *st, const struct store_attr *attr)
{
	for (enum store_table t = 0; t < STORE_FILES; t++) {
		int rc = table_pages_check_zeros(attr, table_name[t]);

		if (rc == -EIO)
			report_damaged(st, table_name[t]);
		else if (rc)
			log_error(st->log,
				  "database %s: cannot check its table %s: %s",
				  st->home, table_name[t], strerror(-rc));
		if (rc)
			return rc;
	}
	return 0;
}

int environment_open(struct store *st, const struct store_attr *attr)
{
	int rc = environment_recover(st, attr);

	if (!rc)
		rc = zeros_check(st, attr);
	if (!rc)
		rc = report_open(st, tables_open(st));
	if (!rc)
		rc = tables_check(st);
	return rc ? rc : table_space_open(st);
}

void environment_close(struct store *st)
{
	st->closing = store_failed(st);
	for (int t = 0; t < STORE_FILES; t++)
		if (st->db[t])
			st->db[t]->close(st->db[t], DB_NOSYNC);
	if (st->env)
		st->env->close(st->env, 0);
	table_space_close(st);
	log_end_close(st);
	replication_free(st->rep);
	pthread_mutex_destroy(&st->checkpoint_lock);
	pthread_mutex_destroy(&st->log_end.lock);
	pthread_mutex_destroy(&st->log_files_lock);
	free(st->home);
}

/* ---- counters ---- */

#define MEGABYTE (UINT64_C(1) << 20)

/* memp_stat() walks the whole cache, so it gets at most a thousandth of the time. */
#define CACHE_READ_PAUSE 1000u

static uint64_t bytes_of(uint64_t mbytes, uint64_t bytes)
{
	return mbytes * MEGABYTE + bytes;
}

static void copy_cache_counts(const DB_MPOOL_STAT *s, struct store_counts *c)
{
	c->cache_bytes = (uint64_t)s->st_gbytes << 30 | s->st_bytes;
	c->pages = s->st_pages;
	c->dirty = s->st_page_dirty;
	c->hits = s->st_cache_hit;
	c->misses = s->st_cache_miss;
	c->written = s->st_page_out;
	c->evicted = s->st_ro_evict + s->st_rw_evict;
}

static int read_cache_counts(struct store *st, struct store_counts *c)
{
	uint64_t start = clock_now();
	DB_MPOOL_STAT *s;
	int rc;

	if (start < st->cache_read_next)
		return 0;
	rc = store_error(st, st->env->memp_stat(st->env, &s, NULL, 0), "cache");
	if (rc)
		return rc;
	copy_cache_counts(s, c);
	free(s);
	st->cache_read_next = clock_now() +
			      CACHE_READ_PAUSE * (clock_now() - start);
	return 0;
}

static int read_log_counts(struct store *st, struct store_counts *c)
{
	DB_LOG_STAT *s;
	int rc = store_error(st, st->env->log_stat(st->env, &s, 0), "log");

	if (rc)
		return rc;
	c->log_bytes = bytes_of(s->st_w_mbytes, s->st_w_bytes);
	c->log_since = bytes_of(s->st_wc_mbytes, s->st_wc_bytes);
	c->log_flushes = s->st_scount;
	free(s);
	return 0;
}

static int read_txn_counts(struct store *st, struct store_counts *c)
{
	DB_TXN_STAT *s;
	int rc = store_error(st, st->env->txn_stat(st->env, &s, 0), "txn");

	if (rc)
		return rc;
	c->commits = s->st_ncommits;
	c->aborts = s->st_naborts;
	free(s);
	return 0;
}

int store_get_counts(struct store *st, struct store_counts *counts)
{
	int rc = store_failed(st) ? -EIO : read_cache_counts(st, &st->counts);

	if (!rc)
		rc = read_log_counts(st, &st->counts);
	if (!rc)
		rc = read_txn_counts(st, &st->counts);
	if (!rc)
		*counts = st->counts;
	return rc;
}
