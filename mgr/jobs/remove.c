/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remove.c - removes the objects of removed files, after the reply to the client.  The
 * intents are a queue on disk.  Each iod has its own position in the queue and takes up
 * to 128 objects in one message.  An intent is deleted when every iod is past it.
 */
#include <errno.h>
#include <string.h>

#include "mgr/copyset/copyset_rows.h"
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

/* ---- the objects of a message ---- */

struct remove_batch {
	uint64_t handle[REMOVE_BATCH]; /* as on the wire */
	le32 copyset[REMOVE_BATCH];
	uint32_t n;
	bool has_copysets; /* not all are 0 */
};

static void add_object(const struct remover *r, const struct intent *in,
		       uint32_t copyset, struct remove_batch *b)
{
	b->handle[b->n] = handle_to_wire(r->iod->mgr->st, in->handle);
	b->copyset[b->n++] = htole32(copyset);
	b->has_copysets |= copyset != 0;
}

/* From server r->server on.  1: all are in the batch; 0: the batch is full; -errno. */
static int add_of_ring(struct remover *r, const struct intent *in,
		       struct remove_batch *b)
{
	struct store *st = r->iod->mgr->st;
	struct copyset set;
	struct ring ring;
	int rc = ring_get(st, in->dist.ring, &ring);

	for (; !rc && r->server < in->dist.pcount; r->server++) {
		if (b->n == REMOVE_BATCH)
			return 0;
		rc = copyset_get(st, copyset_of(&in->dist, &ring, r->server),
				 &set);
		if (!rc && copyset_has_member(&set, r->iod->index))
			add_object(r, in, set.id, b);
	}
	return rc ? rc : 1;
}

/* The same for any layout. */
static int add_objects(struct remover *r, const struct intent *in,
		       struct remove_batch *b)
{
	const struct ring ring = ring_of_iods(r->iod->mgr->conf.niods);

	if (in->dist.ring)
		return add_of_ring(r, in, b);
	if (b->n == REMOVE_BATCH)
		return 0;
	if (copyset_has(r->iod->index, &in->dist, &ring))
		add_object(r, in, 0, b);
	return 1;
}

/*
 * If the rows of its layout cannot be read, which the store has logged, the objects stay; pvfs-fsck
 * finds them.
 */
static int add_intent(struct remover *r, const struct intent *in,
		      struct remove_batch *b)
{
	if (!add_objects(r, in, b))
		return 0;
	r->server = 0;
	r->sent = in->id;
	return 1;
}

/* Reads the next few intents; 0: no more for now. */
static int collect_some(struct remover *r, struct remove_batch *b)
{
	struct mgr *mgr = r->iod->mgr;
	struct intent in[SCAN];
	uint32_t room = REMOVE_BATCH - b->n;
	int got;

	got = intent_read(mgr->st, INTENT_REMOVE, r->sent, in,
			  room < SCAN ? room : SCAN);
	for (int i = 0; i < got; i++) {
		if (in[i].id > mgr->jobs->remove_limit)
			return 0;
		if (!add_intent(r, &in[i], b))
			break;
	}
	return got;
}

/* Collects objects for the next message; r->sent: intents up to here are covered. */
static void collect_objects(struct remover *r, struct remove_batch *b)
{
	for (int i = 0; i < LOOKS && b->n < REMOVE_BATCH; i++) {
		if (collect_some(r, b) > 0)
			continue;
		r->sent = r->iod->mgr->jobs->remove_limit;
		break;
	}
}

/* ---- the queue of an iod ---- */

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

static void send_batch(struct remover *r, const struct remove_batch *b)
{
	uint32_t copysets = b->has_copysets ? b->n : 0;
	struct wire_remove body = { htole32(b->n), htole32(copysets) };
	struct wire_out out;

	wire_begin(&out, r->msg, sizeof(r->msg));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, b->handle, b->n * sizeof(b->handle[0]));
	wire_put(&out, b->copyset, copysets * sizeof(b->copyset[0]));
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
	struct remove_batch b;

	if (r->busy || r->done >= r->iod->mgr->jobs->remove_limit)
		return;
	b.n = 0;
	b.has_copysets = false;
	collect_objects(r, &b);
	if (b.n) {
		send_batch(r, &b);
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
