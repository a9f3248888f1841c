/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c - rows of a table: get, put, delete, walk. */
#include <assert.h>
#include <string.h>

#include "mgr/db/db_int.h"

static DBT dbt_in(const void *data, size_t len)
{
	return (DBT){ .data = (void *)data, .size = (u_int32_t)len };
}

static DBT dbt_out(void *buf, size_t cap)
{
	return (DBT){ .data = buf,
		      .ulen = (u_int32_t)cap,
		      .flags = DB_DBT_USERMEM };
}

uint64_t store_work(const struct store *st)
{
	return st->work;
}

int store_get(struct store *st, enum store_table table, const void *key,
	      size_t klen, void *val, size_t cap, size_t *len)
{
	DB *db = st->db[table];
	DBT k = dbt_in(key, klen);
	DBT v = dbt_out(val, cap);
	int rc;

	st->work++;
	rc = store_error(st, db->get(db, st->txn, &k, &v, 0), "get");
	if (!rc && len)
		*len = v.size;
	return rc;
}

static int put(struct store *st, enum store_table table, const void *key,
	       size_t klen, const void *val, size_t len, u_int32_t flags)
{
	DB *db = st->db[table];
	DBT k = dbt_in(key, klen);
	DBT v = dbt_in(val, len);

	assert(st->txn);
	st->changed = true;
	st->work++;
	slack_put(st, table);
	return store_error(st, db->put(db, st->txn, &k, &v, flags), "put");
}

int store_put(struct store *st, enum store_table table, const void *key,
	      size_t klen, const void *val, size_t len)
{
	return put(st, table, key, klen, val, len, 0);
}

int store_insert(struct store *st, enum store_table table, const void *key,
		 size_t klen, const void *val, size_t len)
{
	return put(st, table, key, klen, val, len, DB_NOOVERWRITE);
}

int store_del(struct store *st, enum store_table table, const void *key,
	      size_t klen)
{
	DB *db = st->db[table];
	DBT k = dbt_in(key, klen);

	assert(st->txn);
	st->changed = true;
	st->work++;
	return store_error(st, db->del(db, st->txn, &k, 0), "delete");
}

int store_iter_open(struct store *st, enum store_table table, const void *from,
		    size_t flen, struct store_iter *it)
{
	DB *db = st->db[table];
	DBC *cursor;
	int rc;

	rc = store_error(st, db->cursor(db, st->txn, &cursor, 0), "cursor");
	if (rc)
		return rc;
	it->st = st;
	it->cursor = cursor;
	store_iter_seek(it, from, flen);
	return 0;
}

void store_iter_seek(struct store_iter *it, const void *from, size_t flen)
{
	assert(flen <= sizeof(it->key));
	it->started = 0;
	it->klen = flen;
	memcpy(it->key, from, flen);
}

/* `how` is a flag of DBC->get().  The row goes to it->key and it->val. */
static int move(struct store_iter *it, u_int32_t how)
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

int store_iter_next(struct store_iter *it)
{
	return store_error(it->st,
			   move(it, it->started ? DB_NEXT : DB_SET_RANGE),
			   "walk");
}

int store_iter_floor(struct store_iter *it, const void *key, size_t klen)
{
	int ret;

	store_iter_seek(it, key, klen);
	ret = move(it, DB_SET_RANGE);
	if (ret == DB_NOTFOUND)
		ret = move(it, DB_LAST);
	else if (!ret && (it->klen != klen || memcmp(it->key, key, klen)))
		ret = move(it, DB_PREV);
	return store_error(it->st, ret, "walk");
}

void store_iter_close(struct store_iter *it)
{
	DBC *cursor = it->cursor;

	store_error(it->st, cursor->close(cursor), "close cursor");
}

int store_first(struct store *st, enum store_table table, const void *from,
		size_t flen, struct store_iter *it)
{
	int rc = store_iter_open(st, table, from, flen, it);

	if (rc)
		return rc;
	rc = store_iter_next(it);
	store_iter_close(it);
	return rc;
}
