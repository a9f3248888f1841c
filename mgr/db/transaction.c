/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transaction.c - the store's transaction, the identifiers that it issues, flush and checkpoint.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "mgr/db/db_int.h"
#include "mgr/db/lock_index.h"

/* For a transaction that issues no identifiers. */
static int begin_without_ids(struct store *st)
{
	assert(!st->txn);
	st->changed = false;
	return store_error(st, st->env->txn_begin(st->env, NULL, &st->txn, 0),
			   "begin");
}

bool store_changed(const struct store *st)
{
	return st->changed;
}

int store_commit(struct store *st)
{
	DB_TXN *txn = st->txn;
	int rc;

	assert(txn);
	st->txn = NULL;
	rc = store_error(st, txn->commit(txn, DB_TXN_NOSYNC), "commit");
	if (st->locks)
		(rc ? lock_index_abort : lock_index_commit)(st->locks);
	return rc;
}

void store_abort(struct store *st)
{
	uint64_t end[STORE_TABLES];
	DB_TXN *txn = st->txn;

	assert(txn);
	st->txn = NULL;
	if (st->changed)
		table_space_before_abort(st, end);
	store_error(st, txn->abort(txn), "abort");
	if (st->locks)
		lock_index_abort(st->locks);
	if (st->changed)
		table_space_after_abort(st, end);
}

int transaction_end(struct store *st, int rc)
{
	if (!rc)
		return store_commit(st);
	store_abort(st);
	return rc;
}

/* ---- identifiers ---- */

static int ids_extend(struct store *st, uint64_t end)
{
	int rc = begin_without_ids(st);

	if (rc)
		return rc;
	rc = transaction_end(st, meta_put_u64(st, "next_id", end));
	if (!rc)
		st->id_end = end;
	return rc;
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

static int ids_reserve(struct store *st)
{
	if (st->id_end - st->id_next > STORE_ID_RANGE / 2)
		return 0;
	return ids_extend(st, st->id_end + STORE_ID_RANGE);
}

int store_skip_ids(struct store *st, uint64_t from)
{
	int rc;

	if (from <= st->id_next)
		return 0;
	rc = ids_extend(st, from + STORE_ID_RANGE);
	if (!rc)
		st->id_next = from;
	return rc;
}

bool store_id_was_issued(const struct store *st, uint64_t id)
{
	return id < st->id_next;
}

uint64_t store_new_id(struct store *st)
{
	assert(st->txn && st->id_next < st->id_end);
	return st->id_next++;
}

int store_begin(struct store *st)
{
	int rc = ids_reserve(st);

	return rc ? rc : begin_without_ids(st);
}

/* ---- flush and checkpoint ---- */

int store_flush(struct store *st)
{
	uint64_t end = log_end_before_flush(st);
	int ret = st->env->log_flush(st->env, NULL);
	int rc = store_error(st, ret, "flush");

	if (!rc)
		log_end_flushed(st, end);
	if (rc == -ENOSPC)
		atomic_store(&st->full, true);
	return rc;
}

/* A checkpoint succeeded: all pages that had found no space are written. */
static void note_checkpointed(struct store *st)
{
	atomic_store(&st->full, false);
	atomic_store(&st->was_full, false);
	atomic_store(&st->errors_logged, 0);
	log_files_recycle(st);
}

static uint64_t last_checkpoint(struct store *st)
{
	DB_TXN_STAT *s;
	uint64_t at;

	if (st->env->txn_stat(st->env, &s, 0))
		return 0;
	at = (uint64_t)s->st_last_ckp.file << 32 | s->st_last_ckp.offset;
	free(s);
	return at;
}

static int checkpoint_timed(struct store *st, unsigned int least)
{
	uint64_t start = clock_now(), before = last_checkpoint(st);
	int ret = st->env->txn_checkpoint(st->env, least, 0, 0);

	if (ret || last_checkpoint(st) != before)
		timing_add(&st->checkpoints, clock_now() - start, 0, ret);
	return ret;
}

int store_checkpoint(struct store *st, unsigned int kbyte)
{
	unsigned int least = atomic_load(&st->full) ? 0 : kbyte;
	int rc = store_error(st, checkpoint_timed(st, least), "checkpoint");

	log_end_sync(st);
	if (rc == -ENOSPC)
		atomic_store(&st->full, true);
	else if (!rc)
		note_checkpointed(st);
	return rc;
}

const struct timing *store_checkpoint_times(const struct store *st)
{
	return &st->checkpoints;
}
