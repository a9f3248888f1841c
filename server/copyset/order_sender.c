/* SPDX-License-Identifier: BSD-2-Clause */
/* order_sender.c - see order_sender.h. */
#include "server/copyset/order_sender.h"

#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/state/iod_peers.h"

#define AGAIN_MS 20u /* the member does not know the version yet */
#define LOST_MS 250u /* the member does not answer */

static void send_next(struct member_call *m);

/* ---- the end ---- */

static void end_member(struct member_call *m, int status)
{
	struct order_sender *s = m->sender;

	if (status && !s->status)
		s->status = status;
	if (!--s->busy)
		s->done(s, s->status);
}

/* Nothing of the order was done. */
static bool is_refusal(int status)
{
	return status == -ESTALE || status == -WIRE_ECOPYSET ||
	       status == -ENOENT;
}

/* ---- pieces ---- */

/* Fills in the regions of the next order, the bytes that they have, and what follows them. */
static uint32_t next_regions(struct member_call *m, struct wire_region *reg)
{
	const struct ordered_change *c = &m->sender->change;
	size_t left = c->len - m->pos, len;
	uint32_t n = 0;

	if (!c->mem && left > WIRE_INLINE_MAX)
		left = WIRE_INLINE_MAX;
	m->next_seg = m->seg;
	m->next_skip = m->skip;
	for (m->part = 0; left && n < WIRE_ORDER_REGIONS; left -= len) {
		len = store_piece_len(m->next_seg, m->next_skip, left);
		if (len)
			reg[n++] = (struct wire_region){
				htole64(m->next_seg->off + m->next_skip),
				htole64(len)
			};
		m->part += len;
		m->next_skip += len;
		if (m->next_skip == m->next_seg->len) {
			m->next_seg++;
			m->next_skip = 0;
		}
	}
	return n;
}

static void pass_regions(struct member_call *m)
{
	m->pos += m->part;
	m->seg = m->next_seg;
	m->skip = m->next_skip;
}

/*
 * The members read the buffers for transfers only if orders name them, so these have another
 * registration for that.
 */
static struct rail_mem *readable_memory(struct worker *w, struct rail_mem *mem)
{
	if (mem->access & TP_REMOTE_READ)
		return mem;
	if (!w->order_source.addr)
		rail_mem_init(&w->order_source, mem->addr, mem->len,
			      TP_REMOTE_READ);
	return &w->order_source;
}

/* ---- a call ---- */

static void try_again(struct rpc_timer *timer)
{
	struct member_call *m = container_of(timer, struct member_call, again);
	struct order_sender *s = m->sender;
	int rc = copyset_check(s->worker->iod->assignments, s->copyset);

	if (rc)
		end_member(m, rc);
	else
		send_next(m);
}

static void repeat_later(struct member_call *m, unsigned int ms)
{
	m->again.fire = try_again;
	rpc_timer_set(m->sender->worker->ctx, &m->again, clock_after_ms(ms));
}

static void call_complete(struct rpc_call *call)
{
	struct member_call *m = call->arg;
	struct order_sender *s = m->sender;

	if (atomic_load(&s->worker->iod->stop))
		return;
	if (!call->status) {
		s->made = true;
		pass_regions(m);
		if (m->pos < s->change.len)
			send_next(m);
		else
			end_member(m, 0);
	} else if (!call->reply.hdr) {
		s->made |= call->unsure;
		repeat_later(m, LOST_MS);
	} else if (call->status == -EAGAIN) {
		repeat_later(m, AGAIN_MS);
	} else {
		s->made |= !is_refusal(call->status);
		end_member(m, call->status);
	}
}

static struct wire_order make_body(const struct member_call *m, uint32_t nreg)
{
	const struct order_sender *s = m->sender;
	const struct ordered_change *c = &s->change;
	uint32_t self = s->worker->iod->conf.index;

	return (struct wire_order){
		.io = { .handle = htole64(s->key.handle),
			.total = htole64(m->part),
			.nreg = htole32(nreg),
			.nmem = htole32(c->mem && m->part),
			.data_len = htole32(c->mem ? 0 : (uint32_t)m->part) },
		.number = htole64(s->targets.number),
		.session = htole64(rpc_session_info(s->req->session)->id),
		.seq = htole64(s->req->seq),
		.total = htole64(c->total),
		.arg = { htole64(c->arg[0]), htole64(c->arg[1]) },
		.slot = htole32(s->req->slot),
		.origin = htole32(self),
		.primary = htole32(self),
		.kind = htole32(c->kind),
		.flags = htole32(c->flags),
	};
}

static int build_message(struct member_call *m, struct wire_out *out)
{
	const struct ordered_change *c = &m->sender->change;
	struct wire_region reg[WIRE_ORDER_REGIONS];
	uint32_t nreg = next_regions(m, reg);
	const struct wire_order body = make_body(m, nreg);
	const uint8_t *from = (const uint8_t *)c->buf + m->pos;
	struct wire_mem mem = { .addr = htole64((uintptr_t)from),
				.len = htole32((uint32_t)m->part) };

	m->data = (struct iovec){ (void *)(uintptr_t)from, m->part };
	wire_put(out, &body, sizeof(body));
	if (nreg)
		wire_put(out, reg, nreg * sizeof(reg[0]));
	if (body.io.nmem)
		wire_put(out, &mem, sizeof(mem));
	return wire_end(out, WIRE_ORDER, 0, c->mem ? 0 : m->part);
}

/* Starts the call with the message in out.  An error is a lack of memory. */
static void start_call(struct member_call *m, struct rpc_peer *peer,
		       const struct wire_out *out)
{
	struct order_sender *s = m->sender;
	const struct ordered_change *c = &s->change;
	bool pulled = c->mem && m->part;

	m->call = (struct rpc_call){
		.msg = out->buf,
		.msg_len = out->len,
		.copyset = s->copyset,
		.deadline = clock_after_ms(RPC_WAIT_MAX_MS),
		.bytes = m->part,
		.quiet = true,
		.patient = true,
		.done = call_complete,
		.arg = m,
	};
	if (pulled) {
		m->area = readable_memory(s->worker, c->mem);
		m->call.area = &m->area;
		m->call.nareas = 1;
		m->call.pieces_at = (unsigned int)(out->len -
						   sizeof(struct wire_mem));
		m->call.npieces = 1;
	} else if (m->part) {
		m->call.data = &m->data;
		m->call.ndata = 1;
	}
	rpc_call_start(peer, &m->call);
}

static void send_next(struct member_call *m)
{
	uint64_t buf[(sizeof(struct wire_hdr) + sizeof(struct wire_order) +
		      WIRE_ORDER_REGIONS * sizeof(struct wire_region) +
		      sizeof(struct wire_mem)) /
		     8];
	struct rpc_peer *peer;
	struct wire_out out;
	int rc = iod_peer_get(m->sender->worker, m->iod, &peer);

	if (rc == -EOPNOTSUPP) {
		end_member(m, rc);
		return;
	}
	if (rc) {
		repeat_later(m, LOST_MS);
		return;
	}
	wire_begin(&out, buf, sizeof(buf));
	rc = build_message(m, &out);
	if (rc < 0)
		end_member(m, rc);
	else
		start_call(m, peer, &out);
}

void order_sender_start(struct order_sender *s)
{
	unsigned int n = s->targets.n;

	s->made = false;
	s->status = 0;
	s->busy = n + 1; /* keeps s while the orders start */
	for (unsigned int i = 0; i < n; i++) {
		s->member[i] = (struct member_call){ .sender = s,
						     .iod = s->targets.iod[i],
						     .seg = s->change.seg,
						     .skip = s->change.skip };
		send_next(&s->member[i]);
	}
	if (!--s->busy)
		s->done(s, s->status);
}

void order_sender_abandon(struct order_sender *s)
{
	for (unsigned int i = 0; i < s->targets.n; i++)
		rpc_timer_clear(s->worker->ctx, &s->member[i].again);
}
