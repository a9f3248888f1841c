/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * undo.c - undo rows: change, number of the row -> rows as they were before the change.  A
 * transaction writes them with its changes, and they are deleted in the transaction that records
 * the change as applied.  So at each point of Berkeley DB's log, the tables without the changes
 * that have undo rows are what is recorded as applied.
 *
 * An undo row is small, because Berkeley DB stores an item of more than a quarter of a page apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/db/replication_int.h"

#define UNDO_ROW 960u /* bytes; one old row may be larger */
#define UNDO_ROW_MAX (STORE_KEY_MAX + STORE_VAL_MAX + 64)
#define IMAGES_MAX (UNDO_ROW / 9 + 1) /* a row has at least 9 bytes */
#define UNDO_AT_ONCE 256u /* undo rows in one transaction */

static void undo_key(uint64_t change, uint32_t n, uint8_t key[UNDO_KEY])
{
	uint8_t *p = key_u64(key, change);

	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> (24 - 8 * i));
}

/* Returns the end of the rows that go into one undo row. */
static const uint8_t *undo_row_end(const uint8_t *from, const uint8_t *end)
{
	const uint8_t *at = from, *last = from;
	struct row_image row;

	while (row_next(&at, end, &row) == 1 &&
	       (last == from || at - from <= UNDO_ROW))
		last = at;
	return last;
}

int undo_put(struct store *st, uint64_t change, const struct row_list *before)
{
	const uint8_t *at = before->bytes, *end = at + before->len, *next;
	uint8_t key[UNDO_KEY];
	uint32_t n = 0;
	int rc = 0;

	for (; !rc && at < end; at = next) {
		next = undo_row_end(at, end);
		if (next == at)
			return -EBADMSG;
		undo_key(change, n++, key);
		rc = raw_put(st, TABLE_MEMBER, key, sizeof(key), at,
			     (size_t)(next - at), 0);
	}
	return rc;
}

/* ---- committed changes ---- */

/* Moves to the first undo row (DB_SET_RANGE) or the next one. */
static int undo_key_next(DBC *cursor, uint8_t key[UNDO_KEY], u_int32_t how)
{
	DBT k = dbt_out(key, UNDO_KEY);
	DBT v = { .flags = DB_DBT_USERMEM | DB_DBT_PARTIAL };

	k.size = UNDO_KEY;
	return cursor->get(cursor, &k, &v, how);
}

static int forget_up_to(DBC *cursor, uint64_t change)
{
	uint8_t key[UNDO_KEY];
	int ret;

	undo_key(1, 0, key);
	ret = undo_key_next(cursor, key, DB_SET_RANGE);
	while (!ret && key_get_u64(key) <= change) {
		ret = cursor->del(cursor, 0);
		if (!ret)
			ret = undo_key_next(cursor, key, DB_NEXT);
	}
	return ret == DB_NOTFOUND ? 0 : ret;
}

static int member_cursor(struct store *st, DBC **cursor)
{
	DB *db = st->db[TABLE_MEMBER];

	return store_error(st, db->cursor(db, st->txn, cursor, 0), "cursor");
}

int undo_forget(struct store *st, uint64_t change)
{
	DBC *cursor;
	int rc = member_cursor(st, &cursor), closed;

	if (rc)
		return rc;
	st->changed = true;
	rc = store_error(st, forget_up_to(cursor, change), "delete undo rows");
	closed = store_error(st, cursor->close(cursor), "close cursor");
	return rc ? rc : closed;
}

/* ---- changes that are not committed ---- */

static int report_damaged_undo(struct store *st)
{
	log_error(st->log,
		  "database %s: an undo row is damaged: let another manager "
		  "fill this one",
		  st->home);
	atomic_store(&st->failed, true);
	return -EIO;
}

static int restore_row(struct store *st, const struct row_image *row)
{
	return row->exists ? raw_put(st, row->table, row->key, row->klen,
				     row->val, row->len, 0)
			   : raw_del(st, row->table, row->key, row->klen);
}

/* The last image first: a row may have been changed more than once. */
static int restore_images(struct store *st, const uint8_t *bytes, size_t len)
{
	struct row_image image[IMAGES_MAX];
	const uint8_t *at = bytes;
	unsigned int n = 0;
	int rc = 0;

	while (n < IMAGES_MAX &&
	       (rc = row_next(&at, bytes + len, &image[n])) == 1)
		n++;
	if (rc)
		return report_damaged_undo(st);
	while (!rc && n--)
		rc = restore_row(st, &image[n]);
	return rc == -ENOENT ? report_damaged_undo(st) : rc;
}

/* -ENOENT: there are no more undo rows. */
static int undo_one(struct store *st, DBC *cursor, uint8_t *bytes)
{
	uint8_t key[UNDO_KEY];
	DBT k = dbt_out(key, sizeof(key));
	DBT v = dbt_out(bytes, UNDO_ROW_MAX);
	int rc = store_error(st, cursor->get(cursor, &k, &v, DB_LAST), "walk");

	if (rc)
		return rc;
	if (k.size != UNDO_KEY)
		return -ENOENT;
	rc = restore_images(st, bytes, v.size);
	return rc ? rc : store_error(st, cursor->del(cursor, 0), "delete");
}

/* In a transaction.  *done: no undo row is left. */
static int undo_some(struct store *st, uint8_t *bytes, bool *done)
{
	DBC *cursor;
	int rc = member_cursor(st, &cursor), closed;

	if (rc)
		return rc;
	st->changed = true;
	for (unsigned int i = 0; !rc && i < UNDO_AT_ONCE; i++)
		rc = undo_one(st, cursor, bytes);
	closed = store_error(st, cursor->close(cursor), "close cursor");
	*done = rc == -ENOENT;
	return rc && rc != -ENOENT ? rc : closed;
}

int undo_all(struct store *st)
{
	uint8_t *bytes = malloc(UNDO_ROW_MAX);
	bool done = false;
	int rc = bytes ? 0 : -ENOMEM;

	while (!rc && !done) {
		rc = raw_begin(st);
		if (!rc)
			rc = raw_end(st, undo_some(st, bytes, &done));
	}
	free(bytes);
	return rc;
}
