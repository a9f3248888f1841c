/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - the figures that the iod logs for SIGUSR1. */
#include <inttypes.h>
#include <stdio.h>

#include "common/util/container.h"
#include "common/comm/fabric/fabric_seal.h"
#include "server/iod.h"
#include "server/state/shown_caps.h"
#include "server/state/worker.h"

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
static void report_worker(struct mail *mail)
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
		   shown_count(store_shown(iod->store)),
		   share_blocks(store_share(iod->store)),
		   share_filled(store_share(iod->store)));
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
	caps_report(iod);
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
