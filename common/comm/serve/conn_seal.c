/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_seal.c - seals a connection.  A server that seals rejects a client that authenticates but
 * does not seal.  So an attacker in the middle cannot persuade both ends not to seal.  A client
 * that can seal, but has no ticket yet, may get a ticket over an unsealed connection.  Then it
 * connects again.
 */
#include "common/comm/serve/hello_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tp_seal.h"

/* State of a connection that may be sealed. */
struct conn_seal {
	uint8_t key[WIRE_KEY_LEN]; /* our public key */
	enum seal_mode mode; /* SEAL_NONE: it is not sealed (yet) */
	struct sealer *sealer; /* until the answer to HELLO was sent */
};

static bool seal_is_possible(const struct conn *conn)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;

	return attr->seal && attr->prover &&
	       tp_dev_seals(conn_rails(conn)->dev[conn->link.rail]);
}

/* Clients that need not prove anything have no keys. */
static bool seal_is_required(const struct conn *conn)
{
	const struct ticket_hooks *keeper = conn->thread->server->attr.keeper;

	if (!seal_is_possible(conn))
		return false;
	return conn->session->info.role != WIRE_ROLE_CLIENT ||
	       (keeper && keeper->admission != ADMIT_ALL);
}

/* Uses the role of the session, whatever this connect said. */
struct handshake conn_handshake(const struct conn *conn)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;
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

void conn_seal_set_offer(struct conn *conn, uint32_t theirs)
{
	conn->can_seal = theirs & WIRE_FT_SEAL;
}

uint32_t conn_seal_hail(struct conn *conn)
{
	if (!conn->both_prove || !conn->can_seal || !seal_is_possible(conn))
		return 0;
	conn->seal = calloc(1, sizeof(*conn->seal));
	return conn->seal ? WIRE_FT_SEAL : 0;
}

static int seal_refuse(struct conn *conn, const struct rpc_cred *cred)
{
	struct server_thread *thread = conn->thread;

	counter_increment(&thread->bare);
	if (log_pace(&thread->unknown_at)) {
		log_warn(conn_log(conn),
			 "%s (%s): refused (%llu so far): it does not seal the "
			 "connection, and [filesystem] seal = %s here: if it "
			 "is a client, install this release there and write "
			 "auth= in its pvfstab; if it is a server, give it "
			 "the same setting; otherwise an attacker intercepts "
			 "the connection",
			 conn->peer, cred->name,
			 (unsigned long long)atomic_load(&thread->bare),
			 seal_mode_name(thread->server->attr.seal));
	}
	return -EKEYREJECTED;
}

/* The client proves nothing yet, and announces that it will seal afterwards. */
static bool seal_may_follow(const struct conn *conn,
			    const struct wire_msg *hello)
{
	return !hello->proof && conn->can_seal;
}

static int seal_derive(struct conn *conn, const struct wire_msg *hello,
		       struct seal_agreement *agreement)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;
	const struct handshake shake = conn_handshake(conn);
	uint32_t theirs = le32toh(hello->seal->mode);

	agreement->mode = theirs > attr->seal ? theirs : attr->seal;
	agreement->key = le32toh(hello->proof->key);
	memcpy(agreement->public[HANDSHAKE_CALLER], hello -> seal -> key,
	       WIRE_KEY_LEN);
	memcpy(conn->seal->key, agreement->public[HANDSHAKE_SERVER],
	       WIRE_KEY_LEN);
	if (hello->ticket)
		return attr->keeper->seal(attr->keeper->arg, &shake, hello,
					  agreement, &conn->seal->sealer);
	return attr->prover->seal(attr->prover->arg, &shake, HANDSHAKE_SERVER,
				  agreement, &conn->seal->sealer);
}

int conn_seal_check_hello(struct conn *conn, const struct wire_msg *hello,
			  const struct rpc_cred *cred)
{
	const struct prover *prover = conn->thread->server->attr.prover;
	struct seal_agreement *agreement = NULL;
	int rc;

	if (!hello->seal)
		return seal_is_required(conn) && !seal_may_follow(conn, hello)
			       ? seal_refuse(conn, cred)
			       : 0;
	if (!conn->seal || !hello->proof)
		return -EPROTO;
	rc = prover->pair(prover->arg, HANDSHAKE_SERVER, &agreement);
	if (!rc)
		rc = seal_derive(conn, hello, agreement);
	if (!rc)
		conn->seal->mode = (enum seal_mode)agreement->mode;
	prover_unpair(prover, &agreement);
	return rc;
}

unsigned int conn_seal_append(const struct conn *conn, struct wire_out *out)
{
	struct wire_seal seal = { .zero = 0 };

	if (!conn->seal || !conn->seal->sealer)
		return 0;
	seal.mode = htole32(conn->seal->mode);
	memcpy(seal.key, conn->seal->key, sizeof(seal.key));
	wire_put(out, &seal, sizeof(seal));
	return WIRE_F_SEAL;
}

void conn_seal_begin(struct conn *conn)
{
	struct sealer *sealer = conn->seal ? conn->seal->sealer : NULL;
	int rc;

	if (!sealer || !conn->link.ep)
		return;
	conn->seal->sealer = NULL;
	rc = link_seal(&conn->link, sealer);
	if (rc)
		link_fail(&conn->link, rc);
}

void conn_seal_hash_begin(struct conn *conn,
			  const uint8_t transcript[TRANSCRIPT_LEN],
			  const void *answer, size_t len)
{
	struct rpc_link *link = &conn->link;

	if (!(conn->features & WIRE_FT_SEAL_IN_PLACE) || conn->both_prove ||
	    !seal_is_possible(conn))
		return;
	link_hear_begin(link, conn->thread->server->attr.prover,
			HANDSHAKE_SERVER);
	memcpy(link->transcript.sum[HANDSHAKE_CALLER], transcript,
	       TRANSCRIPT_LEN);
	link_hear(link, HANDSHAKE_SERVER, answer, len);
}

int conn_seal_in_place(struct conn *conn, const struct seal_in_place *in_place)
{
	struct sealer *sealer;
	int rc;

	if (!conn->seal)
		conn->seal = calloc(1, sizeof(*conn->seal));
	if (!conn->seal)
		return -ENOMEM;
	rc = in_place->make(in_place->arg, &conn->link.transcript, &sealer);
	if (!rc)
		rc = link_seal(&conn->link, sealer);
	if (!rc)
		conn->seal->mode = (enum seal_mode)in_place->mode;
	return rc;
}

void conn_seal_free(struct conn *conn)
{
	if (conn->seal)
		sealer_free(conn->seal->sealer);
	free(conn->seal);
	conn->seal = NULL;
}

bool conn_lacks_seal(const struct conn *conn)
{
	return !(conn->seal && conn->seal->mode) && seal_is_required(conn);
}
