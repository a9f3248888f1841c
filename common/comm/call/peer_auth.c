/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_auth.c - the client proves itself in HELLO and requires the server's proof.  In the same
 * messages they agree on sealing their connection: the client's part is in HELLO, the server's part
 * in the answer.  Each part precedes the proof, which covers it, so an attacker cannot remove it
 * unnoticed.  A server that seals rejects a client that does not.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "common/transport/tp_seal.h"
#include "common/util/random_id.h"

static const char no_proof[] =
	"it proves nothing: if it is ours, give it [filesystem] key in its "
	"configuration, with the same file as here; else another program "
	"passes for it";

void peer_auth_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr)
{
	peer->prover = attr->prover;
	peer->seal.least = attr->seal;
	peer->shake = (struct handshake){ .fsid = attr->fsid,
					  .session = attr->session,
					  .role = attr->role,
					  .server = attr->server,
					  .index = attr->index };
}

/* ---- the connect ---- */

/* A server has its key.  A client can prove nothing until it has a ticket. */
static bool can_prove(const struct prover *prover)
{
	uint8_t ticket[WIRE_TICKET_MAX];

	return prover &&
	       (!prover->ticket || prover->ticket(prover->arg, ticket));
}

static bool can_seal(const struct rpc_peer *peer)
{
	return peer->prover && peer->prover->pair && rpc_peer_seals(peer);
}

/* A peer that cannot prove itself yet may have its connection sealed later. */
int peer_auth_begin(struct rpc_peer *peer, struct wire_hail *hail,
		    const void *msg, size_t len)
{
	struct handshake *shake = &peer->shake;
	uint8_t *nonce = shake->nonce[HANDSHAKE_CALLER];
	uint32_t features = can_seal(peer) ? WIRE_FT_SEAL : 0;
	int rc;

	peer->proving = can_prove(peer->prover);
	if (peer->proving) {
		rc = random_bytes(nonce, WIRE_NONCE_LEN);
		if (rc)
			return rc;
		shake->epoch = peer->epoch;
		memcpy(hail->nonce, nonce, WIRE_NONCE_LEN);
		features |= WIRE_FT_PROOF;
	} else if (features) {
		features |= WIRE_FT_SEAL_IN_PLACE;
	}
	hail->features |= htole32(features);
	if (features & WIRE_FT_SEAL_IN_PLACE) {
		link_hear_begin(&peer->link, peer->prover, HANDSHAKE_CALLER);
		link_hear(&peer->link, HANDSHAKE_CALLER, msg, len);
	}
	return 0;
}

static const char *check_sealing(struct rpc_peer *peer, uint32_t hailed)
{
	peer->seal.agreed = can_seal(peer) && hailed & WIRE_FT_SEAL;
	if (!peer->seal.least || peer->seal.agreed || !rpc_peer_seals(peer))
		return NULL;
	return "it does not seal connections, but this host requires it: make "
	       "auth and seal in [filesystem] the same on all server hosts "
	       "(without seal, auth determines it) and restart the servers "
	       "that differ; or, if pvfstab asks for more than the servers "
	       "do, remove seal= there; otherwise an attacker intercepts the "
	       "connection";
}

const char *peer_auth_check_accept(struct rpc_peer *peer,
				   const struct wire_accept *acc,
				   const struct wire_hail *hail,
				   const void *msg, size_t len)
{
	uint32_t features = le32toh(hail->features);
	const char *flaw;

	if (features & WIRE_FT_SEAL_IN_PLACE)
		link_hear(&peer->link, HANDSHAKE_SERVER, msg, len);
	else
		peer->link.hasher = NULL;
	if (!peer->proving)
		return NULL;
	if (!(features & WIRE_FT_PROOF))
		return no_proof;
	flaw = check_sealing(peer, features);
	if (flaw)
		return flaw;
	/* any: take the server's; its proof shows whether the ticket is for it */
	if (!peer->fsid)
		peer->shake.fsid = le64toh(acc->fsid);
	peer->shake.boot = le64toh(acc->boot);
	memcpy(peer->shake.nonce[HANDSHAKE_SERVER], hail->nonce,
	       WIRE_NONCE_LEN);
	return NULL;
}

/* ---- HELLO ---- */

static int put_seal(struct rpc_peer *peer, struct wire_out *out)
{
	const struct prover *prover = peer->prover;
	struct wire_seal seal = { .mode = htole32(peer->seal.least) };
	int rc = prover->pair(prover->arg, HANDSHAKE_CALLER,
			      &peer->seal.agreement);

	if (rc)
		return rc;
	memcpy(seal.key, peer->seal.agreement->public[HANDSHAKE_CALLER],
	       sizeof(seal.key));
	wire_put(out, &seal, sizeof(seal));
	return 0;
}

int peer_auth_put_ticket(struct rpc_peer *peer, struct wire_out *out)
{
	const struct prover *prover = peer->prover;
	uint8_t ticket[WIRE_TICKET_MAX];
	struct wire_shown shown = { 0 };
	size_t len = prover->ticket ? prover->ticket(prover->arg, ticket) : 0;
	int rc = peer->seal.agreed ? put_seal(peer, out) : 0;

	if (rc)
		return rc;
	shown.len = htole32((uint32_t)len);
	if (len) {
		wire_put(out, &shown, sizeof(shown));
		wire_put(out, ticket, len);
	}
	wire_put(out, NULL, sizeof(struct wire_proof));
	return 0;
}

int peer_auth_put_proof(struct rpc_peer *peer, struct wire_hdr *hdr, size_t len)
{
	struct wire_proof proof;
	int rc;

	len -= sizeof(proof);
	hdr->flags |= htole16(peer->prover->ticket
				      ? WIRE_F_PROOF | WIRE_F_TICKET
				      : WIRE_F_PROOF) |
		      htole16(peer->seal.agreed ? WIRE_F_SEAL : 0);
	rc = peer->prover->prove(peer->prover->arg, &peer->shake,
				 HANDSHAKE_CALLER, hdr, len, &proof);
	if (rc)
		return rc;
	memcpy((uint8_t *)hdr + len, &proof, sizeof(proof));
	if (peer->seal.agreement)
		peer->seal.agreement->key = le32toh(proof.key);
	return 0;
}

/* ---- the answer to HELLO ---- */

#define INDEX_MAX 1024u /* numbers to try for another iod */

static int check_as(struct rpc_peer *peer, const struct handshake *shake,
		    const struct wire_msg *msg)
{
	return peer->prover->check(peer->prover->arg, shake, HANDSHAKE_SERVER,
				   msg->hdr,
				   le32toh(msg->hdr->len) - sizeof(*msg->proof),
				   msg->proof);
}

/*
 * If the addresses of iods are swapped, sets *index to the number of the iod that answered.
 * Returns false if it is no other iod.
 */
static bool is_other_iod(struct rpc_peer *peer, const struct wire_msg *msg,
			 uint32_t *index)
{
	struct handshake shake = peer->shake;

	if (shake.server != WIRE_ROLE_IOD)
		return false;
	for (shake.index = 0; shake.index < INDEX_MAX; shake.index++)
		if (shake.index != peer->shake.index &&
		    !check_as(peer, &shake, msg)) {
			*index = shake.index;
			return true;
		}
	return false;
}

const char *peer_auth_other_iod(const struct rpc_peer *peer, uint64_t meant,
				char *buf, size_t len)
{
	snprintf(buf, len,
		 "this is iod %u: correct the address in [iod.%u] of %s",
		 (uint32_t)(meant - wire_meant(0)), peer->shake.index,
		 peer->role == WIRE_ROLE_CLIENT
			 ? "pvfs.conf, on the manager's host"
			 : "the configuration, here or on its host");
	return buf;
}

const char *peer_auth_check_reply(struct rpc_peer *peer,
				  const struct wire_msg *msg, int *status,
				  char *buf, size_t len)
{
	uint32_t other;
	int rc;

	if (!msg->proof)
		return no_proof;
	rc = check_as(peer, &peer->shake, msg);
	if (rc == -EKEYREJECTED && is_other_iod(peer, msg, &other)) {
		if (peer->role == WIRE_ROLE_CLIENT)
			*status = -ENXIO;
		return peer_auth_other_iod(peer, wire_meant(other), buf, len);
	}
	if (rc == -ENOKEY)
		return "its key is not one of those here: give all servers "
		       "the same file of [filesystem] key, and SIGHUP; or "
		       "another program passes for it";
	if (rc == -EKEYREJECTED)
		return "its proof is not that of this server: correct its "
		       "address, if it is another one of ours; else another "
		       "program passes for it";
	return rc ? strerror(-rc) : NULL;
}

static int start_sealing(struct rpc_peer *peer, const struct wire_seal *seal)
{
	const struct prover *prover = peer->prover;
	struct seal_agreement *agreement = peer->seal.agreement;
	struct sealer *sealer;
	int rc;

	agreement->mode = le32toh(seal->mode);
	memcpy(agreement->public[HANDSHAKE_SERVER], seal -> key,
	       sizeof(seal->key));
	rc = prover->seal(prover->arg, &peer->shake, HANDSHAKE_CALLER,
			  agreement, &sealer);
	if (!rc)
		rc = link_seal(&peer->link, sealer);
	if (!rc)
		peer->seal.mode = (enum seal_mode)agreement->mode;
	return rc;
}

const char *peer_auth_seal(struct rpc_peer *peer, const struct wire_msg *msg)
{
	const struct wire_seal *seal = msg->seal;
	int rc;

	if (!peer->seal.agreed)
		return seal ? "it seals what was not to be sealed" : NULL;
	if (!seal || le32toh(seal->mode) < peer->seal.least)
		return "it seals less than it was asked for";
	rc = start_sealing(peer, seal);
	prover_unpair(peer->prover, &peer->seal.agreement);
	if (rc)
		link_fail(&peer->link, rc);
	return NULL;
}

void peer_auth_reset(struct rpc_peer *peer)
{
	prover_unpair(peer->prover, &peer->seal.agreement);
	peer->seal.agreed = false;
	peer->seal.mode = SEAL_NONE;
}

/* ---- sealing later, after an answer that is the last unsealed message ---- */

bool rpc_peer_can_seal_late(const struct rpc_peer *peer)
{
	return peer->state == PEER_READY && peer->link.hasher &&
	       !peer->bulk.link.ep;
}

void rpc_peer_stop_transcript(struct rpc_peer *peer)
{
	peer->link.hasher = NULL;
}

int rpc_peer_seal_late(struct rpc_peer *peer, uint32_t epoch,
		       const struct seal_in_place *in_place)
{
	struct sealer *sealer;
	int rc;

	if (!rpc_peer_can_seal_late(peer) || peer->epoch != epoch)
		return -ESTALE;
	rc = in_place->make(in_place->arg, &peer->link.transcript, &sealer);
	if (!rc)
		rc = link_seal(&peer->link, sealer);
	if (rc) {
		link_fail(&peer->link, rc);
		return 0;
	}
	peer->seal.agreed = true;
	peer->seal.mode = (enum seal_mode)in_place->mode;
	return 0;
}
