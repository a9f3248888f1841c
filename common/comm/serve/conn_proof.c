/* SPDX-License-Identifier: BSD-2-Clause */
/* conn_proof.c - a HELLO that must be proved, mostly between servers, and the answer. */
#include <errno.h>
#include <string.h>

#include "common/comm/serve/conn_seal_int.h"
#include "common/util/random_id.h"
#include "common/comm/serve/ticket_int.h"

static void hail_proof(struct conn *conn, const struct wire_hail *theirs,
		       struct wire_hail *hail)
{
	uint8_t(*nonce)[WIRE_NONCE_LEN] = conn->nonce;

	if (!conn->lane->server->attr.prover ||
	    !(le32toh(theirs->features) & WIRE_FT_PROOF) ||
	    random_bytes(nonce[HANDSHAKE_SERVER], WIRE_NONCE_LEN))
		return;
	memcpy(nonce[HANDSHAKE_CALLER], theirs->nonce, WIRE_NONCE_LEN);
	conn->agreed = true;
	hail->features |= htole32(WIRE_FT_PROOF | conn_seal_hail(conn));
	memcpy(hail->nonce, nonce[HANDSHAKE_SERVER], WIRE_NONCE_LEN);
}

unsigned int conn_hail(struct conn *conn, const struct wire_hail *theirs,
		       struct wire_hail *hail)
{
	conn->features = le32toh(theirs->features) &
			 (conn->lane->server->attr.features | WIRE_FT_V3);
	*hail = (struct wire_hail){ htole32(conn->features), { 0 } };
	conn_seal_hear(conn, le32toh(theirs->features));
	hail_proof(conn, theirs, hail);
	return hail->features ? sizeof(*hail) : 0;
}

/* Uses the role of the session, whatever this connect said. */
struct handshake conn_handshake(const struct conn *conn)
{
	const struct rpc_server_attr *attr = &conn->lane->server->attr;
	struct handshake shake = { .fsid = attr->fsid,
				   .session = conn->session->info.id,
				   .boot = attr->boot,
				   .epoch = conn->epoch,
				   .role = conn->session->info.role,
				   .server = attr->role,
				   .index = attr->index };

	memcpy(shake.nonce, conn->nonce, sizeof(shake.nonce));
	return shake;
}

static const char *what_is(enum wire_role role)
{
	return role == WIRE_ROLE_MGR   ? "the manager"
	       : role == WIRE_ROLE_IOD ? "an iod"
				       : "a client";
}

static const char *why(int rc)
{
	return rc == -ENOKEY ? "its key is not one of those here: give all "
			       "servers the same file of [filesystem] key, and "
			       "SIGHUP"
	       : rc == -EKEYREJECTED
		       ? "its proof is false, or was made for another server "
			 "or connection"
		       : "it proves nothing: if it is one of our servers, give "
			 "it [filesystem] key in its configuration, with the "
			 "same file as here";
}

/* The rate of log lines is limited, because anyone can connect repeatedly. */
static int refuse(struct conn *conn, const struct rpc_cred *cred, int rc)
{
	struct lane *lane = conn->lane;

	lane_count(&lane->impostors);
	if (log_pace(&lane->impostor_at)) {
		log_warn(conn_log(conn),
			 "%s (%s) says that it is %s: refused (%llu so far): "
			 "%s",
			 conn->peer, cred->name,
			 what_is(conn->session->info.role),
			 (unsigned long long)atomic_load(&lane->impostors),
			 why(rc));
	}
	return -EKEYREJECTED;
}

int conn_proof_take(struct conn *conn, struct rx *rx,
		    const struct rpc_cred *cred)
{
	const struct prover *prover = conn->lane->server->attr.prover;
	const struct wire_msg *msg = &rx->req.msg;
	struct handshake shake;
	int rc;

	if (!prover)
		return 0;
	if (!conn->agreed || !msg->proof)
		return conn->session->info.role == WIRE_ROLE_CLIENT
			       ? 0
			       : refuse(conn, cred, 0);
	shake = conn_handshake(conn);
	rc = prover->check(prover->arg, &shake, HANDSHAKE_CALLER, msg->hdr,
			   le32toh(msg->hdr->len) - sizeof(*msg->proof),
			   msg->proof);
	return !rc || rc == -ENOMEM ? rc : refuse(conn, cred, rc);
}

static bool is_due(const struct conn *conn, const struct wire_hdr *hdr)
{
	return conn->agreed && le16toh(hdr->op) == WIRE_HELLO;
}

void conn_proof_room(const struct conn *conn, const struct wire_hdr *to,
		     struct wire_out *out)
{
	if (is_due(conn, to))
		wire_put(out, NULL, sizeof(struct wire_proof));
}

/* With the ticket's secret if the client showed a ticket, else with our key. */
static int prove(const struct conn *conn, const struct handshake *shake,
		 const struct wire_hdr *hdr, size_t len,
		 struct wire_proof *proof)
{
	const struct rpc_server_attr *attr = &conn->lane->server->attr;
	const struct doorkeeper *keeper = attr->keeper;
	const struct prover *prover = attr->prover;

	if (conn->hello)
		return keeper->answer(keeper->arg, shake, conn->hello, hdr, len,
				      proof);
	return prover->prove(prover->arg, shake, HANDSHAKE_SERVER, hdr, len,
			     proof);
}

/* If there is no memory, the answer goes without a proof, and the other end rejects it. */
int conn_proof_put(struct conn *conn, struct wire_hdr *hdr, int len)
{
	struct handshake shake;
	struct wire_proof proof;
	int before = len - (int)sizeof(proof);

	if (!is_due(conn, hdr))
		return len;
	shake = conn_handshake(conn);
	hdr->flags |= htole16(WIRE_F_PROOF);
	if (!prove(conn, &shake, hdr, (size_t)before, &proof)) {
		memcpy((uint8_t *)hdr + before, &proof, sizeof(proof));
		return len;
	}
	hdr->flags &= htole16((uint16_t)~WIRE_F_PROOF);
	hdr->len = htole32((uint32_t)before);
	return before;
}
