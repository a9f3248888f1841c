/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - looks at every page of the tables, while nobody serves from them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db_int.h"

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

/* DB->verify() takes the handle away whatever it answers. */
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
		log_error(attr->log, "cannot check data base %s: %s", path,
			  strerror(-rc));
	}
	free(path);
	return rc;
}

/* Rows are not looked for: Berkeley DB may not come back from a damaged page. */
static int bring_up(const struct store_attr *attr)
{
	struct store *st = calloc(1, sizeof(*st));
	int rc;

	if (!st)
		return -ENOMEM;
	st->log = attr->log;
	store_init(st);
	rc = env_recover(st, attr);
	env_close(st);
	free(st);
	return rc;
}

int store_check(const struct store_attr *attr)
{
	int rc = check_there(attr);

	if (rc)
		return rc;
	rc = bring_up(attr);
	if (rc == -ENOSPC)
		return rc;
	for (enum store_table t = 0; t < STORE_TABLES; t++) {
		int one = check_table(attr, t);

		rc = rc ? rc : one;
	}
	return rc;
}
