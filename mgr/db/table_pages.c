/* SPDX-License-Identifier: BSD-2-Clause */
/* table_pages.c - checks the pages of a table in its file, without an environment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Reads until the buffer is full or the file ends.  Returns the number of bytes, or -errno. */
static ssize_t read_full(int fd, uint8_t *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static bool page_is_zero(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, STORE_PAGE - 1);
}

/* 1: a page up to the last used one has only zeros; 0: none has; or -errno. */
static int find_zero_page(int fd, uint8_t *buf)
{
	uint64_t page = 0, end = 1;
	uint32_t last;

	for (;;) {
		ssize_t n = read_full(fd, buf, PAGES_AT_ONCE * STORE_PAGE);

		if (n < 0)
			return (int)n;
		if (!page && n >= STORE_PAGE) {
			memcpy(&last, buf + LAST_PAGE_AT, sizeof(last));
			end = (uint64_t)last + 1;
		}
		for (ssize_t at = 0; at + STORE_PAGE <= n && page < end;
		     at += STORE_PAGE, page++)
			if (page_is_zero(buf + at))
				return 1;
		if (n < (ssize_t)(PAGES_AT_ONCE * STORE_PAGE) || page == end)
			return 0;
	}
}

static int has_zero_page(const struct store_attr *attr, const char *table)
{
	uint8_t *buf = malloc(PAGES_AT_ONCE * STORE_PAGE);
	char *path;
	int fd, rc;

	if (!buf || asprintf(&path, "%s/db/%s", attr->dir, table) < 0) {
		free(buf);
		return -ENOMEM;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? -errno : find_zero_page(fd, buf);
	if (fd >= 0)
		close(fd);
	free(path);
	free(buf);
	return rc == -ENOENT ? 0 : rc; /* made or missed when it is opened */
}

int table_pages_check_zeros(const struct store_attr *attr, const char *table)
{
	int rc = has_zero_page(attr, table);

	return rc == 1 ? table_pages_check(attr, table) : rc;
}
