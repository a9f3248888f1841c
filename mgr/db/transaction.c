/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transaction.c - the store's transaction, the identifiers that it issues, flush and checkpoint.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "mgr/db/lock_index.h"
#include "mgr/db/replication_int.h"

static void changes_clear(struct row_changes *c)
{
	row_list_clear(&c->before);
	row_list_clear(&c->after);
	c->error = 0;
}

/* For a transaction that issues no identifiers. */
static int begin_without_ids(struct store *st)
{
	if (st->rep && !st->rep->leading)
		return -EPERM;
	if (st->rep)
		changes_clear(&st->rep->changes);
	return raw_begin(st);
}

bool store_changed(const struct store *st)
{
	return st->changed;
}

int store_commit(struct store *st)
{
	const bool replicated = st->rep && st->changed;
	int rc = replicated ? replication_before_commit(st) : 0;

	if (rc) {
		store_abort(st);
		return rc;
	}
	rc = raw_commit(st);
	if (!rc && replicated)
		replication_after_commit(st);
	if (st->locks)
		(rc ? lock_index_abort : lock_index_commit)(st->locks);
	return rc;
}

void store_abort(struct store *st)
{
	raw_abort(st);
	if (st->locks)
		lock_index_abort(st->locks);
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
	if (rc)
		return rc;
	st->id_end = end;
	if (st->rep)
		st->id_change = st->rep->change;
	else
		st->id_safe = end;
	return 0;
}

/*
 * With several managers, numbers are issued only after their reservation is committed.  It is made
 * long before, so this waits only if a leader issues half a range without a commit.
 */
static int ids_make_safe(struct store *st)
{
	int rc = 0;

	if (st->id_safe == st->id_end)
		return 0;
	if (!store_is_committed(st, st->id_change)) {
		if (st->id_next + STORE_ID_TURN <= st->id_safe)
			return 0;
		rc = store_flush(st);
	}
	if (!rc)
		st->id_safe = st->id_end;
	return rc;
}

int ids_open(struct store *st)
{
	uint64_t next = 1;
	int rc;

	rc = meta_get_u64(st, "next_id", &next);
	if (rc && rc != -ENOENT)
		return rc;
	st->id_safe = 0;
	rc = ids_extend(st, next + STORE_ID_RANGE);
	if (rc)
		return rc;
	st->id_next = next;
	rc = store_flush(st);
	if (rc)
		return rc == -EAGAIN ? 0 : rc;
	return ids_make_safe(st);
}

static int ids_reserve(struct store *st)
{
	int rc = 0;

	if (st->id_end - st->id_next <= STORE_ID_RANGE / 2)
		rc = ids_extend(st, st->id_end + STORE_ID_RANGE);
	return rc ? rc : ids_make_safe(st);
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
	assert(st->txn && st->id_next < st->id_safe);
	return st->id_next++;
}

int store_begin(struct store *st)
{
	int rc = ids_reserve(st);

	return rc ? rc : begin_without_ids(st);
}

/* ---- flush and checkpoint ---- */

int store_flush_log(struct store *st)
{
	uint64_t end = log_end_before_flush(st);
	int ret = st->env->log_flush(st->env, NULL);
	int rc = store_error(st, ret, "flush");

	return rc ? rc : log_end_flushed(st, end);
}

int store_flush(struct store *st)
{
	int rc = st->rep ? replication_flush(st) : store_flush_log(st);

	if (rc == -ENOSPC)
		atomic_store(&st->full, true);
	return rc;
}

/* Makes the applied entries durable, whether a checkpoint is due or not. */
static int flush_applied(struct store *st)
{
	uint64_t index = replication_index_written(st->rep);
	int rc = store_flush_log(st);

	if (!rc)
		replication_note_durable(st->rep, index);
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

static int checkpoint_locked(struct store *st, unsigned int kbyte)
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

int store_checkpoint(struct store *st, unsigned int kbyte)
{
	int rc = st->rep ? flush_applied(st) : 0;

	if (rc || pthread_mutex_trylock(&st->checkpoint_lock))
		return rc;
	rc = checkpoint_locked(st, kbyte);
	pthread_mutex_unlock(&st->checkpoint_lock);
	return rc;
}

const struct timing *store_checkpoint_times(const struct store *st)
{
	return &st->checkpoints;
}
