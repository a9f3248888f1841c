/* SPDX-License-Identifier: BSD-2-Clause */
/* meta.c - named values, and identifiers that are issued only once. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/db_int.h"

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

static int ids_extend(struct store *st, uint64_t end)
{
	DB_TXN *txn;
	uint64_t le = htole64(end);
	DBT k = { .data = "next_id", .size = 7 };
	DBT v = { .data = &le, .size = sizeof(le) };
	DB *db = st->db[STORE_META];
	int ret;

	ret = st->env->txn_begin(st->env, NULL, &txn, 0);
	if (ret)
		return store_error(st, ret, "begin");
	ret = db->put(db, txn, &k, &v, 0);
	if (ret) {
		txn->abort(txn);
		return store_error(st, ret, "put");
	}
	ret = txn->commit(txn, DB_TXN_NOSYNC);
	if (!ret)
		st->id_end = end;
	return store_error(st, ret, "commit");
}

int ids_open(struct store *st)
{
	uint64_t next = 1;
	int rc;

	rc = meta_get_u64(st, "next_id", &next);
	if (rc && rc != -ENOENT)
		return rc;
	rc = ids_extend(st, next + STORE_ID_RANGE);
	if (rc)
		return rc;
	st->id_next = next;
	return store_flush(st);
}

int ids_reserve(struct store *st)
{
	if (st->id_end - st->id_next > STORE_ID_RANGE / 2)
		return 0;
	return ids_extend(st, st->id_end + STORE_ID_RANGE);
}

int store_ids_from(struct store *st, uint64_t from)
{
	int rc;

	if (from <= st->id_next)
		return 0;
	rc = ids_extend(st, from + STORE_ID_RANGE);
	if (!rc)
		st->id_next = from;
	return rc;
}

bool store_id_given(const struct store *st, uint64_t id)
{
	return id < st->id_next;
}

uint64_t store_id(struct store *st)
{
	assert(st->txn && st->id_next < st->id_end);
	return st->id_next++;
}
