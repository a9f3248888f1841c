/* SPDX-License-Identifier: BSD-2-Clause */
/* managers.c - who the other managers are. */
#include "mgr/peers/peers_int.h"

struct peer *peer_find(struct peers *peers, uint64_t id)
{
	for (unsigned int i = 0; i < peers->n; i++)
		if (peers->peer[i].manager.id == id)
			return &peers->peer[i];
	return NULL;
}

bool peers_admit(const struct peers *peers, const char *peer)
{
	if (peers->attr.prover)
		return true;
	for (unsigned int i = 0; i < peers->n; i++)
		if (mgr_addresses_match(peers->peer[i].addresses, peer))
			return true;
	return false;
}
