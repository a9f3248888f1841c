/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_metrics.c - an iod's metrics: its queues, buffers, mappings, tables and refusals. */
#include <stdio.h>

#include "server/iod_int.h"
#include "server/state/capability_check.h"
#include "server/state/worker.h"
#include "server/store/disk_pool.h"

static const char *const queues[DISK_WORK_KINDS] = {
	[DISK_READ] = "read",	[DISK_WRITE] = "write",
	[DISK_FLUSH] = "flush", [DISK_CHANGE] = "change",
	[DISK_ORDER] = "order", [DISK_CONTROL] = "control",
};

static void put_queue(const struct iod *iod, enum disk_work_kind kind,
		      struct rpc_metrics *m)
{
	struct disk_queue_use use;

	disk_pool_queue_use(iod->pool, kind, &use);
	rpc_metrics_now(m, "queue_waiting", "queue", queues[kind], use.waiting,
			"Works that wait for a thread or a disk.");
	rpc_metrics_now(m, "queue_most", "queue", queues[kind], use.most,
			"The most that ever waited.");
	rpc_metrics_now(m, "queue_working", "queue", queues[kind], use.working,
			"Threads at work.");
	rpc_metrics_now(m, "queue_stuck", "queue", queues[kind], use.stuck,
			"Those that the kernel keeps for long already.");
}

/* All workers have the same zones.  The sum of their maxima is an upper bound, because they
 * were reached at different times. */
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

static void put_zone(const struct zone_use *zone, struct rpc_metrics *m)
{
	char size[32];

	snprintf(size, sizeof(size), "%zuKiB", zone->size / 1024);
	rpc_metrics_now(m, "zone_buffers", "size", size, zone->count,
			"Buffers of that size.");
	rpc_metrics_now(m, "zone_used", "size", size, zone->in_use,
			"Those in use.");
	rpc_metrics_now(m, "zone_most", "size", size, zone->most,
			"The most that ever were in use.");
}

static void put_zones(const struct iod *iod, struct rpc_metrics *m)
{
	struct zones_stats st = { 0 };

	for (unsigned int i = 0; i < iod->nworkers; i++)
		add_zones(&st, &iod->worker[i]);
	for (unsigned int i = 0; i < st.n; i++)
		put_zone(&st.zone[i], m);
	rpc_metrics_now(m, "zones_bytes", NULL, NULL, st.bytes,
			"Memory of buffers.");
	rpc_metrics_total(m, "zones_given", NULL, NULL, st.gets,
			  "Buffers that were given.");
	rpc_metrics_total(m, "zones_waits", NULL, NULL, st.waits,
			  "Transfers that waited for a buffer.");
	rpc_metrics_total(m, "zones_bigger", NULL, NULL, st.bigger,
			  "Buffers bigger than fits.");
	rpc_metrics_total(m, "zones_smaller", NULL, NULL, st.chopped,
			  "Buffers smaller than was wanted.");
}

static void put_windows(const struct iod *iod, struct rpc_metrics *m)
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
	rpc_metrics_now(m, "window_kept", NULL, NULL, n,
			"Mapped parts of objects.");
	rpc_metrics_now(m, "window_max", NULL, NULL, max,
			"How many there may be.");
	rpc_metrics_total(m, "window_hits", NULL, NULL, hits,
			  "Uses of one that was there.");
	rpc_metrics_total(m, "window_made", NULL, NULL, made,
			  "Those that were made for their use.");
	rpc_metrics_total(m, "window_none", NULL, NULL, none,
			  "Times when there was none to use.");
}

static void put_tables(const struct iod *iod, struct rpc_metrics *m)
{
	const struct block_table *blocks = store_block_table(iod->store);

	rpc_metrics_now(m, "sizes_shown", NULL, NULL,
			size_table_count(store_size_table(iod->store)),
			"Objects whose size clients can read.");
	rpc_metrics_now(m, "blocks_shared", NULL, NULL,
			block_table_blocks(blocks),
			"Blocks of objects that clients can read.");
	rpc_metrics_total(m, "blocks_filled", NULL, NULL,
			  block_table_filled(blocks), "Those so far.");
}

void service_metrics(void *arg, struct rpc_metrics *m)
{
	const struct iod *iod = arg;

	for (unsigned int kind = 0; kind < DISK_WORK_KINDS; kind++)
		rpc_metrics_times(m, "queue", "queue", queues[kind],
				  disk_pool_wait_times(
					  iod->pool, (enum disk_work_kind)kind),
				  "Requests that waited for a thread.");
	rpc_metrics_times(m, "flush", "of", "object",
			  store_flush_times(iod->store),
			  "Flushes to stable storage.");
	rpc_metrics_now(m, "auth_sys", NULL, NULL,
			iod->conf.auth.mode == AUTH_SYS,
			"1: auth = sys, clients of other hosts are believed.");
	rpc_metrics_now(m, "lent_kept", NULL, NULL,
			loan_evictions_deferred(iod->loans),
			"Lent to evicted clients, and no room for a copy.");
	for (unsigned int kind = 0; kind < DISK_WORK_KINDS; kind++)
		put_queue(iod, (enum disk_work_kind)kind, m);
	put_zones(iod, m);
	put_windows(iod, m);
	put_tables(iod, m);
	capability_metrics(iod, m);
}
