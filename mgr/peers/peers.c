/* SPDX-License-Identifier: BSD-2-Clause */
/* peers.c - see peers.h. */
#include "mgr/peers/peers_int.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert(PEER_MESSAGE_MAX <= WIRE_RAFT_MAX, "a message fits");
_Static_assert(PEER_MESSAGE_MAX <= PEERS_ENTRIES_MAX, "an empty lane has room");

static int peer_open(struct peer *peer)
{
	const struct peers_attr *attr = &peer->peers->attr;
	int rc = 0;

	peer->lanes[LANE_ENTRIES] = (struct lane){ .peer = peer,
						   .what = "entries",
						   .limit = PEERS_ENTRIES_MAX };
	peer->lanes[LANE_OTHERS] = (struct lane){ .peer = peer,
						  .what = "messages",
						  .limit = PEERS_OTHERS_MAX };
	if (!attr->prover)
		rc = mgr_addresses_open(peer->manager.addr.host, attr->log,
					&peer->addresses);
	for (unsigned int i = 0; !rc && i < LANES; i++)
		rc = lane_open(&peer->lanes[i]);
	return rc;
}

static int add_peer(struct peers *peers, const struct peers_manager *manager)
{
	struct peer *peer = &peers->peer[peers->n];

	if (!manager->id || peer_find(peers, manager->id))
		return -EINVAL;
	*peer = (struct peer){ .peers = peers, .manager = *manager };
	peers->n++;
	return peer_open(peer);
}

int peers_open(const struct peers_attr *attr, struct peers **out)
{
	struct peers *peers = calloc(1, sizeof(*peers) +
						attr->n * sizeof(struct peer));
	int rc = attr->id && attr->group ? 0 : -EINVAL;

	if (!peers)
		return -ENOMEM;
	peers->attr = *attr;
	for (unsigned int i = 0; !rc && i < attr->n; i++)
		if (attr->managers[i].id != attr->id)
			rc = add_peer(peers, &attr->managers[i]);
	peers->attr.managers = NULL;
	if (rc)
		peers_close(peers);
	else
		*out = peers;
	return rc;
}

void peers_close(struct peers *peers)
{
	for (unsigned int i = 0; peers && i < peers->n; i++) {
		struct peer *peer = &peers->peer[i];

		for (unsigned int k = 0; k < LANES; k++)
			lane_close(&peer->lanes[k]);
		incoming_drop(peer);
		mgr_addresses_close(peer->addresses);
	}
	free(peers);
}

int peers_send(void *arg, uint64_t to, const void *data, size_t len)
{
	struct peer *peer = peer_find(arg, to);

	if (!peer)
		return -ENOENT;
	if (!len || len > PEER_MESSAGE_MAX)
		return -EMSGSIZE;
	return lane_send(
		&peer->lanes[peer_message_has_entries(data, len) ? LANE_ENTRIES
								 : LANE_OTHERS],
		data, len);
}
