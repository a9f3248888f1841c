/* SPDX-License-Identifier: BSD-2-Clause */
/* raw_rows.c - changes of rows that are in no write set, and the transaction around them. */
#include <assert.h>
#include <errno.h>

#include "mgr/db/db_int.h"

int raw_begin(struct store *st)
{
	assert(!st->txn);
	st->changed = false;
	return store_error(st, st->env->txn_begin(st->env, NULL, &st->txn, 0),
			   "begin");
}

int raw_commit(struct store *st)
{
	DB_TXN *txn = st->txn;

	assert(txn);
	st->txn = NULL;
	return store_error(st, txn->commit(txn, DB_TXN_NOSYNC), "commit");
}

void raw_abort(struct store *st)
{
	uint64_t end[STORE_FILES];
	DB_TXN *txn = st->txn;

	assert(txn);
	st->txn = NULL;
	if (st->changed)
		table_space_before_abort(st, end);
	store_error(st, txn->abort(txn), "abort");
	if (st->changed)
		table_space_after_abort(st, end);
}

int raw_end(struct store *st, int rc)
{
	if (!rc)
		return raw_commit(st);
	raw_abort(st);
	return rc;
}

int raw_get(struct store *st, enum store_table table, const void *key,
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

int raw_put(struct store *st, enum store_table table, const void *key,
	    size_t klen, const void *val, size_t len, u_int32_t flags)
{
	DB *db = st->db[table];
	DBT k = dbt_in(key, klen);
	DBT v = dbt_in(val, len);

	assert(st->txn);
	st->changed = true;
	st->work++;
	table_space_before_put(st, table);
	return store_error(st, db->put(db, st->txn, &k, &v, flags), "put");
}

int raw_del(struct store *st, enum store_table table, const void *key,
	    size_t klen)
{
	DB *db = st->db[table];
	DBT k = dbt_in(key, klen);

	assert(st->txn);
	st->changed = true;
	st->work++;
	return store_error(st, db->del(db, st->txn, &k, 0), "delete");
}
