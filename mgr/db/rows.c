/* SPDX-License-Identifier: BSD-2-Clause */
/* rows.c - rows of a table in a write set, cursors, and named values. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/replication_int.h"

uint64_t store_rows_accessed(const struct store *st)
{
	return st->work;
}

int store_get(struct store *st, enum store_table table, const void *key,
	      size_t klen, void *val, size_t cap, size_t *len)
{
	return raw_get(st, table, key, klen, val, cap, len);
}

/* ---- changes: the row before, and the write set ---- */

static int note_row_before(struct store *st, const struct row_image *row,
			   bool is_new)
{
	struct row_changes *c = &st->rep->changes;
	uint8_t val[STORE_VAL_MAX];
	struct row_image before = *row;
	int rc = -ENOENT;

	before.val = val;
	before.len = 0;
	if (!is_new)
		rc = raw_get(st, row->table, row->key, row->klen, val,
			     sizeof(val), &before.len);
	before.exists = !rc;
	if (!rc || rc == -ENOENT)
		rc = row_list_add(&c->before, &before);
	if (rc)
		c->error = rc;
	return rc;
}

static int note_row_after(struct store *st, const struct row_image *row)
{
	struct row_changes *c = &st->rep->changes;
	int rc = row_list_add(&c->after, row);

	if (!rc && c->after.len > ENTRY_ROWS_MAX)
		rc = -E2BIG;
	if (rc)
		c->error = rc;
	return rc;
}

static int row_write(struct store *st, const struct row_image *row,
		     u_int32_t flags)
{
	return row->exists ? raw_put(st, row->table, row->key, row->klen,
				     row->val, row->len, flags)
			   : raw_del(st, row->table, row->key, row->klen);
}

static int row_change(struct store *st, const struct row_image *row,
		      u_int32_t flags)
{
	struct row_list before;
	int rc;

	if (!st->rep)
		return row_write(st, row, flags);
	before = st->rep->changes.before;
	rc = note_row_before(st, row, flags & DB_NOOVERWRITE);
	if (rc)
		return rc;
	rc = row_write(st, row, flags);
	if (!rc)
		return note_row_after(st, row);
	st->rep->changes.before.len = before.len;
	st->rep->changes.before.rows = before.rows;
	return rc;
}

int store_put(struct store *st, enum store_table table, const void *key,
	      size_t klen, const void *val, size_t len)
{
	const struct row_image row = { table, true, key, klen, val, len };

	return row_change(st, &row, 0);
}

int store_insert(struct store *st, enum store_table table, const void *key,
		 size_t klen, const void *val, size_t len)
{
	const struct row_image row = { table, true, key, klen, val, len };

	return row_change(st, &row, DB_NOOVERWRITE);
}

int store_del(struct store *st, enum store_table table, const void *key,
	      size_t klen)
{
	const struct row_image row = { table, false, key, klen, NULL, 0 };

	return row_change(st, &row, 0);
}

/* ---- cursors ---- */

int store_cursor_open(struct store *st, enum store_table table,
		      const void *from, size_t flen, struct store_cursor *it)
{
	DB *db = st->db[table];
	DBC *cursor;
	int rc;

	rc = store_error(st, db->cursor(db, st->txn, &cursor, 0), "cursor");
	if (rc)
		return rc;
	it->st = st;
	it->cursor = cursor;
	store_cursor_seek(it, from, flen);
	return 0;
}

void store_cursor_seek(struct store_cursor *it, const void *from, size_t flen)
{
	assert(flen <= sizeof(it->key));
	it->started = 0;
	it->klen = flen;
	memcpy(it->key, from, flen);
}

/* `how` is a flag of DBC->get().  The row goes to it->key and it->val. */
static int cursor_move(struct store_cursor *it, u_int32_t how)
{
	DBC *cursor = it->cursor;
	DBT k = dbt_out(it->key, sizeof(it->key));
	DBT v = dbt_out(it->val, sizeof(it->val));
	int ret;

	k.size = (u_int32_t)it->klen;
	it->st->work++;
	ret = cursor->get(cursor, &k, &v, how);
	if (ret)
		return ret;
	it->started = 1;
	it->klen = k.size;
	it->len = v.size;
	return 0;
}

int store_cursor_next(struct store_cursor *it)
{
	return store_error(
		it->st, cursor_move(it, it->started ? DB_NEXT : DB_SET_RANGE),
		"walk");
}

int store_cursor_floor(struct store_cursor *it, const void *key, size_t klen)
{
	int ret;

	store_cursor_seek(it, key, klen);
	ret = cursor_move(it, DB_SET_RANGE);
	if (ret == DB_NOTFOUND)
		ret = cursor_move(it, DB_LAST);
	else if (!ret && (it->klen != klen || memcmp(it->key, key, klen)))
		ret = cursor_move(it, DB_PREV);
	return store_error(it->st, ret, "walk");
}

void store_cursor_close(struct store_cursor *it)
{
	DBC *cursor = it->cursor;

	store_error(it->st, cursor->close(cursor), "close cursor");
}

int store_get_first(struct store *st, enum store_table table, const void *from,
		    size_t flen, struct store_cursor *it)
{
	int rc = store_cursor_open(st, table, from, flen, it);

	if (rc)
		return rc;
	rc = store_cursor_next(it);
	store_cursor_close(it);
	return rc;
}

/* ---- named values ---- */

int meta_get(struct store *st, const char *name, void *val, size_t len)
{
	size_t got;
	int rc;

	rc = store_get(st, STORE_META, name, strlen(name), val, len, &got);
	return rc ? rc : got == len ? 0 : -EIO;
}

int meta_put(struct store *st, const char *name, const void *val, size_t len)
{
	return store_put(st, STORE_META, name, strlen(name), val, len);
}

int meta_get_u64(struct store *st, const char *name, uint64_t *val)
{
	uint64_t le;
	int rc;

	rc = meta_get(st, name, &le, sizeof(le));
	if (!rc)
		*val = le64toh(le);
	return rc;
}

int meta_put_u64(struct store *st, const char *name, uint64_t val)
{
	uint64_t le = htole64(val);

	return meta_put(st, name, &le, sizeof(le));
}

int meta_del(struct store *st, const char *name)
{
	return store_del(st, STORE_META, name, strlen(name));
}
