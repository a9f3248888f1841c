/* SPDX-License-Identifier: BSD-2-Clause */
/* payload.c - the payload of requests: see payload_int.h. */
#include <errno.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "common/util/usermem.h"

static uint64_t payload_len(const struct peer_slot *s)
{
	const struct wire_mem *piece = slot_pieces(s);
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->npieces; i++)
		sum += le32toh(piece[i].len);
	return sum;
}

static unsigned int buffer_number(const struct peer_slot *s)
{
	return s->buffer - 1u;
}

/* ---- memory ---- */

struct rail_mem *payload_area(const struct peer_slot *s, unsigned int *at,
			      const struct wire_mem *piece)
{
	uint64_t addr = le64toh(piece->addr);
	unsigned int i;

	for (i = 0; i < s->nareas; i++, *at = (*at + 1) % s->nareas) {
		struct rail_mem *mem = s->area[*at];
		uint64_t off = addr - (uintptr_t)mem->addr;

		if (off < mem->len && mem->len - off >= le32toh(piece->len))
			return mem;
	}
	return NULL;
}

/* Counts a use of the range, and replaces the oldest range if it is new. */
bool copy_counts_add(struct copy_counts *c, const void *addr, size_t len)
{
	struct copied_range *r = c->range;

	while (r < c->range + COPY_COUNTS_RANGES &&
	       (r->addr != addr || r->len != len))
		r++;
	if (r == c->range + COPY_COUNTS_RANGES) {
		r = &c->range[c->next];
		c->next = (c->next + 1) % COPY_COUNTS_RANGES;
		*r = (struct copied_range){ .addr = addr, .len = len };
	}
	if (++r->times < COPY_COUNTS_LIMIT)
		return false;
	r->times = 0;
	return true;
}

/* ---- the choice ---- */

void payload_set_limits(struct rpc_ctx *ctx, const struct rpc_ctx_attr *attr)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++) {
		struct tp_dev *dev = ctx->rails.dev[i];
		const char *name = tp_dev_name(dev);
		struct ctx_rail *r = &ctx->rail[i];

		r->fast_max = sizes_get(&attr->fast_max, name,
					tp_dev_pins(dev) ? FAST_DATA : 0);
		r->inline_max = sizes_get(&attr->inline_max, name,
					  r->fast_max ? PAYLOAD_INLINE_FAST
						      : PAYLOAD_INLINE_MAX);
	}
}

static const struct ctx_rail *rail_of(const struct rpc_peer *peer)
{
	return &peer->link.ctx->rail[peer->link.rail];
}

static bool take_buffer(struct rpc_peer *peer, struct peer_slot *s,
			unsigned int count)
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

static bool open_own_buffers(struct rpc_peer *peer)
{
	struct rpc_ctx *ctx = peer->link.ctx;

	return peer->fast.own || !fast_open(&ctx->rails, peer->link.rail, NULL,
					    NULL, &peer->fast.own);
}

static bool is_registered(struct rpc_peer *peer, const struct peer_slot *s)
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
static bool register_if_frequent(struct rpc_peer *peer,
				 const struct peer_slot *s)
{
	const struct rails *rails = &peer->link.ctx->rails;
	unsigned int rail = peer->link.rail;
	struct rail_mem *mem = s->area[0];

	return s->nareas == 1 && rail_mem_keeps(mem, rails, rail) &&
	       copy_counts_add(&peer->fast.counts, mem->addr, mem->len) &&
	       !rail_mem_on(mem, rails, rail);
}

static bool try_fast_write(struct rpc_peer *peer, struct peer_slot *s,
			   uint64_t len)
{
	if (len > rail_of(peer)->fast_max || s->msg_len + len > FAST_SIZE ||
	    s->msg_len > peer->request_max)
		return false;
	if (!peer->fast.theirs.place.count) {
		/* deferred, because calls may be sent again now */
		if (!peer->fast.asked)
			ctx_defer(peer->link.ctx, &peer->fast.ask);
		peer->fast.asked = true;
		return false;
	}
	s->copied = s->npieces > PAYLOAD_IN_PLACE_PIECES ||
		    (!is_registered(peer, s) && !register_if_frequent(peer, s));
	if (s->copied && !open_own_buffers(peer))
		return false;
	return take_buffer(peer, s, peer->fast.theirs.place.count);
}

static bool try_fast_read(struct rpc_peer *peer, struct peer_slot *s,
			  uint64_t len)
{
	return s->call->bounce && len <= rail_of(peer)->fast_max &&
	       s->npieces <= PAYLOAD_BOUNCE_PIECES && !is_registered(peer, s) &&
	       open_own_buffers(peer) && take_buffer(peer, s, FAST_COUNT);
}

enum payload_path payload_choose_path(struct rpc_peer *peer,
				      struct peer_slot *s,
				      const struct wire_hdr *hdr)
{
	unsigned int op = le16toh(hdr->op);
	uint64_t len;

	if (!s->nareas || s->ndata || s->msg_len % 8)
		return PAYLOAD_DIRECT;
	len = payload_len(s);
	if (wire_op_reads(op))
		return try_fast_read(peer, s, len) ? PAYLOAD_FAST_READ
						   : PAYLOAD_DIRECT;
	if (!wire_op_writes(op))
		return PAYLOAD_DIRECT;
	if (is_inline(peer, s, len))
		return PAYLOAD_INLINE;
	return try_fast_write(peer, s, len) ? PAYLOAD_FAST_WRITE
					    : PAYLOAD_DIRECT;
}

/* ---- the request ---- */

static struct tp_sge piece_in_place(const struct rpc_peer *peer,
				    const struct peer_slot *s,
				    const struct wire_mem *piece,
				    enum payload_path path)
{
	unsigned int at = 0;
	const struct rail_mem *mem = path == PAYLOAD_INLINE
					     ? NULL
					     : payload_area(s, &at, piece);

	return (struct tp_sge){ (void *)(uintptr_t)le64toh(piece->addr),
				le32toh(piece->len),
				mem ? mem->mr[peer->link.rail]->lkey
				    : TP_LKEY_NONE };
}

static int copy_pieces(struct rpc_peer *peer, struct peer_slot *s,
		       struct tp_sge *sge)
{
	const struct wire_mem *piece = slot_pieces(s);
	char *buf = fast_buf(peer->fast.own, buffer_number(s));
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

/* Fills in the keys of the pieces, for the rail of this connection. */
static int fill_keys(struct rpc_peer *peer, const struct peer_slot *s)
{
	struct wire_mem *piece = slot_pieces(s);
	unsigned int rail = peer->link.rail, at = 0, k;
	int rc;

	for (k = 0; k < s->npieces; k++) {
		struct rail_mem *mem = payload_area(s, &at, &piece[k]);

		if (!mem)
			return -EINVAL;
		rc = rail_mem_on(mem, &peer->link.ctx->rails, rail);
		if (rc)
			return rc;
		piece[k].rkey = htole32(mem->mr[rail]->rkey);
	}
	return 0;
}

/* Names our buffer in the message instead of the caller's memory. */
static void name_own_buffer(struct rpc_peer *peer, struct peer_slot *s)
{
	struct wire_mem *piece = slot_pieces(s);
	uint64_t at = (uintptr_t)fast_buf(peer->fast.own, buffer_number(s));
	unsigned int i;

	for (i = 0; i < s->npieces; i++) {
		s->caller_addr[i] = piece[i].addr;
		piece[i].addr = htole64(at);
		piece[i].rkey = htole32(fast_rkey(peer->fast.own));
		at += le32toh(piece[i].len);
	}
	s->bounced = true;
}

int payload_prepare(struct rpc_peer *peer, struct peer_slot *s,
		    enum payload_path path, struct tp_sge *sge)
{
	const struct wire_mem *piece = slot_pieces(s);
	unsigned int i;

	switch (path) {
	case PAYLOAD_DIRECT:
		return s->nareas ? fill_keys(peer, s) : 0;
	case PAYLOAD_FAST_READ:
		name_own_buffer(peer, s);
		return 0;
	case PAYLOAD_FAST_WRITE:
		if (s->copied)
			return copy_pieces(peer, s, sge);
		break;
	case PAYLOAD_INLINE:
		break;
	}
	s->sending = true;
	for (i = 0; i < s->npieces; i++)
		sge[i] = piece_in_place(peer, s, &piece[i], path);
	return (int)i;
}

/* ---- the reply ---- */

/* For the next time that the request is sent. */
static void restore_addresses(struct peer_slot *s)
{
	unsigned int i;

	for (i = 0; s->bounced && i < s->npieces; i++)
		slot_pieces(s)[i].addr = s->caller_addr[i];
	s->bounced = false;
}

const void *payload_bounced(const struct rpc_peer *peer,
			    const struct peer_slot *s)
{
	return s->bounced ? fast_buf(peer->fast.own, buffer_number(s)) : NULL;
}

uint32_t payload_copy_reply(const struct rpc_peer *peer, uint32_t imm,
			    void *buf, size_t max)
{
	uint32_t slot = imm & WIRE_IMM_SLOT, at = imm >> 8, len;
	const struct peer_slot *s = &peer->slots[slot];
	struct wire_hdr hdr;
	const uint8_t *from;

	if (slot >= peer->nslots || !s->bounced || !s->buffer || at > FAST_DATA)
		return 0;
	from = (const uint8_t *)payload_bounced(peer, s) + at;
	memcpy(&hdr, from, sizeof(hdr));
	len = le32toh(hdr.len);
	if (len < sizeof(hdr) || len > FAST_SIZE - at || len > max)
		return 0;
	memcpy(buf, from, len);
	return len;
}

/* ---- the end ---- */

void payload_undo(struct rpc_peer *peer, struct peer_slot *s)
{
	restore_addresses(s);
	payload_free_buffer(peer, s);
}

void payload_free_buffer(struct rpc_peer *peer, struct peer_slot *s)
{
	if (s->buffer)
		fast_give(&peer->fast.busy, buffer_number(s));
	s->buffer = 0;
	s->bounced = false;
}

void payload_reset(struct rpc_peer *peer)
{
	struct peer_fast *f = &peer->fast;
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		restore_addresses(&peer->slots[i]);
		payload_free_buffer(peer, &peer->slots[i]);
	}
	fast_close(f->own);
	f->own = NULL;
	f->theirs = (struct fast_peer){ 0 };
	/* FAST in flight is sent again on the next connection */
	f->asked = f->call.p.peer != NULL;
	ctx_undefer(peer->link.ctx, &f->ask);
}

bool payload_is_offloaded(const struct rpc_link *link)
{
	return tp_dev_pins(link->ctx->rails.dev[link->rail]) ||
	       tp_ep_carry_max(link->ep) < UINT32_MAX;
}

/* ---- counts ---- */

static void count_one(atomic_uint_least64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* A call that reads or writes and names no memory has its payload in a message. */
void payload_count(struct rpc_peer *peer, const struct peer_slot *s,
		   const struct wire_hdr *hdr, enum payload_path path)
{
	unsigned int op = le16toh(hdr->op);

	if (!wire_op_reads(op) && !wire_op_writes(op))
		return;
	if (!s->nareas)
		path = PAYLOAD_INLINE;
	count_one(&peer->link.ctx->rail[peer->link.rail].payloads[path]);
}

void payload_count_whole(struct rpc_peer *peer)
{
	count_one(&peer->link.ctx->rail[peer->link.rail].whole);
}
