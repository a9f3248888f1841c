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
	struct auth_exchange *exchange = &c->exchange;
	int rc = key_pair_make(&c->own);

	if (!rc)
		rc = random_bytes(exchange->nonce[HANDSHAKE_SERVER],
				  WIRE_KEY_LEN);
	if (rc)
		return rc;
	exchange->fsid = mgr->conf.fsid;
	exchange->session = rpc_session_info(rpc->session)->id;
	exchange->boot = mgr->boot;
	exchange->epoch = rpc_req_epoch(rpc);
	exchange->mode = mgr->conf.auth.mode;
	exchange->seals = rpc_req_lacks_seal(rpc);
	exchange->seal_in_place = rpc_req_seal_in_place(rpc);
	exchange->uid = exchange->seal_in_place ? geteuid() : 0;
	memcpy(exchange->key[HANDSHAKE_CALLER], body->key, WIRE_KEY_LEN);
	memcpy(exchange->nonce[HANDSHAKE_CALLER], body->nonce, WIRE_KEY_LEN);
	memcpy(exchange->key[HANDSHAKE_SERVER], c->own.public, WIRE_KEY_LEN);
	return exchange->epoch ? 0 : -EAGAIN;
}

static uint32_t here_flags(const struct auth_challenge *c)
{
	if (!c->exchange.seal_in_place)
		return 0;
	return c->exchange.seal_in_place == SEAL_ENCRYPT
		       ? WIRE_CH_SEAL_IN_PLACE | WIRE_CH_ENCRYPT
		       : WIRE_CH_SEAL_IN_PLACE;
}

static void send_challenge(struct mgr *mgr, struct rpc_req *rpc,
			   const struct auth_challenge *c)
{
	struct tp_identity id;
	struct wire_challenge_rep rep = {
		.fsid = htole64(mgr->conf.fsid),
		.mode = htole32(mgr->conf.auth.mode),
		.uid = htole32(c->exchange.uid),
		.flags = htole32(
			(rpc_req_identity(rpc, &id) ? 0 : WIRE_CH_KERNEL) |
			(c->exchange.seals ? WIRE_CH_SEAL : 0) | here_flags(c)),
	};

	memcpy(rep.key, c->exchange.key[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	memcpy(rep.nonce, c->exchange.nonce[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	wire_put(rpc_reply_begin(rpc), &rep,
		 c->exchange.seal_in_place ? sizeof(rep)
					   : WIRE_CHALLENGE_REP_V1);
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
