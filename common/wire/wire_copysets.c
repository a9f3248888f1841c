/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_copysets.c - checks rings, copysets, orders, promises and keys of objects: COPYSETS, ORDER,
 * PROMISE, ASSIGN, OUTCOME, REMOVE, OBJECTS.
 */
#include "common/wire/wire_form.h"

static const char *check_ring(const struct wire_ring *ring)
{
	uint32_t first = le32toh(ring->first), n = le32toh(ring->n);

	if (!ring->copies || le32toh(ring->copies) > WIRE_COPIES_MAX)
		return "wire_ring.copies: zero, or too large";
	if (!n || n > WIRE_RING_MAX)
		return "wire_ring.n: zero, or too large";
	if (le32toh(ring->id) >= WIRE_RINGS_MAX)
		return "wire_ring.id: too large";
	if (ring->id ? first < WIRE_COPYSET_MIN : first != 0)
		return "wire_ring.first: a copyset of another ring";
	if (first > WIRE_COPYSET_END - n || (!ring->id && n > WIRE_COPYSET_MIN))
		return "wire_ring.n: beyond the last copyset";
	return NULL;
}

static const char *check_members(const struct wire_copyset *set)
{
	uint32_t n = le32toh(set->n);

	if (!n || n > WIRE_COPIES_MAX)
		return "wire_copyset.n: zero, or too large";
	for (uint32_t i = 0; i < WIRE_COPIES_MAX; i++) {
		uint16_t iod = le16toh(set->member[i].iod);
		uint16_t state = le16toh(set->member[i].state);

		if (i >= n && (iod || state))
			return "wire_copyset.member: of no use, not zero";
		if (iod >= WIRE_IOD_MAX)
			return "wire_copyset.member.iod: too large";
		if (state >= WIRE_CS_END)
			return "wire_copyset.member.state: too large";
	}
	return NULL;
}

static bool is_copyset(uint32_t id)
{
	return id >= WIRE_COPYSET_MIN && id < WIRE_COPYSET_END;
}

static const char *check_copyset(const struct wire_copyset *set)
{
	if (!is_copyset(le32toh(set->id)))
		return "wire_copyset.id: out of range";
	if (!set->version)
		return "wire_copyset.version: zero";
	if (set->zero)
		return "wire_copyset.zero: reserved, not zero";
	return check_members(set);
}

/* The tail is an array of copysets in ascending order. */
static const char *check_copysets(const struct wire_tail *tail)
{
	const struct wire_copyset *set = tail->ptr;
	size_t n = tail->len / sizeof(*set);
	const char *why = NULL;

	for (size_t i = 0; !why && i < n; i++) {
		why = check_copyset(&set[i]);
		if (!why && i && le32toh(set[i].id) <= le32toh(set[i - 1].id))
			why = "wire_copyset.id: out of order";
	}
	return why;
}

const char *wire_check_copysets_rep(const struct wire_msg *msg)
{
	const struct wire_ring *ring = msg->tail[0].ptr;
	size_t rings = msg->tail[0].len / sizeof(*ring);
	const char *why = NULL;

	for (size_t i = 0; !why && i < rings; i++) {
		why = check_ring(&ring[i]);
		if (!why && i && le32toh(ring[i].id) <= le32toh(ring[i - 1].id))
			why = "wire_ring.id: out of order";
	}
	return why ? why : check_copysets(&msg->tail[1]);
}

/* ---- orders of the manager ---- */

static const char *check_ended(const struct wire_tail *tail)
{
	const struct wire_ended *ended = tail->ptr;
	size_t n = tail->len / sizeof(*ended);

	for (size_t i = 0; i < n; i++) {
		if (!ended[i].process)
			return "wire_ended.process: zero";
		if (le32toh(ended[i].iod) >= WIRE_IOD_MAX)
			return "wire_ended.iod: too large";
		if (ended[i].zero)
			return "wire_ended.zero: reserved, not zero";
	}
	return NULL;
}

const char *wire_check_assign(const struct wire_msg *msg)
{
	const char *why = check_copysets(&msg->tail[0]);

	return why ? why : check_ended(&msg->tail[1]);
}

/* 0 is the own copyset of the iod. */
static bool is_key_copyset(uint32_t id)
{
	return !id || is_copyset(id);
}

const char *wire_check_remove(const struct wire_msg *msg)
{
	const struct wire_remove *body = msg->body;
	const le32 *copyset = msg->tail[1].ptr;
	uint32_t n = le32toh(body->copysets);

	if (n && n != le32toh(body->n))
		return "wire_remove.copysets: not one of each object";
	for (uint32_t i = 0; i < n; i++)
		if (!is_key_copyset(le32toh(copyset[i])))
			return "wire_remove: a copyset that is out of range";
	return NULL;
}

const char *wire_check_walk(const struct wire_msg *msg)
{
	const struct wire_walk *body = msg->body;
	uint32_t keys = le32toh(body->keys);

	if (keys && !(keys & WIRE_WALK_KEYS))
		return "wire_walk.keys: a copyset without KEYS";
	return is_key_copyset(keys & ~WIRE_WALK_KEYS)
		       ? NULL
		       : "wire_walk.keys: a copyset that is out of range";
}

static const char *check_order_args(const struct wire_order *body)
{
	switch (le32toh(body->kind)) {
	case WIRE_ORDER_WRITE:
		return body->arg[0] || body->arg[1]
			       ? "wire_order.arg: of no use, not zero"
			       : NULL;
	case WIRE_ORDER_RESIZE:
		return le64toh(body->arg[0]) > INT64_MAX
			       ? "wire_order.arg: a size above 2^63 - 1"
			       : NULL;
	case WIRE_ORDER_SPACE:
		return wire_check_space(body->arg[0], body->arg[1],
					le32toh(body->flags));
	default:
		return le64toh(body->arg[1]) >= WIRE_COUNTERS
			       ? "wire_order.arg: no such counter"
			       : NULL;
	}
}

/* The request of which the order is a part.  change_records.h relies on it. */
static const char *check_order_request(const struct wire_order *body)
{
	uint64_t total = le64toh(body->total);

	if (!body->seq)
		return "wire_order.seq: zero";
	if (le32toh(body->slot) > UINT16_MAX)
		return "wire_order.slot: too large";
	if (total > INT64_MAX || total < le64toh(body->io.total))
		return "wire_order.total: too large, or less than io.total";
	return NULL;
}

const char *wire_check_order(const struct wire_msg *msg)
{
	const struct wire_order *body = msg->body;
	uint32_t kind = le32toh(body->kind);
	const char *why = check_order_args(body);

	if (!why)
		why = check_order_request(body);
	if (why)
		return why;
	if (!wire_copyset(msg->hdr).id)
		return "wire_order: without a copyset";
	if (le32toh(body->origin) >= WIRE_IOD_MAX ||
	    le32toh(body->primary) >= WIRE_IOD_MAX)
		return "wire_order.origin, primary: too large";
	if (body->io.flags)
		return "wire_order.io.flags: reserved, not zero";
	if (kind != WIRE_ORDER_SPACE && body->flags)
		return "wire_order.flags: of no use, not zero";
	if (kind == WIRE_ORDER_WRITE)
		return wire_check_write(msg);
	return body->io.total || body->io.nreg || body->io.nmem ||
			       body->io.data_len || body->total
		       ? "wire_order.io: of no use, not zero"
		       : NULL;
}

static const char *check_promised(const struct wire_promised *promised)
{
	if (!is_copyset(le32toh(promised->copyset)))
		return "wire_promised.copyset: out of range";
	if (!promised->version)
		return "wire_promised.version: zero";
	if (le32toh(promised->flags) & ~WIRE_PR_LENT)
		return "wire_promised.flags: unknown bits";
	return NULL;
}

const char *wire_check_promise(const struct wire_msg *msg)
{
	const struct wire_promised *promised = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*promised);
	const char *why = NULL;

	for (size_t i = 0; !why && i < n; i++) {
		why = check_promised(&promised[i]);
		if (!why && i &&
		    le32toh(promised[i].copyset) <=
			    le32toh(promised[i - 1].copyset))
			why = "wire_promised.copyset: out of order";
	}
	return why;
}

const char *wire_check_outcome(const struct wire_msg *msg)
{
	return wire_copyset(msg->hdr).id ? NULL
					 : "wire_outcome: without a copyset";
}
