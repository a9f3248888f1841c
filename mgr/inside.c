/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.c - what the manager tells of its data base: GAUGES and TIMES. */
#include "mgr/service.h"

static void put_counts(const struct store_counts *c, struct rpc_gauges *g)
{
	rpc_gauges_put(g, WIRE_G_DB_CACHE_BYTES, 0, c->cache_bytes);
	rpc_gauges_put(g, WIRE_G_DB_PAGES, 0, c->pages);
	rpc_gauges_put(g, WIRE_G_DB_DIRTY, 0, c->dirty);
	rpc_gauges_put(g, WIRE_G_DB_HITS, 0, c->hits);
	rpc_gauges_put(g, WIRE_G_DB_MISSES, 0, c->misses);
	rpc_gauges_put(g, WIRE_G_DB_WRITTEN, 0, c->written);
	rpc_gauges_put(g, WIRE_G_DB_EVICTED, 0, c->evicted);
	rpc_gauges_put(g, WIRE_G_DB_COMMITS, 0, c->commits);
	rpc_gauges_put(g, WIRE_G_DB_ABORTS, 0, c->aborts);
	rpc_gauges_put(g, WIRE_G_DB_LOG_BYTES, 0, c->log_bytes);
	rpc_gauges_put(g, WIRE_G_DB_LOG_SINCE, 0, c->log_since);
	rpc_gauges_put(g, WIRE_G_DB_LOG_FLUSHES, 0, c->log_flushes);
}

void service_gauges(void *arg, struct rpc_gauges *g)
{
	struct mgr *mgr = arg;
	struct store_counts counts;

	rpc_gauges_put(g, WIRE_G_BELIEVES, 0, mgr->conf.auth.mode == AUTH_SYS);
	rpc_gauges_put(g, WIRE_G_QUEUE_WAITING, WIRE_Q_LOG,
		       flusher_waiting(mgr->fl));
	if (!store_count(mgr->st, &counts))
		put_counts(&counts, g);
}

const struct timing *service_timed(void *arg, unsigned int i,
				   unsigned int *what)
{
	const struct mgr *mgr = arg;

	if (i > 1)
		return NULL;
	*what = i ? WIRE_TM_CHECKPOINT : WIRE_TM_LOG;
	return i ? store_checkpoints(mgr->st) : flusher_flushed(mgr->fl);
}
