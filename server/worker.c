/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c - the progress threads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/copy/copies.h"
#include "server/copyset/group_change.h"
#include "server/copyset/member_order.h"
#include "common/util/daemon.h"
#include "server/wait/lease.h"
#include "server/iod_int.h"
#include "server/state/iod_peers.h"
#include "server/xfer/xfer.h"

_Static_assert(IOD_THREADS_MAX <= PULSE_LOOPS_MAX, "each has a bit");

#define IDLE_MS 60000u
#define POLL_FAR 8u /* times poll_us, where longer polling pays */

int worker_open(struct worker *w, struct iod *iod)
{
	struct rpc_ctx_attr attr = { .fabric = &iod->fabric,
				     .log = iod->log,
				     .poll_us = iod->conf.poll_us,
				     .far_us = POLL_FAR * iod->conf.poll_us };
	struct zones_attr zones = iod->conf.zones;
	int rc;

	w->iod = iod;
	LIST_INIT(&w->sessions);
	LIST_INIT(&w->xfers);
	LIST_INIT(&w->spare);
	LIST_INIT(&w->gate_waiters);
	member_orders_open(w);
	LIST_INIT(&w->group_changes);
	w->piece = calloc(RPC_LOCAL_MAX, sizeof(w->piece[0]));
	rc = w->piece ? rpc_ctx_open(&attr, &w->ctx) : -ENOMEM;
	if (rc)
		goto free_piece;
	zones.rails = rpc_ctx_rails(w->ctx);
	rc = zones_open(&zones, &w->zones);
	if (rc)
		goto close_ctx;
	windows_open(&w->windows, w->ctx, iod->engine, iod->store,
		     iod->conf.map_size / iod->conf.threads);
	rc = copies_open(w, &w->copies);
	if (rc)
		goto close_zones;
	mailbox_init(&w->mail, w->ctx);
	lease_open(w);
	return 0;
close_zones:
	windows_close(&w->windows);
	zones_close(w->zones);
close_ctx:
	rpc_ctx_close(w->ctx);
free_piece:
	free(w->piece);
	return rc;
}

void worker_close(struct worker *w)
{
	struct iod_session *ses;

	lease_close(w);
	iod_peers_close(w);
	copies_close(w->copies);
	group_changes_free(w);
	xfer_free_all(w);
	member_orders_free(w);
	while ((ses = LIST_FIRST(&w->sessions)))
		session_unref(ses);
	windows_close(&w->windows);
	mailbox_destroy(&w->mail);
	rpc_ctx_close(w->ctx);
	rail_mem_fini(&w->order_source);
	if (w->order_zones)
		zones_close(w->order_zones);
	zones_close(w->zones);
	free(w->piece);
}

static uint64_t earlier_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct pulse *pulse = daemon_pulse(w->iod->daemon);
	unsigned int loop = (unsigned int)(w - w->iod->worker);

	while (!atomic_load_explicit(&w->iod->stop, memory_order_acquire)) {
		uint64_t at = pulse_beat(pulse, loop);

		rpc_ctx_progress(w->ctx,
				 earlier_of(at, clock_after_ms(IDLE_MS)));
		mailbox_drain(&w->mail);
	}
	return NULL;
}

int worker_start(struct worker *w)
{
	int rc = -pthread_create(&w->thread, NULL, worker_run, w);

	if (rc)
		log_error(w->iod->log, "cannot start a thread: %s",
			  strerror(-rc));
	w->started = !rc;
	return rc;
}

void worker_join(struct worker *w)
{
	if (!w->started)
		return;
	rpc_ctx_wake(w->ctx);
	pthread_join(w->thread, NULL);
	w->started = false;
}
