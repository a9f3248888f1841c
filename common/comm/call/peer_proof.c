/* SPDX-License-Identifier: BSD-2-Clause */
/* peer_proof.c - the client proves itself in HELLO and requires the server's proof. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "common/util/random_id.h"

static const char none[] =
	"it proves nothing: if it is ours, give it [filesystem] key in its "
	"configuration, with the same file as here; else another program "
	"passes for it";

void peer_proof_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr)
{
	peer->prover = attr->prover;
	peer->seal.least = attr->seal;
	peer->shake = (struct handshake){ .fsid = attr->fsid,
					  .session = attr->session,
					  .role = attr->role,
					  .server = attr->server,
					  .index = attr->index };
}

/* A server has its key.  A client can prove nothing until it has a ticket. */
static bool has_proof(const struct prover *prover)
{
	uint8_t ticket[WIRE_TICKET_MAX];

	return prover &&
	       (!prover->ticket || prover->ticket(prover->arg, ticket));
}

int peer_proof_begin(struct rpc_peer *peer, struct wire_hail *hail)
{
	struct handshake *shake = &peer->shake;
	uint8_t *nonce = shake->nonce[HANDSHAKE_CALLER];
	int rc;

	peer->proving = has_proof(peer->prover);
	hail->features |= htole32(peer_seal_hail(peer));
	peer_here_hail(peer, hail);
	rc = peer->proving ? random_bytes(nonce, WIRE_NONCE_LEN) : 0;
	if (rc || !peer->proving)
		return rc;
	shake->epoch = peer->epoch;
	hail->features |= htole32(WIRE_FT_PROOF);
	memcpy(hail->nonce, nonce, WIRE_NONCE_LEN);
	return 0;
}

bool peer_proof_agreed(struct rpc_peer *peer, const struct tp_event *ev)
{
	struct wire_accept acc;
	struct wire_hail hail;
	const char *flaw;

	memcpy(&acc, ev->priv, sizeof(acc));
	wire_take_hail(ev->priv, ev->priv_len, sizeof(acc), &hail);
	if (!(le32toh(hail.features) & WIRE_FT_PROOF)) {
		peer_proof_refuse(peer, none);
		return false;
	}
	flaw = peer_seal_agreed(peer, le32toh(hail.features));
	if (flaw) {
		peer_proof_refuse(peer, flaw);
		return false;
	}
	/* any: take the server's; its proof shows whether the ticket is for it */
	if (!peer->fsid)
		peer->shake.fsid = le64toh(acc.fsid);
	peer->shake.boot = le64toh(acc.boot);
	memcpy(peer->shake.nonce[HANDSHAKE_SERVER], hail.nonce, WIRE_NONCE_LEN);
	return true;
}

int peer_proof_room(struct rpc_peer *peer, struct wire_out *out)
{
	const struct prover *prover = peer->prover;
	uint8_t ticket[WIRE_TICKET_MAX];
	struct wire_shown shown = { 0 };
	size_t len = prover->ticket ? prover->ticket(prover->arg, ticket) : 0;
	int rc = peer_seal_put(peer, out);

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

int peer_proof_put(struct rpc_peer *peer, struct wire_hdr *hdr, size_t len)
{
	struct wire_proof proof;
	int rc;

	len -= sizeof(proof);
	hdr->flags |= htole16(peer->prover->ticket
				      ? WIRE_F_PROOF | WIRE_F_TICKET
				      : WIRE_F_PROOF) |
		      htole16(peer_seal_flag(peer));
	rc = peer->prover->prove(peer->prover->arg, &peer->shake,
				 HANDSHAKE_CALLER, hdr, len, &proof);
	if (rc)
		return rc;
	memcpy((uint8_t *)hdr + len, &proof, sizeof(proof));
	if (peer->seal.pact)
		peer->seal.pact->key = le32toh(proof.key);
	return 0;
}

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
 * The addresses of iods may be swapped: finds out which iod this is.  Returns false if it is
 * none.
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

const char *peer_proof_flaw(struct rpc_peer *peer, const struct wire_msg *msg,
			    char *buf, size_t len)
{
	uint32_t other;
	int rc;

	if (!msg->proof)
		return none;
	rc = check_as(peer, &peer->shake, msg);
	if (rc == -EKEYREJECTED && is_other_iod(peer, msg, &other)) {
		snprintf(buf, len,
			 "this is iod %u: correct the address in [iod.%u] of "
			 "the configuration, here or on its host",
			 other, peer->shake.index);
		return buf;
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

void peer_proof_refuse(struct rpc_peer *peer, const char *flaw)
{
	atomic_fetch_add(&peer->link.ctx->impostors, 1);
	peer_refused(peer, -EKEYREJECTED, flaw);
}

uint64_t rpc_ctx_impostors(const struct rpc_ctx *ctx)
{
	return atomic_load(&ctx->impostors);
}
