/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_challenge.c - CHALLENGE: a key pair and a nonce for one AUTH of this connection. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/trust/secret.h"
#include "common/util/random_id.h"
#include "mgr/auth/mgr_auth_int.h"

#define PROOFS 2u /* of a session at a time; one can be of a lost connection */

void auth_challenge_free(struct auth_challenge *c)
{
	secret_free(c, sizeof(*c));
}

void auth_challenge_drop(struct caller *caller)
{
	auth_challenge_free(caller->challenge);
	caller->challenge = NULL;
}

static int fill_challenge(struct mgr *mgr, struct rpc_req *rpc,
			  struct auth_challenge *c)
{
	const struct wire_challenge *body = rpc->msg.body;
	struct auth_exchange *pact = &c->pact;
	int rc = exchange_make(&c->own);

	if (!rc)
		rc = random_bytes(pact->nonce[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	if (rc)
		return rc;
	pact->fsid = mgr->conf.fsid;
	pact->session = rpc_session_info(rpc->session)->id;
	pact->boot = mgr->boot;
	pact->epoch = rpc_req_epoch(rpc);
	pact->mode = mgr->conf.auth.mode;
	pact->seals = rpc_req_lacks_seal(rpc);
	pact->here = rpc_req_seal_in_place(rpc);
	pact->uid = pact->here ? geteuid() : 0;
	memcpy(pact->key[HANDSHAKE_CALLER], body->key, WIRE_KEY_LEN);
	memcpy(pact->nonce[HANDSHAKE_CALLER], body->nonce, WIRE_KEY_LEN);
	memcpy(pact->key[HANDSHAKE_SERVER], c->own.public, WIRE_KEY_LEN);
	return pact->epoch ? 0 : -EAGAIN;
}

static uint32_t here_flags(const struct auth_challenge *c)
{
	if (!c->pact.here)
		return 0;
	return c->pact.here == SEAL_ENCRYPT ? WIRE_CH_HERE | WIRE_CH_ENCRYPT
					    : WIRE_CH_HERE;
}

static void send_challenge(struct mgr *mgr, struct rpc_req *rpc,
			   const struct auth_challenge *c)
{
	struct tp_identity id;
	struct wire_challenge_rep rep = {
		.fsid = htole64(mgr->conf.fsid),
		.mode = htole32(mgr->conf.auth.mode),
		.uid = htole32(c->pact.uid),
		.flags = htole32(
			(rpc_req_identity(rpc, &id) ? 0 : WIRE_CH_KERNEL) |
			(c->pact.seals ? WIRE_CH_SEAL : 0) | here_flags(c)),
	};

	memcpy(rep.key, c->pact.key[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	memcpy(rep.nonce, c->pact.nonce[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	wire_put(rpc_reply_begin(rpc), &rep,
		 c->pact.here ? sizeof(rep) : WIRE_CHALLENGE_REP_V1);
	rpc_reply_end(rpc, 0, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

void auth_challenge_start(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	struct auth_challenge *c = NULL;
	int rc = -EAGAIN;

	if (caller->proofs < PROOFS) {
		c = secret_new(sizeof(*c));
		rc = c ? fill_challenge(mgr, rpc, c) : -ENOMEM;
	}
	if (rc) {
		auth_challenge_free(c);
		auth_reply(rpc, rc);
		return;
	}
	auth_challenge_drop(caller);
	caller->challenge = c;
	send_challenge(mgr, rpc, c);
}
