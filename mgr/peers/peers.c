/* SPDX-License-Identifier: BSD-2-Clause */
/* peers.c - see peers.h. */
#include "mgr/peers/peers_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(PEER_MESSAGE_MAX <= WIRE_RAFT_MAX, "a message fits");
_Static_assert(PEER_MESSAGE_MAX <= PEERS_ENTRIES_MAX, "an empty lane has room");

static void peer_close(struct peer *peer)
{
	for (unsigned int k = 0; k < LANES; k++)
		lane_close(&peer->lanes[k]);
	incoming_drop(peer);
	free(peer);
}

static int peer_open(struct peers *peers, const struct peers_manager *manager,
		     struct peer **out)
{
	struct peer *peer = malloc(sizeof(*peer));
	int rc = 0;

	if (!peer)
		return -ENOMEM;
	*peer = (struct peer){ .peers = peers, .manager = *manager };
	peer->lanes[LANE_ENTRIES] = (struct lane){ .peer = peer,
						   .what = "entries",
						   .limit = PEERS_ENTRIES_MAX };
	peer->lanes[LANE_OTHERS] = (struct lane){ .peer = peer,
						  .what = "messages",
						  .limit = PEERS_OTHERS_MAX };
	for (unsigned int i = 0; !rc && i < LANES; i++)
		rc = lane_open(&peer->lanes[i]);
	if (rc)
		peer_close(peer);
	else
		*out = peer;
	return rc;
}

static bool is_same(const struct peers_manager *a,
		    const struct peers_manager *b)
{
	return a->id == b->id && a->addr.port == b->addr.port &&
	       !strcmp(a->addr.scheme, b->addr.scheme) &&
	       !strcmp(a->addr.host, b->addr.host);
}

static bool list_includes(const struct peers_manager *managers, unsigned int n,
			  const struct peers_manager *which)
{
	for (unsigned int i = 0; i < n; i++)
		if (is_same(&managers[i], which))
			return true;
	return false;
}

static int check_managers(const struct peers_manager *managers, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k <= i; k++)
			if (!managers[i].id ||
			    (k < i && managers[k].id == managers[i].id))
				return -EINVAL;
	return n > WIRE_MEMBERS_MAX ? -EINVAL : 0;
}

/*
 * Closes the connections to managers that are not in the list. -EBUSY: a message of one of them is
 * being read, so that connection stays open.
 */
static int close_others(struct peers *peers,
			const struct peers_manager *managers, unsigned int n)
{
	unsigned int left = 0;
	int rc = 0;

	for (unsigned int i = 0; i < peers->n; i++) {
		struct peer *peer = peers->peer[i];
		bool stays = list_includes(managers, n, &peer->manager);

		if (!stays && peer->incoming)
			rc = -EBUSY;
		if (stays || peer->incoming) {
			peers->peer[left++] = peer;
			continue;
		}
		incoming_reply_all(peer);
		peer_close(peer);
	}
	peers->n = left;
	return rc;
}

int peers_set(struct peers *peers, const struct peers_manager *managers,
	      unsigned int n)
{
	int rc = check_managers(managers, n);

	if (!rc)
		rc = close_others(peers, managers, n);
	for (unsigned int i = 0; !rc && i < n; i++) {
		if (managers[i].id == peers->attr.id ||
		    peer_find(peers, managers[i].id))
			continue;
		rc = peer_open(peers, &managers[i], &peers->peer[peers->n]);
		peers->n += !rc;
	}
	return rc;
}

int peers_open(const struct peers_attr *attr, struct peers **out)
{
	struct peers *peers;
	int rc = 0;

	if (!attr->id || !attr->group)
		return -EINVAL;
	peers = calloc(1, sizeof(*peers));
	if (!peers)
		return -ENOMEM;
	peers->attr = *attr;
	peers->attr.hosts = NULL;
	if (!attr->prover)
		rc = mgr_addresses_open(attr->hosts, attr->log,
					&peers->addresses);
	if (rc)
		peers_close(peers);
	else
		*out = peers;
	return rc;
}

void peers_reply_late(struct peers *peers)
{
	for (unsigned int i = 0; peers && i < peers->n; i++)
		incoming_reply_late(peers->peer[i]);
}

void peers_reply_all(struct peers *peers)
{
	for (unsigned int i = 0; peers && i < peers->n; i++)
		incoming_reply_all(peers->peer[i]);
}

void peers_close(struct peers *peers)
{
	if (!peers)
		return;
	for (unsigned int i = 0; i < peers->n; i++)
		peer_close(peers->peer[i]);
	mgr_addresses_close(peers->addresses);
	free(peers);
}

int peers_send(void *arg, uint64_t to, const void *data, size_t len)
{
	struct peer *peer = peer_find(arg, to);

	if (!peer)
		return -ENOENT;
	if (!len || len > PEER_MESSAGE_MAX)
		return -EMSGSIZE;
	if (peer_message_is_result(data, len) &&
	    incoming_reply(peer, data, len))
		return 0;
	return lane_send(
		&peer->lanes[peer_message_has_entries(data, len) ? LANE_ENTRIES
								 : LANE_OTHERS],
		data, len);
}
