/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c - opening the store, its transaction, flush and checkpoint. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "mgr/db/db_int.h"
#include "mgr/db/lock_index.h"

#define STORE_FORMAT 2u
#define FORMAT_FROM 1u /* has no SESSION_DECLARES and no inode writer */

bool store_is_full(int err)
{
	return err == ENOSPC || err == EDQUOT;
}

bool store_may_say(struct store *st)
{
	return atomic_fetch_add(&st->said, 1) < STORE_SAID_MAX;
}

static int out_of_space(struct store *st, const char *what)
{
	atomic_store(&st->was_full, true);
	if (store_may_say(st))
		log_error(st->log, "database %s: %s: no space left; free some",
			  st->home, what);
	return -ENOSPC;
}

int store_error(struct store *st, int ret, const char *what)
{
	if (!ret)
		return 0;
	if (ret == DB_NOTFOUND)
		return -ENOENT;
	if (ret == DB_KEYEXIST)
		return -EEXIST;
	if (store_is_full(ret) && !atomic_load(&st->failed))
		return out_of_space(st, what);
	if (!atomic_exchange(&st->failed, true))
		log_error(st->log, "database %s: %s: %s", st->home, what,
			  db_strerror(ret));
	return -EIO;
}

/*
 * For a new store, or for a step to the next format.  Rows of the old format are valid
 * in the new one.
 */
static int write_format(struct store *st, bool new)
{
	int rc = store_begin(st);

	if (rc)
		return rc;
	rc = meta_put_u64(st, "format", STORE_FORMAT);
	if (!rc && new)
		rc = handle_key_make(st);
	return rc ? (store_abort(st), rc) : store_commit(st);
}

static int step_format(struct store *st)
{
	int rc = write_format(st, false);

	if (!rc)
		log_info(st->log,
			 "database %s: of format %u until now, from now on "
			 "%u, which earlier releases refuse",
			 st->home, FORMAT_FROM, STORE_FORMAT);
	return rc;
}

static int check_format(struct store *st)
{
	uint64_t format;
	int rc;

	rc = meta_get_u64(st, "format", &format);
	if (rc == -ENOENT)
		return write_format(st, true);
	if (rc || format == STORE_FORMAT)
		return rc;
	if (format == FORMAT_FROM)
		return step_format(st);
	log_error(st->log,
		  "database %s has format %llu, this program knows %u and "
		  "%u; use the release that wrote it",
		  st->home, (unsigned long long)format, FORMAT_FROM,
		  STORE_FORMAT);
	return -EPROTONOSUPPORT;
}

void store_init(struct store *st)
{
	pthread_mutex_init(&st->logs_lock, NULL);
	pthread_mutex_init(&st->log_end.lock, NULL);
	st->log_end.fd = -1;
	for (int t = 0; t < STORE_TABLES; t++)
		st->space[t].fd = -1;
}

int store_open(const struct store_attr *attr, struct store **out)
{
	struct store *st;
	int rc;

	st = calloc(1, sizeof(*st));
	if (!st)
		return -ENOMEM;
	st->log = attr->log;
	st->accept_loss = attr->accept_loss;
	st->id_end = UINT64_MAX; /* until ids_open(): reserve nothing */
	store_init(st);
	rc = env_open(st, attr);
	if (!rc)
		rc = log_end_open(st);
	if (!rc)
		rc = check_format(st);
	if (!rc)
		rc = hash_open(st);
	if (!rc)
		rc = handle_open(st);
	if (!rc)
		rc = ids_open(st);
	if (!rc)
		rc = locks_open(st);
	if (rc) {
		if (st->accept_loss)
			log_end_say_lost(st);
		lock_index_close(st->locks);
		env_close(st);
		free(st);
		return rc == -EBADMSG ? -EIO : rc;
	}
	store_room(st);
	*out = st;
	return 0;
}

void store_close(struct store *st)
{
	if (!st)
		return;
	assert(!st->txn);
	if (!store_failed(st) && !store_checkpoint(st, 0) && !store_flush(st))
		log_end_sync(st);
	lock_index_close(st->locks);
	env_close(st);
	free(st);
}

bool store_changed(const struct store *st)
{
	return st->changed;
}

const struct log *store_log(const struct store *st)
{
	return st->log;
}

int store_begin(struct store *st)
{
	int rc;

	assert(!st->txn);
	rc = ids_reserve(st);
	if (rc)
		return rc;
	st->changed = false;
	return store_error(st, st->env->txn_begin(st->env, NULL, &st->txn, 0),
			   "begin");
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
		slack_note(st, end);
	store_error(st, txn->abort(txn), "abort");
	if (st->locks)
		lock_index_abort(st->locks);
	if (st->changed)
		slack_undone(st, end);
}

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
static void all_written(struct store *st)
{
	atomic_store(&st->full, false);
	atomic_store(&st->was_full, false);
	atomic_store(&st->said, 0);
	logs_tidy(st);
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

static int checkpoint(struct store *st, unsigned int least)
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
	int rc = store_error(st, checkpoint(st, least), "checkpoint");

	log_end_sync(st);
	if (rc == -ENOSPC)
		atomic_store(&st->full, true);
	else if (!rc)
		all_written(st);
	return rc;
}

bool store_was_full(const struct store *st)
{
	return atomic_load(&st->was_full);
}

bool store_failed(const struct store *st)
{
	return atomic_load(&st->failed);
}
