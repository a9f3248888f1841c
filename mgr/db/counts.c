/* SPDX-License-Identifier: BSD-2-Clause */
/* counts.c - counters of Berkeley DB. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "mgr/db/db_int.h"

#define MEGABYTE (UINT64_C(1) << 20)

/* memp_stat() walks the whole cache, so it gets at most a thousandth of the time. */
#define REST 1000u

static uint64_t megabytes(uint64_t mbytes, uint64_t bytes)
{
	return mbytes * MEGABYTE + bytes;
}

static void take_cache(const DB_MPOOL_STAT *s, struct store_counts *c)
{
	c->cache_bytes = (uint64_t)s->st_gbytes << 30 | s->st_bytes;
	c->pages = s->st_pages;
	c->dirty = s->st_page_dirty;
	c->hits = s->st_cache_hit;
	c->misses = s->st_cache_miss;
	c->written = s->st_page_out;
	c->evicted = s->st_ro_evict + s->st_rw_evict;
}

static int look_cache(struct store *st, struct store_counts *c)
{
	uint64_t start = clock_now();
	DB_MPOOL_STAT *s;
	int rc;

	if (start < st->cache_again)
		return 0;
	rc = store_error(st, st->env->memp_stat(st->env, &s, NULL, 0), "cache");
	if (rc)
		return rc;
	take_cache(s, c);
	free(s);
	st->cache_again = clock_now() + REST * (clock_now() - start);
	return 0;
}

static int look_log(struct store *st, struct store_counts *c)
{
	DB_LOG_STAT *s;
	int rc = store_error(st, st->env->log_stat(st->env, &s, 0), "log");

	if (rc)
		return rc;
	c->log_bytes = megabytes(s->st_w_mbytes, s->st_w_bytes);
	c->log_since = megabytes(s->st_wc_mbytes, s->st_wc_bytes);
	c->log_flushes = s->st_scount;
	free(s);
	return 0;
}

static int look_txn(struct store *st, struct store_counts *c)
{
	DB_TXN_STAT *s;
	int rc = store_error(st, st->env->txn_stat(st->env, &s, 0), "txn");

	if (rc)
		return rc;
	c->commits = s->st_ncommits;
	c->aborts = s->st_naborts;
	free(s);
	return 0;
}

int store_count(struct store *st, struct store_counts *counts)
{
	int rc = store_failed(st) ? -EIO : look_cache(st, &st->counts);

	if (!rc)
		rc = look_log(st, &st->counts);
	if (!rc)
		rc = look_txn(st, &st->counts);
	if (!rc)
		*counts = st->counts;
	return rc;
}

const struct timing *store_checkpoints(const struct store *st)
{
	return &st->checkpoints;
}
