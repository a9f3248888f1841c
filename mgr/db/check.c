/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.c - checks that the pages of the tables exist: all of them, or those that a
 * start needs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/db/db_int.h"

#define SAID_MAX 10u /* lines about one table */

struct looker {
	const struct log *log;
	const char *table;
	unsigned int said;
};

static void on_finding(const DB_ENV *env, const char *prefix, const char *msg)
{
	struct looker *l = env->app_private;

	if (l->said++ < SAID_MAX)
		log_error(l->log, "table %s: %s", l->table, msg);
}

/* DB->verify() frees the handle, whatever it returns. */
static int verify(struct looker *l, const char *path, uint64_t cache)
{
	DB *db;
	int ret;

	ret = db_create(&db, NULL, 0);
	if (ret)
		return ret;
	db->get_env(db)->app_private = l;
	db->set_errcall(db, on_finding);
	ret = db->set_cachesize(db, (u_int32_t)(cache >> 30),
				(u_int32_t)(cache & ((1u << 30) - 1)), 1);
	if (!ret)
		return db->verify(db, path, NULL, NULL, 0);
	db->close(db, 0);
	return ret;
}

static int check_table(const struct store_attr *attr, enum store_table t)
{
	struct looker l = { attr->log, store_table_name(t), 0 };
	char *path;
	int ret;

	if (asprintf(&path, "%s/db/%s", attr->dir, l.table) < 0)
		return -ENOMEM;
	ret = verify(&l, path, attr->cache_size);
	if (ret == ENOENT)
		log_error(attr->log, "table %s: the file %s is gone", l.table,
			  path);
	else if (ret)
		log_error(attr->log, "table %s is damaged: %s (%u findings)",
			  l.table, db_strerror(ret), l.said);
	else
		log_info(attr->log, "table %s is whole", l.table);
	free(path);
	return ret ? -EIO : 0;
}

static int check_there(const struct store_attr *attr)
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
	int rc = env_open(st, attr), locks;

	if (rc)
		return rc;
	locks = locks_check(st);
	rc = log_end_find(st);
	return rc ? rc : locks;
}

static int with_store(const struct store_attr *attr,
		      int (*fn)(struct store *, const struct store_attr *))
{
	struct store *st = calloc(1, sizeof(*st));
	int rc;

	if (!st)
		return -ENOMEM;
	st->log = attr->log;
	store_init(st);
	rc = fn(st, attr);
	env_close(st);
	free(st);
	return rc;
}

int store_check(const struct store_attr *attr)
{
	int rc = check_there(attr);

	if (rc)
		return rc;
	/* no rows yet: on a damaged page, Berkeley DB may never return */
	rc = with_store(attr, env_recover);
	if (rc == -ENOSPC || rc == -EBADMSG)
		return rc;
	for (enum store_table t = 0; t < STORE_TABLES; t++) {
		int one = check_table(attr, t);

		rc = rc ? rc : one;
	}
	return rc ? rc : with_store(attr, check_rows);
}

/*
 * Edges: checks the pages on the path to the first and to the last row of a table.
 * Berkeley DB takes a page of zeros for a page that was never written.  A root of zeros
 * looks like a table without rows; for any other page of zeros it searches without end.
 *
 * A page begins with a header of 26 bytes, whose last byte is the type of the page, and
 * a checksum.  The offsets of its entries follow, 2 bytes each.  An entry of an inner
 * page has the number of its child from its fifth byte on.
 */

#define ROOT 1u /* the number of the root, at any size of the table */
#define ENTRIES_AT 20u
#define TYPE_AT 25u
#define PLACES_AT 32u
#define CHILD_AT 4u
#define INNER 3u
#define LEAF 5u
#define LEVELS_MAX 16u

/* 1: *number is the child page; 0: the page is a leaf; -EIO: it is neither. */
static int below(const uint8_t *page, bool last, db_pgno_t *number)
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
	more = below(page, last, number);
	rc = store_error(st, pages->put(pages, page, DB_PRIORITY_UNCHANGED, 0),
			 "read a page");
	return rc ? rc : more;
}

static int edge_check(struct store *st, DB_MPOOLFILE *pages, bool last)
{
	db_pgno_t number = ROOT;
	unsigned int level = 0;
	int rc = 1;

	while (rc > 0 && level++ < LEVELS_MAX)
		rc = step_down(st, pages, last, &number);
	return rc > 0 ? -EIO : rc;
}

int edges_check(struct store *st, enum store_table table)
{
	DB_MPOOLFILE *pages = st->db[table]->get_mpf(st->db[table]);
	int rc = edge_check(st, pages, false);

	if (!rc)
		rc = edge_check(st, pages, true);
	if (rc)
		atomic_store(&st->failed, true);
	return rc;
}
