/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_metrics.c - the figures of an iod: METRICS of its queues, buffers and flushes, and the text
 * for SIGUSR1.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/util/container.h"
#include "common/comm/fabric/fabric_seal.h"
#include "server/iod.h"
#include "server/iod_int.h"
#include "server/state/capability_check.h"
#include "server/state/worker.h"
#include "server/store/disk_queue.h"

/* ---- METRICS ---- */

static const char *const queues[DISK_WORK_KINDS] = {
	[DISK_READ] = "read",	    [DISK_WRITE] = "write",
	[DISK_FLUSH] = "flush",	    [DISK_CHANGE] = "change",
	[DISK_CONTROL] = "control",
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
}

/* ---- SIGUSR1 ---- */

#define LINE 1024

static void report_zones(const struct zones_stats *st, char *buf, size_t len)
{
	size_t at = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < st->n && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at,
				       "; %zuKiB %u of %u, at most %u",
				       st->zone[i].size / 1024,
				       st->zone[i].in_use, st->zone[i].count,
				       st->zone[i].most);
}

/* Runs on the worker's thread. */
static void report_worker(struct mailbox_item *mail)
{
	struct worker *w = container_of(mail, struct worker, report);
	struct zones_stats st;
	char line[LINE];

	zones_stats(w->zones, &st);
	report_zones(&st, line, sizeof(line));
	log_always(w->iod->log,
		   "thread %u: %zu KiB of buffers, %" PRIu64 " given, %" PRIu64
		   " waited for, %" PRIu64 " bigger and %" PRIu64
		   " smaller than fits; in use: %s",
		   (unsigned int)(w - w->iod->worker), st.bytes / 1024, st.gets,
		   st.waits, st.bigger, st.chopped, line + 2);
	atomic_store(&w->reporting, false);
}

static uint64_t requests_with(const struct iod *iod, enum payload kind)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < iod->nworkers; i++)
		sum += atomic_load_explicit(&iod->worker[i].payloads[kind],
					    memory_order_relaxed);
	return sum;
}

/* fast: requests by Fast RDMA, as rpc counted them.  They are among PAYLOAD_ALONG. */
static void report_payloads(const struct iod *iod, uint64_t fast)
{
	uint64_t along = requests_with(iod, PAYLOAD_ALONG);

	log_always(iod->log,
		   "data of %" PRIu64 " requests went in a message, of "
		   "%" PRIu64 " by Fast RDMA, of %" PRIu64
		   " was left to the server",
		   along > fast ? along - fast : 0,
		   fast + requests_with(iod, PAYLOAD_PLACED),
		   requests_with(iod, PAYLOAD_KEYS));
}

/* Resources of idle clients. */
static void report_clients(const struct iod *iod,
			   const struct rpc_server_stats *st)
{
	log_always(iod->log,
		   "%" PRIu64 " connections and %" PRIu64
		   " sessions hold %" PRIu64 " KiB, %" PRIu64
		   " receives that they share %" PRIu64 " KiB; %" PRIu64
		   " messages were beyond a client's share",
		   st->conns, st->sessions, st->client_bytes / 1024, st->shared,
		   st->shared_bytes / 1024, st->shared_copies);
	log_always(iod->log,
		   "sizes of %u objects are shown, %u blocks shared, of "
		   "%" PRIu64 " so far",
		   size_table_count(store_size_table(iod->store)),
		   block_table_blocks(store_block_table(iod->store)),
		   block_table_filled(store_block_table(iod->store)));
}

/* Iods that did not prove who they are when this one connected to them for copies. */
static uint64_t asked_impostors(const struct iod *iod)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < iod->nworkers; i++)
		sum += rpc_ctx_impostors(iod->worker[i].ctx);
	return sum;
}

static void report_requests(const struct iod *iod)
{
	struct rpc_server_stats st;

	rpc_server_stats(iod->server, &st);
	log_always(iod->log,
		   "%" PRIu64 " sessions, %" PRIu64 " requests, %" PRIu64
		   " replays, %" PRIu64 " protocol errors",
		   st.sessions, st.requests, st.replays, st.protocol_errors);
	log_always(iod->log,
		   "%" PRIu64 " refused that came from other networks",
		   st.outsiders);
	log_always(iod->log,
		   "%" PRIu64 " refused that said they were a manager or an "
		   "iod, %" PRIu64 " iods that did not prove it",
		   st.impostors, asked_impostors(iod));
	fabric_seal_report(&iod->fabric, st.bare, iod->log);
	log_always(iod->log, "%" PRIu64 " refused without a ticket that holds",
		   st.unknown);
	capability_log_refusals(iod);
	report_payloads(iod, st.fast);
	log_always(iod->log,
		   "%" PRIu64 " requests by Fast RDMA, %" PRIu64
		   " replies, %zu KiB of buffers, %" PRIu64
		   " connections got none",
		   st.fast, st.placed, st.fast_bytes / 1024, st.fast_refused);
	log_always(iod->log,
		   "%" PRIu64 " connections have a second one for bulk data: "
		   "%" PRIu64 " KiB went over these, %" PRIu64
		   " KiB of messages over the first",
		   st.aparts, st.apart_bytes / 1024, st.message_bytes / 1024);
	log_always(iod->log,
		   "%" PRIu64 " reads ended with their last RDMA Write",
		   st.whole);
	log_always(iod->log,
		   "at most %" PRIu64 " KiB under way to and from clients, "
		   "%" PRIu64 " transfers had to wait, %" PRIu64
		   " were cut off",
		   st.rdma_most / 1024, st.rdma_waits, st.rdma_cut);
	log_always(iod->log,
		   "%" PRIu64 " KiB moved by clients, in %" PRIu64 " parts; "
		   "%" PRIu64 " parts declined, %" PRIu64 " taken back",
		   st.carried_bytes / 1024, st.carried, st.carry_declined,
		   st.carry_late);
	report_clients(iod, &st);
}

static void report_devices(const struct iod *iod)
{
	const struct rails *rails = rpc_ctx_rails(iod->worker[0].ctx);
	unsigned int i, mrs;
	size_t bytes;

	for (i = 0; i < rails->n; i++) {
		tp_dev_registered(rails->dev[i], &mrs, &bytes);
		log_always(iod->log, "%zu KiB registered with %s, in %u pieces",
			   (bytes + 1023) / 1024, tp_dev_name(rails->dev[i]),
			   mrs);
	}
}

void iod_report(struct iod *iod)
{
	unsigned int i;

	report_requests(iod);
	report_devices(iod);
	for (i = 0; i < iod->nworkers; i++) {
		struct worker *w = &iod->worker[i];

		if (atomic_exchange(&w->reporting, true))
			continue;
		w->report.deliver = report_worker;
		mailbox_post(&w->mail, &w->report);
	}
}
