/* SPDX-License-Identifier: BSD-2-Clause */
/* slot_quota.c - which calls may have a slot: see call_int.h. */
#include "common/comm/call/call_int.h"

#define RESERVE_FROM                                                           \
	3u /* from this number of slots on, one is for urgent calls */

/* Slots in use, including those of zombies. */
struct in_use {
	unsigned int all, waiting;
	unsigned int kind, user; /* of the call's kind; of its kind and user */
};

static struct in_use count_in_use(const struct rpc_peer *peer,
				  const struct rpc_call *call)
{
	struct in_use n = { 0 };
	bool waits = call->p.kind != WIRE_WAIT_NOT;
	unsigned int i;

	for (i = 0; i < peer->nslots; i++) {
		const struct peer_slot *s = &peer->slots[i];
		bool waiting = s->kind != WIRE_WAIT_NOT;

		if (peer->free >> i & 1)
			continue;
		n.all++;
		n.waiting += waiting;
		n.kind += waits ? s->kind == call->p.kind : 1;
		n.user += s->user == call->user &&
			  (waits ? s->kind == call->p.kind : !waiting);
	}
	return n;
}

static unsigned int eighths_of(unsigned int slots, unsigned int eighths)
{
	unsigned int n = slots * eighths / 8;

	return n ? n : 1;
}

/*
 * Whether the call may take another of the `most` slots.  The `last` free ones are reserved for
 * users that have no slot yet.
 */
static bool is_fair(const struct in_use *n, unsigned int most,
		    unsigned int last, const struct rpc_call *call)
{
	return !call->user || !n->user || most - n->kind > last;
}

static bool waiting_permitted(const struct in_use *n, unsigned int slots,
			      const struct rpc_call *call)
{
	unsigned int most = eighths_of(slots,
				       call->p.kind == WIRE_WAIT_LOCK ? 3 : 5);

	return n->waiting < eighths_of(slots, 6) && n->kind < most &&
	       is_fair(n, most, most / 4, call);
}

bool slot_quota_permits(const struct rpc_peer *peer,
			const struct rpc_call *call)
{
	unsigned int slots = peer->credits < peer->nslots ? peer->credits
							  : peer->nslots;
	struct in_use n = count_in_use(peer, call);

	if (call->urgent)
		return n.all < slots;
	if (peer->keeps_slot && slots >= RESERVE_FROM)
		slots--;
	if (n.all >= slots)
		return false;
	if (call->p.kind != WIRE_WAIT_NOT)
		return waiting_permitted(&n, slots, call);
	return is_fair(&n, slots, slots / 8, call);
}
