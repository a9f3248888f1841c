/* SPDX-License-Identifier: BSD-2-Clause */
/* managers_service.c - see managers_service.h. */
#include "mgr/managers_service.h"

#include <errno.h>
#include <string.h>

#include "mgr/group/group.h"

/* ---- the state ---- */

static void put_member(struct wire_out *out, const struct member_peer_status *m)
{
	struct wire_member member = {
		.id = htole64(m->id),
		.lag = htole64(m->lag),
		.flags = htole32((m->voter ? WIRE_MM_VOTER : 0) |
				 (m->recent ? WIRE_MM_RECENT : 0))
	};

	memcpy(member.uri, m->address, strnlen(m->address, sizeof(member.uri)));
	wire_put(out, &member, sizeof(member));
}

static void put_group(struct wire_out *out, const struct mgr *mgr)
{
	struct member_status s;
	struct wire_managers_rep rep;

	mgr_group_get_status(mgr->group, &s);
	rep = (struct wire_managers_rep){
		.group = htole64(mgr->conf.fsid),
		.term = htole64(s.term),
		.leader = htole64(s.leader),
		.self = htole64(mgr_group_id(mgr->group)),
		.first = htole64(s.first),
		.last = htole64(s.last),
		.committed = htole64(s.committed),
		.applied = htole64(s.applied),
		.log_bytes = htole64(s.log_bytes),
		.log_limit = htole64(s.log_limit),
		.role = htole32(s.role),
		.flags = htole32((s.lease ? WIRE_MS_LEASE : 0) |
				 (s.log_full ? WIRE_MS_FULL : 0)),
		.n = htole32(s.n),
	};
	wire_put(out, &rep, sizeof(rep));
	for (unsigned int i = 0; i < s.n; i++)
		put_member(out, &s.peers[i]);
}

_Static_assert(MEMBERS_MAX == WIRE_MEMBERS_MAX, "all members fit");
_Static_assert((int)MEMBER_FOLLOWER == WIRE_MR_FOLLOWER &&
		       (int)MEMBER_CANDIDATE == WIRE_MR_CANDIDATE &&
		       (int)MEMBER_LEADER == WIRE_MR_LEADER,
	       "roles");

/* There is one manager, without a group. */
static void put_alone(struct wire_out *out)
{
	const struct wire_managers_rep rep = { .role = htole32(
						       WIRE_MR_LEADER) };

	wire_put(out, &rep, sizeof(rep));
}

static void answer_state(struct mgr *mgr, struct rpc_req *rpc)
{
	struct wire_out *out = rpc_reply_begin(rpc);

	if (mgr->group)
		put_group(out, mgr);
	else
		put_alone(out);
	rpc_reply_end(rpc, 0, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

/* ---- the request ---- */

bool managers_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	const struct wire_managers *body = rpc->msg.body;

	if (rpc->op != WIRE_MANAGERS)
		return false;
	if (le32toh(body->cmd) == WIRE_MA_STATUS)
		answer_state(mgr, rpc);
	else
		rpc_reply_status(rpc, -ENOSYS);
	return true;
}
