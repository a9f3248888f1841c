/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.c - what an iod tells of its queues, buffers and flushes: GAUGES and TIMES. */
#include "server/store/lane.h"
#include "server/service.h"
#include "server/state/worker.h"

static const enum wire_queue queue_of[SYNC_KINDS] = {
	[SYNC_READ] = WIRE_Q_READ,	 [SYNC_WRITE] = WIRE_Q_WRITE,
	[SYNC_FLUSH] = WIRE_Q_FLUSH,	 [SYNC_CHANGE] = WIRE_Q_CHANGE,
	[SYNC_CONTROL] = WIRE_Q_CONTROL,
};

static void put_queues(const struct iod *iod, struct rpc_gauges *g)
{
	for (unsigned int kind = 0; kind < SYNC_KINDS; kind++) {
		uint32_t of = queue_of[kind];
		struct lane_use use;

		sync_pool_use(iod->pool, (enum sync_kind)kind, &use);
		rpc_gauges_put(g, WIRE_G_QUEUE_WAITING, of, use.waiting);
		rpc_gauges_put(g, WIRE_G_QUEUE_MOST, of, use.most);
		rpc_gauges_put(g, WIRE_G_QUEUE_WORKING, of, use.working);
		rpc_gauges_put(g, WIRE_G_QUEUE_STUCK, of, use.stuck);
	}
}

/* All threads have the same zones; the most are of moments that need not be one. */
static void add_zones(struct zones_stats *sum, const struct worker *w)
{
	struct zones_stats st;

	zones_stats(w->zones, &st);
	sum->n = st.n;
	sum->bytes += st.bytes;
	sum->gets += st.gets;
	sum->waits += st.waits;
	sum->bigger += st.bigger;
	sum->chopped += st.chopped;
	for (unsigned int i = 0; i < st.n; i++) {
		sum->zone[i].size = st.zone[i].size;
		sum->zone[i].count += st.zone[i].count;
		sum->zone[i].in_use += st.zone[i].in_use;
		sum->zone[i].most += st.zone[i].most;
	}
}

static void put_zones(const struct iod *iod, struct rpc_gauges *g)
{
	struct zones_stats st = { 0 };

	for (unsigned int i = 0; i < iod->nworkers; i++)
		add_zones(&st, &iod->worker[i]);
	for (unsigned int i = 0; i < st.n; i++) {
		const struct zone_use *zone = &st.zone[i];
		uint32_t kib = (uint32_t)(zone->size / 1024);

		rpc_gauges_put(g, WIRE_G_ZONE_BUFFERS, kib, zone->count);
		rpc_gauges_put(g, WIRE_G_ZONE_USED, kib, zone->in_use);
		rpc_gauges_put(g, WIRE_G_ZONE_MOST, kib, zone->most);
	}
	rpc_gauges_put(g, WIRE_G_ZONE_BYTES, 0, st.bytes);
	rpc_gauges_put(g, WIRE_G_ZONE_GIVEN, 0, st.gets);
	rpc_gauges_put(g, WIRE_G_ZONE_WAITS, 0, st.waits);
	rpc_gauges_put(g, WIRE_G_ZONE_BIGGER, 0, st.bigger);
	rpc_gauges_put(g, WIRE_G_ZONE_SMALLER, 0, st.chopped);
}

static void put_windows(const struct iod *iod, struct rpc_gauges *g)
{
	uint64_t n = 0, max = 0, hits = 0, made = 0, none = 0;

	for (unsigned int i = 0; i < iod->nworkers; i++) {
		const struct windows *ws = &iod->worker[i].windows;

		n += atomic_load(&ws->n);
		max += ws->max;
		hits += atomic_load(&ws->hits);
		made += atomic_load(&ws->made);
		none += atomic_load(&ws->none);
	}
	rpc_gauges_put(g, WIRE_G_WINDOW_COUNT, 0, n);
	rpc_gauges_put(g, WIRE_G_WINDOW_MAX, 0, max);
	rpc_gauges_put(g, WIRE_G_WINDOW_HITS, 0, hits);
	rpc_gauges_put(g, WIRE_G_WINDOW_MADE, 0, made);
	rpc_gauges_put(g, WIRE_G_WINDOW_NONE, 0, none);
}

void service_gauges(void *arg, struct rpc_gauges *g)
{
	const struct iod *iod = arg;

	rpc_gauges_put(g, WIRE_G_BELIEVES, 0, iod->conf.auth.mode == AUTH_SYS);
	rpc_gauges_put(g, WIRE_G_LENT_KEPT, 0,
		       loan_evictions_deferred(iod->loans));
	put_queues(arg, g);
	put_zones(arg, g);
	put_windows(arg, g);
}

const struct timing *service_timed(void *arg, unsigned int i,
				   unsigned int *what)
{
	const struct iod *iod = arg;

	if (i == SYNC_KINDS) {
		*what = WIRE_TM_FLUSH;
		return sync_pool_flushed(iod->pool);
	}
	if (i > SYNC_KINDS)
		return NULL;
	*what = WIRE_TM_QUEUE + queue_of[i];
	return sync_pool_waited(iod->pool, (enum sync_kind)i);
}
