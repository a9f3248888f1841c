/* SPDX-License-Identifier: BSD-2-Clause */
/* table_pages.c - checks the pages of a table in its file, without an environment. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/db/db_int.h"

#define FINDINGS_MAX 10u /* lines about one table */

/* ---- all pages ---- */

struct verify_findings {
	const struct log *log;
	const char *table;
	unsigned int count;
};

static void on_finding(const DB_ENV *env, const char *prefix, const char *msg)
{
	struct verify_findings *l = env->app_private;

	if (l->count++ < FINDINGS_MAX)
		log_error(l->log, "table %s: %s", l->table, msg);
}

/* DB->verify() frees the handle, whatever it returns. */
static int verify_file(struct verify_findings *l, const char *path,
		       uint64_t cache)
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

int table_pages_check(const struct store_attr *attr, const char *table)
{
	struct verify_findings l = { attr->log, table, 0 };
	char *path;
	int ret;

	if (asprintf(&path, "%s/db/%s", attr->dir, l.table) < 0)
		return -ENOMEM;
	ret = verify_file(&l, path, attr->cache_size);
	if (ret == ENOENT)
		log_error(attr->log, "table %s: the file %s is gone", l.table,
			  path);
	else if (ret)
		log_error(attr->log, "table %s is damaged: %s (%u findings)",
			  l.table, db_strerror(ret), l.count);
	else
		log_info(attr->log, "table %s is whole", l.table);
	free(path);
	return ret ? -EIO : 0;
}

/* ---- pages of zeros ---- */

#define PAGES_AT_ONCE 256u
#define LAST_PAGE_AT                                                           \
	32u /* in the first page: the number of the last one, 4 bytes */

static bool page_is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, STORE_PAGE - 1);
}

/* 1: a page up to the last used one has only zeros; 0: none has; or -errno. */
static int find_zero_page(FILE *f, uint8_t *buf)
{
	uint64_t page = 0, end = 1;
	size_t n;

	while (page < end && (n = fread(buf, STORE_PAGE, PAGES_AT_ONCE, f))) {
		uint32_t last;

		if (!page) {
			memcpy(&last, buf + LAST_PAGE_AT, sizeof(last));
			end = (uint64_t)last + 1;
		}
		for (size_t i = 0; i < n && page < end; i++, page++)
			if (page_is_zero(buf + i * STORE_PAGE))
				return 1;
	}
	return ferror(f) ? -EIO : 0;
}

static int has_zero_page(const struct store_attr *attr, const char *table)
{
	uint8_t *buf = malloc(PAGES_AT_ONCE * STORE_PAGE);
	char *path = NULL;
	int rc = -ENOMEM;
	FILE *f;

	if (buf && asprintf(&path, "%s/db/%s", attr->dir, table) >= 0) {
		f = fopen(path, "re");
		rc = f ? find_zero_page(f, buf) : -errno;
		if (f)
			fclose(f);
		free(path);
	}
	free(buf);
	return rc == -ENOENT ? 0 : rc; /* made or missed when it is opened */
}

int table_pages_check_zeros(const struct store_attr *attr, const char *table)
{
	int rc = has_zero_page(attr, table);

	return rc == 1 ? table_pages_check(attr, table) : rc;
}
