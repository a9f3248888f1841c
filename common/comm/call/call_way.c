/* SPDX-License-Identifier: BSD-2-Clause */
/* call_way.c - chooses how the payload of a request is transferred: see call_way_int.h. */
#include <errno.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "common/util/usermem.h"

#define ASK_MS 30000u

static uint64_t payload(const struct peer_slot *s)
{
	const struct wire_mem *piece = slot_pieces(s);
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->npieces; i++)
		sum += le32toh(piece[i].len);
	return sum;
}

static unsigned int number(const struct peer_slot *s)
{
	return s->buffer - 1u;
}

/* ---- the server's buffers ---- */

static void answered(struct rpc_call *call)
{
	struct rpc_peer *peer = call->arg;
	const struct wire_fast_rep *rep = call->reply.body;
	struct fast_place place;

	if (call->status)
		return;
	place = (struct fast_place){ .addr = le64toh(rep->addr),
				     .rkey = le32toh(rep->rkey),
				     .size = le32toh(rep->size),
				     .count = le32toh(rep->count) };
	if (fast_peer_set(&peer->fast.theirs, &place))
		peer_protocol_error(peer, "Fast RDMA buffers that cannot be");
}

static void ask(struct ctx_task *task)
{
	struct rpc_peer *peer = container_of(task, struct rpc_peer, fast.ask);
	struct rpc_call *call = &peer->fast.call;
	uint64_t buf[sizeof(struct wire_hdr) / 8];
	struct wire_out out;

	if (call->p.peer || peer->state != PEER_READY)
		return;
	wire_begin(&out, buf, sizeof(buf));
	wire_end(&out, WIRE_FAST, 0, 0);
	*call = (struct rpc_call){ .msg = buf,
				   .msg_len = out.len,
				   .deadline = clock_after_ms(ASK_MS),
				   .quiet = true,
				   .done = answered,
				   .arg = peer };
	rpc_call_start(peer, call);
}

/* Deferred, because this may be called while calls are replayed. */
static void want_theirs(struct rpc_peer *peer)
{
	if (peer->fast.asked)
		return;
	peer->fast.asked = true;
	ctx_defer(peer->link.ctx, &peer->fast.ask);
}

/* ---- the choice ---- */

void way_limits(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++) {
		struct tp_dev *dev = ctx->rails.dev[i];
		const char *name = tp_dev_name(dev);
		struct ctx_rail *r = &ctx->rail[i];

		r->fast_max = sizes_get(&attr->fast_max, name,
					tp_dev_pins(dev) ? FAST_DATA : 0);
		r->inline_max = sizes_get(&attr->inline_max, name,
					  r->fast_max ? WAY_INLINE_FAST
						      : WAY_INLINE_MAX);
	}
}

static const struct ctx_rail *rail_of(const struct rpc_peer *peer)
{
	return &peer->link.ctx->rail[peer->link.rail];
}

uint32_t rpc_peer_inline_max(const struct rpc_peer *peer)
{
	return rail_of(peer)->inline_max;
}

static bool take(struct rpc_peer *peer, struct peer_slot *s, unsigned int count)
{
	int n = fast_take(&peer->fast.busy, count);

	s->buffer = (unsigned int)(n + 1);
	return n >= 0;
}

static bool is_inline(const struct rpc_peer *peer, const struct peer_slot *s,
		      uint64_t len)
{
	return len <= rail_of(peer)->inline_max &&
	       len <= tp_ep_carry_max(peer->link.ep) &&
	       s->npieces <= RPC_DATA_MAX &&
	       s->msg_len + len <= peer->request_max;
}

static bool own_buffers(struct rpc_peer *peer)
{
	struct rpc_ctx *ctx = peer->link.ctx;

	return peer->fast.own || !fast_open(&ctx->rails, peer->link.rail, NULL,
					    NULL, &peer->fast.own);
}

static bool registered(struct rpc_peer *peer, const struct peer_slot *s)
{
	unsigned int i;

	for (i = 0; i < s->nareas; i++) {
		if (!rail_mem_find(s->area[i], &peer->link.ctx->rails,
				   peer->link.rail))
			return false;
	}
	return true;
}

/* Registers memory that is used often.  It stays registered, so the next use finds it. */
static bool keeps_coming(struct rpc_peer *peer, const struct peer_slot *s)
{
	const struct rails *rails = &peer->link.ctx->rails;
	unsigned int rail = peer->link.rail;
	struct rail_mem *mem = s->area[0];

	return s->nareas == 1 && rail_mem_keeps(mem, rails, rail) &&
	       often_comes(&peer->fast.often, mem->addr, mem->len) &&
	       !rail_mem_on(mem, rails, rail);
}

static bool is_fast_write(struct rpc_peer *peer, struct peer_slot *s,
			  uint64_t len)
{
	if (len > rail_of(peer)->fast_max || s->msg_len + len > FAST_SIZE ||
	    s->msg_len > peer->request_max)
		return false;
	if (!peer->fast.theirs.place.count) {
		want_theirs(peer);
		return false;
	}
	s->copied = s->npieces > WAY_IN_PLACE ||
		    (!registered(peer, s) && !keeps_coming(peer, s));
	if (s->copied && !own_buffers(peer))
		return false;
	return take(peer, s, peer->fast.theirs.place.count);
}

static bool is_fast_read(struct rpc_peer *peer, struct peer_slot *s,
			 uint64_t len)
{
	return s->call->bounce && len <= rail_of(peer)->fast_max &&
	       s->npieces <= WAY_PIECES && !registered(peer, s) &&
	       own_buffers(peer) && take(peer, s, FAST_COUNT);
}

enum way way_choose(struct rpc_peer *peer, struct peer_slot *s,
		    const struct wire_hdr *hdr)
{
	unsigned int op = le16toh(hdr->op);
	uint64_t len;

	if (!s->nareas || s->ndata || s->msg_len % 8)
		return WAY_KEYS;
	len = payload(s);
	if (wire_op_reads(op))
		return is_fast_read(peer, s, len) ? WAY_FAST_READ : WAY_KEYS;
	if (!wire_op_writes(op))
		return WAY_KEYS;
	if (is_inline(peer, s, len))
		return WAY_INLINE;
	return is_fast_write(peer, s, len) ? WAY_FAST_WRITE : WAY_KEYS;
}

/* ---- the payload of writes ---- */

static struct tp_sge place_of(const struct rpc_peer *peer,
			      const struct peer_slot *s,
			      const struct wire_mem *piece, enum way way)
{
	unsigned int at = 0;
	const struct rail_mem *mem = way == WAY_INLINE
					     ? NULL
					     : call_area(s, &at, piece);

	return (struct tp_sge){ (void *)(uintptr_t)le64toh(piece->addr),
				le32toh(piece->len),
				mem ? mem->mr[peer->link.rail]->lkey
				    : TP_LKEY_NONE };
}

static int copy(struct rpc_peer *peer, struct peer_slot *s, struct tp_sge *sge)
{
	const struct wire_mem *piece = slot_pieces(s);
	char *buf = fast_buf(peer->fast.own, number(s));
	struct iovec iov[RPC_DATA_MAX];
	uint32_t len = 0;
	unsigned int i, n;
	int rc = 0;

	for (i = 0; i < s->npieces && !rc; i += n) {
		size_t part = 0;

		for (n = 0; n < RPC_DATA_MAX && i + n < s->npieces; n++) {
			iov[n].iov_base = (void *)(uintptr_t)le64toh(
				piece[i + n].addr);
			iov[n].iov_len = le32toh(piece[i + n].len);
			part += iov[n].iov_len;
		}
		rc = usermem_gather(buf + len, iov, n);
		len += (uint32_t)part;
	}
	*sge = (struct tp_sge){ buf, len, fast_lkey(peer->fast.own) };
	return rc ? rc : 1;
}

int way_gather(struct rpc_peer *peer, struct peer_slot *s, enum way way,
	       struct tp_sge *sge, bool *in_place)
{
	const struct wire_mem *piece = slot_pieces(s);
	unsigned int i;

	*in_place = way == WAY_INLINE || !s->copied;
	if (!*in_place)
		return copy(peer, s, sge);
	for (i = 0; i < s->npieces; i++)
		sge[i] = place_of(peer, s, &piece[i], way);
	return (int)i;
}

/* ---- reads ---- */

void way_bounce(struct rpc_peer *peer, struct peer_slot *s)
{
	struct wire_mem *piece = slot_pieces(s);
	uint64_t at = (uintptr_t)fast_buf(peer->fast.own, number(s));
	unsigned int i;

	for (i = 0; i < s->npieces; i++) {
		s->named[i] = piece[i].addr;
		piece[i].addr = htole64(at);
		piece[i].rkey = htole32(fast_rkey(peer->fast.own));
		at += le32toh(piece[i].len);
	}
	s->bounced = true;
}

/* For the next time that the request is sent. */
static void unbounce(struct peer_slot *s)
{
	unsigned int i;

	for (i = 0; s->bounced && i < s->npieces; i++)
		slot_pieces(s)[i].addr = s->named[i];
	s->bounced = false;
}

const void *way_landed(const struct rpc_peer *peer, const struct peer_slot *s)
{
	return s->bounced ? fast_buf(peer->fast.own, number(s)) : NULL;
}

uint32_t way_reply(const struct rpc_peer *peer, uint32_t imm, void *buf,
		   size_t max)
{
	uint32_t slot = imm & WIRE_IMM_SLOT, at = imm >> 8, len;
	const struct peer_slot *s = &peer->slots[slot];
	struct wire_hdr hdr;
	const uint8_t *from;

	if (slot >= peer->nslots || !s->bounced || !s->buffer || at > FAST_DATA)
		return 0;
	from = (const uint8_t *)way_landed(peer, s) + at;
	memcpy(&hdr, from, sizeof(hdr));
	len = le32toh(hdr.len);
	if (len < sizeof(hdr) || len > FAST_SIZE - at || len > max)
		return 0;
	memcpy(buf, from, len);
	return len;
}

/* ---- the end ---- */

void way_again(struct rpc_peer *peer, struct peer_slot *s)
{
	unbounce(s);
	way_give(peer, s);
}

void way_give(struct rpc_peer *peer, struct peer_slot *s)
{
	if (s->buffer)
		fast_give(&peer->fast.busy, number(s));
	s->buffer = 0;
	s->bounced = false;
}

void way_reset(struct rpc_peer *peer)
{
	struct peer_fast *f = &peer->fast;
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		unbounce(&peer->slots[i]);
		way_give(peer, &peer->slots[i]);
	}
	fast_close(f->own);
	f->own = NULL;
	f->theirs = (struct fast_peer){ 0 };
	/* FAST in flight is sent again on the next connection */
	f->asked = f->call.p.peer != NULL;
	ctx_undefer(peer->link.ctx, &f->ask);
}

void way_init(struct rpc_peer *peer)
{
	peer->fast.ask.run = ask;
}
