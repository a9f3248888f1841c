/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c - removes the objects of removed files, after the reply to the client.  The
 * intents are a queue on disk.  Each iod has its own position in the queue and takes up
 * to 128 handles in one message.  An intent is deleted when every iod is past it.
 */
#include <errno.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define GATHER_MS 10 /* a batch may grow for this time */
#define SCAN 32 /* intents read together */
#define LOOKS 8 /* groups of SCAN intents in one go */
#define TIDY_MAX 64 /* intents deleted at a time */

static void remover_advance(struct remover *r);

static struct remover *remover_of(struct rpc_timer *timer)
{
	return container_of(timer, struct remover, timer);
}

static bool is_concerned(const struct remover *r, const struct intent *in)
{
	const struct ring ring = ring_of_iods(r->iod->mgr->conf.niods);

	return copyset_has(r->iod->index, &in->dist, &ring);
}

/* Reads the next few intents; 0: no more for now. */
static int collect_some(struct remover *r, uint64_t *handle, uint32_t *n)
{
	struct mgr *mgr = r->iod->mgr;
	struct intent in[SCAN];
	uint32_t room = REMOVE_BATCH - *n;
	int got;

	got = intent_read(mgr->st, INTENT_REMOVE, r->sent, in,
			  room < SCAN ? room : SCAN);
	for (int i = 0; i < got; i++) {
		if (in[i].id > mgr->jobs->remove_limit) {
			got = 0;
			break;
		}
		r->sent = in[i].id;
		if (is_concerned(r, &in[i]))
			handle[(*n)++] = handle_to_wire(mgr->st, in[i].handle);
	}
	return got;
}

/* Collects handles for the next message; r->sent: intents up to here are covered. */
static uint32_t collect_handles(struct remover *r,
				uint64_t handle[REMOVE_BATCH])
{
	uint32_t n = 0;

	for (int i = 0; i < LOOKS && n < REMOVE_BATCH; i++) {
		if (collect_some(r, handle, &n) > 0)
			continue;
		r->sent = r->iod->mgr->jobs->remove_limit;
		break;
	}
	return n;
}

static void on_removed(struct iod_call *call)
{
	struct remover *r = &call->iod->remover;

	if (call->status)
		log_error(call->iod->mgr->log,
			  "%s: removing objects: %s; pvfs-fsck finds what is "
			  "left",
			  iod_name(call->iod), strerror(-call->status));
	r->busy = false;
	r->done = r->sent;
	remover_advance(r);
}

static void send_batch(struct remover *r, const uint64_t *handle, uint32_t n)
{
	struct wire_objects body = { .n = htole32(n) };
	struct wire_out out;

	wire_begin(&out, r->msg, sizeof(r->msg));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, handle, n * sizeof(*handle));
	r->call.msg = r->msg;
	r->call.msg_len = (size_t)wire_end(&out, WIRE_REMOVE, 0, 0);
	r->call.done = on_removed;
	r->busy = true;
	iod_call_start(r->iod, &r->call);
}

static void advance_later(struct remover *r, unsigned int ms)
{
	if (!r->timer.armed)
		rpc_timer_set(r->iod->mgr->ctx, &r->timer, clock_after_ms(ms));
}

static void remover_advance(struct remover *r)
{
	uint64_t handle[REMOVE_BATCH];
	uint32_t n;

	if (r->busy || r->done >= r->iod->mgr->jobs->remove_limit)
		return;
	n = collect_handles(r, handle);
	if (n) {
		send_batch(r, handle, n);
		return;
	}
	r->done = r->sent;
	if (r->done < r->iod->mgr->jobs->remove_limit)
		advance_later(r, 0);
}

static void on_timer(struct rpc_timer *timer)
{
	remover_advance(remover_of(timer));
}

void remove_open(struct mgr_iod *iod)
{
	struct remover *r = &iod->remover;

	r->iod = iod;
	r->timer.fire = on_timer;
	advance_later(r, 0);
}

void remove_durable(struct flusher_item *item)
{
	struct mgr *mgr = container_of(item, struct mgr, mark.item);

	mgr->mark.inside = false;
	mgr->jobs->remove_limit = mgr->mark.id;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		if (!mgr->jobs->iod[i].remover.busy)
			advance_later(&mgr->jobs->iod[i].remover, GATHER_MS);
}

static uint64_t all_done(struct mgr *mgr)
{
	uint64_t min = UINT64_MAX;

	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		if (mgr->jobs->iod[i].remover.done < min)
			min = mgr->jobs->iod[i].remover.done;
	return min;
}

bool remove_drop_done(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	uint64_t done = all_done(mgr), at = jobs->removed;
	struct intent in;
	int rc = 0;

	if (at >= done || ns_begin(&mgr->ns))
		return false;
	for (int i = 0; !rc && i < TIDY_MAX; i++) {
		rc = intent_next(mgr->st, INTENT_REMOVE, at, &in);
		if (rc || in.id > done) {
			at = done;
			break;
		}
		at = in.id;
		rc = intent_del(mgr->st, INTENT_REMOVE, in.id);
	}
	if (mgr_end_transaction(mgr, rc == -ENOENT ? 0 : rc, NULL))
		return false;
	jobs->removed = at;
	return at < done;
}
