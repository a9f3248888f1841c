/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_seal.c - a client and its server agree on sealing their connection.  The client's part is
 * in HELLO, the server's part in the answer, each before the proof.  So the proofs reveal the
 * removal of a part, and a server that seals refuses a client that does not.
 */
#include <errno.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "common/transport/tp_seal.h"

bool rpc_peer_seals(const struct rpc_peer *peer)
{
	const struct link *link = &peer->link;

	return link->ep && tp_dev_seals(link->ctx->rails.dev[link->rail]);
}

enum seal_mode rpc_peer_seal(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY ? peer->seal.mode : SEAL_NONE;
}

uint32_t peer_seal_hail(const struct rpc_peer *peer)
{
	return peer->prover && peer->prover->pair && rpc_peer_seals(peer)
		       ? WIRE_FT_SEAL
		       : 0;
}

const char *peer_seal_agreed(struct rpc_peer *peer, uint32_t hailed)
{
	peer->seal.agreed = peer_seal_hail(peer) && hailed & WIRE_FT_SEAL;
	if (!peer->seal.least || peer->seal.agreed || !rpc_peer_seals(peer))
		return NULL;
	return "it does not seal connections, and here less is not taken: auth "
	       "and seal in [filesystem] have to be the same on all server "
	       "hosts (without seal it follows auth): correct them where they "
	       "are not and restart those servers, or, if pvfstab asks for "
	       "more than the servers do, take its seal= out; or somebody sits "
	       "between";
}

static int put(struct rpc_peer *peer, struct wire_out *out)
{
	struct wire_seal seal = { .mode = htole32(peer->seal.least) };

	memcpy(seal.key, peer->seal.pact->public[HANDSHAKE_CALLER],
	       sizeof(seal.key));
	wire_put(out, &seal, sizeof(seal));
	return 0;
}

int peer_seal_put(struct rpc_peer *peer, struct wire_out *out)
{
	const struct prover *prover = peer->prover;
	int rc;

	if (!peer->seal.agreed)
		return 0;
	rc = prover->pair(prover->arg, HANDSHAKE_CALLER, &peer->seal.pact);
	return rc ? rc : put(peer, out);
}

uint16_t peer_seal_flag(const struct rpc_peer *peer)
{
	return peer->seal.agreed ? WIRE_F_SEAL : 0;
}

static int start(struct rpc_peer *peer, const struct wire_seal *seal)
{
	const struct prover *prover = peer->prover;
	struct seal_pact *pact = peer->seal.pact;
	struct sealer *sealer;
	int rc;

	pact->mode = le32toh(seal->mode);
	memcpy(pact->public[HANDSHAKE_SERVER], seal -> key, sizeof(seal->key));
	rc = prover->seal(prover->arg, &peer->shake, HANDSHAKE_CALLER, pact,
			  &sealer);
	if (!rc)
		rc = link_seal(&peer->link, sealer);
	if (!rc)
		peer->seal.mode = (enum seal_mode)pact->mode;
	return rc;
}

const char *peer_seal_begin(struct rpc_peer *peer, const struct wire_msg *msg)
{
	const struct wire_seal *seal = msg->seal;
	int rc;

	if (!peer->seal.agreed)
		return seal ? "it seals what was not to be sealed" : NULL;
	if (!seal || le32toh(seal->mode) < peer->seal.least)
		return "it seals less than it was asked for";
	rc = start(peer, seal);
	prover_unpair(peer->prover, &peer->seal.pact);
	if (rc)
		link_fail(&peer->link, rc);
	return NULL;
}

/* ---- sealing in place ---- */

void peer_here_hail(struct rpc_peer *peer, struct wire_hail *hail)
{
	if (!peer->proving && peer_seal_hail(peer))
		hail->features |= htole32(WIRE_FT_HERE);
}

void peer_here_begin(struct rpc_peer *peer, const struct wire_hail *hail,
		     const void *msg, size_t len)
{
	if (!(le32toh(hail->features) & WIRE_FT_HERE))
		return;
	link_hear_begin(&peer->link, peer->prover, HANDSHAKE_CALLER);
	link_hear(&peer->link, HANDSHAKE_CALLER, msg, len);
}

void peer_here_agreed(struct rpc_peer *peer, const struct wire_hail *hail,
		      const void *msg, size_t len)
{
	if (le32toh(hail->features) & WIRE_FT_HERE)
		link_hear(&peer->link, HANDSHAKE_SERVER, msg, len);
	else
		peer->link.hears = NULL;
}

bool rpc_peer_here(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY && peer->link.hears &&
	       !peer->apart.link.ep;
}

void rpc_peer_not_here(struct rpc_peer *peer)
{
	peer->link.hears = NULL;
}

int rpc_peer_seal_here(struct rpc_peer *peer, uint32_t epoch,
		       const struct seal_in_place *here)
{
	struct sealer *sealer;
	int rc;

	if (!rpc_peer_here(peer) || peer->epoch != epoch)
		return -ESTALE;
	rc = here->make(here->arg, &peer->link.heard, &sealer);
	if (!rc)
		rc = link_seal(&peer->link, sealer);
	if (rc) {
		link_fail(&peer->link, rc);
		return 0;
	}
	peer->seal.agreed = true;
	peer->seal.mode = (enum seal_mode)here->mode;
	return 0;
}

void peer_seal_reset(struct rpc_peer *peer)
{
	prover_unpair(peer->prover, &peer->seal.pact);
	peer->seal.agreed = false;
	peer->seal.mode = SEAL_NONE;
}

void rpc_peer_renew(struct rpc_peer *peer)
{
	if (peer->state == PEER_READY)
		peer_again(peer);
}
