/* SPDX-License-Identifier: BSD-2-Clause */
/* managers.c - the other managers, and connections to them. */
#include "common/util/random_id.h"
#include "mgr/peers/peers_int.h"

struct peer *peer_find(struct peers *peers, uint64_t id)
{
	for (unsigned int i = 0; i < peers->n; i++)
		if (peers->peer[i]->manager.id == id)
			return peers->peer[i];
	return NULL;
}

bool peers_admit(const struct peers *peers, const char *peer)
{
	return peers->attr.prover ||
	       mgr_addresses_match(peers->addresses, peer);
}

int peers_connect(const struct peers_attr *attr, const struct addr *addr,
		  const char *name, bool impatient, struct rpc_peer **peer)
{
	struct rpc_cred cred = { .name = PEERS_NAME };
	struct rpc_peer_attr peer_attr = { .addr = *addr,
					   .name = name,
					   .role = WIRE_ROLE_MGR,
					   .fsid = attr->fsid,
					   .cred = &cred,
					   .prover = attr->prover,
					   .seal = attr->seal,
					   .features = WIRE_FT_RAFT,
					   .impatient = impatient,
					   .server = WIRE_ROLE_MGR };
	int rc = random_id(&peer_attr.session);

	return rc ? rc : rpc_peer_open(attr->ctx, &peer_attr, peer);
}
