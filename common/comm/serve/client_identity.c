/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_identity.c - finds the identity of the sender of a HELLO, and makes and checks the proofs
 * in HELLO and its reply.  Servers prove their identity with the key of the file system.  For a
 * client, the server uses its ticket; without a ticket the identity that the kernel reports;
 * without both what the client says about itself, if the configuration permits that.
 */
#include "common/comm/serve/hello_int.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/util/hash_table.h"
#include "common/util/random_id.h"

#define NOBODY 65534u

/* ---- proofs ---- */

static void proof_hail(struct conn *conn, const struct wire_hail *theirs,
		       struct wire_hail *hail)
{
	uint8_t(*nonce)[WIRE_NONCE_LEN] = conn->nonce;

	if (!conn->thread->server->attr.prover ||
	    !(le32toh(theirs->features) & WIRE_FT_PROOF) ||
	    random_bytes(nonce[HANDSHAKE_SERVER], WIRE_NONCE_LEN))
		return;
	memcpy(nonce[HANDSHAKE_CALLER], theirs->nonce, WIRE_NONCE_LEN);
	conn->both_prove = true;
	hail->features |= htole32(WIRE_FT_PROOF | conn_seal_hail(conn));
	memcpy(hail->nonce, nonce[HANDSHAKE_SERVER], WIRE_NONCE_LEN);
}

unsigned int identity_answer_hail(struct conn *conn,
				  const struct wire_hail *theirs,
				  struct wire_hail *hail)
{
	conn->features = le32toh(theirs->features) &
			 (conn->thread->server->attr.features | WIRE_FT_V3);
	*hail = (struct wire_hail){ htole32(conn->features), { 0 } };
	conn_seal_set_offer(conn, le32toh(theirs->features));
	proof_hail(conn, theirs, hail);
	return hail->features ? sizeof(*hail) : 0;
}

static const char *role_name(enum wire_role role)
{
	return role == WIRE_ROLE_MGR   ? "the manager"
	       : role == WIRE_ROLE_IOD ? "an iod"
				       : "a client";
}

static const char *proof_error_text(int rc)
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
static int proof_refuse(struct conn *conn, const struct rpc_cred *cred, int rc)
{
	struct server_thread *thread = conn->thread;

	counter_increment(&thread->impostors);
	if (log_pace(&thread->impostor_at)) {
		log_warn(conn_log(conn),
			 "%s (%s) says that it is %s: refused (%llu so far): "
			 "%s",
			 conn->peer, cred->name,
			 role_name(conn->session->info.role),
			 (unsigned long long)atomic_load(&thread->impostors),
			 proof_error_text(rc));
	}
	return -EKEYREJECTED;
}

/*
 * Checks the proof in the HELLO.  Returns 0, -ENOMEM, or -EKEYREJECTED, which is logged and
 * counted.
 */
static int proof_check(struct conn *conn, struct rx *rx,
		       const struct rpc_cred *cred)
{
	const struct prover *prover = conn->thread->server->attr.prover;
	const struct wire_msg *msg = &rx->req.msg;
	struct handshake shake;
	int rc;

	if (!prover)
		return 0;
	if (!conn->both_prove || !msg->proof)
		return conn->session->info.role == WIRE_ROLE_CLIENT
			       ? 0
			       : proof_refuse(conn, cred, 0);
	shake = conn_handshake(conn);
	rc = prover->check(prover->arg, &shake, HANDSHAKE_CALLER, msg->hdr,
			   le32toh(msg->hdr->len) - sizeof(*msg->proof),
			   msg->proof);
	return !rc || rc == -ENOMEM ? rc : proof_refuse(conn, cred, rc);
}

static bool proof_is_due(const struct conn *conn, const struct wire_hdr *hdr)
{
	return conn->both_prove && le16toh(hdr->op) == WIRE_HELLO;
}

void proof_reserve(const struct conn *conn, const struct wire_hdr *to,
		   struct wire_out *out)
{
	if (proof_is_due(conn, to))
		wire_put(out, NULL, sizeof(struct wire_proof));
}

/* With the ticket's secret if the client showed a ticket, else with our key. */
static int proof_make(const struct conn *conn, const struct handshake *shake,
		      const struct wire_hdr *hdr, size_t len,
		      struct wire_proof *proof)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;
	const struct ticket_hooks *keeper = attr->keeper;
	const struct prover *prover = attr->prover;

	if (conn->hello)
		return keeper->answer(keeper->arg, shake, conn->hello, hdr, len,
				      proof);
	return prover->prove(prover->arg, shake, HANDSHAKE_SERVER, hdr, len,
			     proof);
}

/* If there is no memory, the answer goes without a proof, and the other end rejects it. */
int proof_append(struct conn *conn, struct wire_hdr *hdr, int len)
{
	struct handshake shake;
	struct wire_proof proof;
	int before = len - (int)sizeof(proof);

	if (!proof_is_due(conn, hdr))
		return len;
	shake = conn_handshake(conn);
	hdr->flags |= htole16(WIRE_F_PROOF);
	if (!proof_make(conn, &shake, hdr, (size_t)before, &proof)) {
		memcpy((uint8_t *)hdr + before, &proof, sizeof(proof));
		return len;
	}
	hdr->flags &= htole16((uint16_t)~WIRE_F_PROOF);
	hdr->len = htole32((uint32_t)before);
	return before;
}

/* ---- identities ---- */

/* If the kernel reports an identity, what the client says itself does not count. */
static bool identity_from_kernel(const struct conn *conn, struct rpc_cred *cred)
{
	struct tp_identity id;

	if (tp_ep_identity(conn->link.ep, &id))
		return false;
	cred->uid = id.uid;
	cred->gid = id.gid;
	if (id.ngroups > WIRE_GROUPS_MAX) {
		/*
		 * For hello_cred_is_same(): name the list as the client does.  The manager takes
		 * the groups from the kernel, whatever the name is.
		 */
		cred->ngroups = wire_groups_name(cred->groups,
						 fnv_words(FNV_START, id.groups,
							   id.ngroups));
		return true;
	}
	cred->ngroups = id.ngroups;
	for (uint32_t i = 0; i < id.ngroups; i++)
		cred->groups[i] = id.groups[i];
	return true;
}

static const char *ticket_error_text(int rc)
{
	switch (rc) {
	case -EKEYEXPIRED:
		return "its ticket has ended; it gets another one from the "
		       "manager";
	case -ESTALE:
		return "its ticket is of a manager that was stopped since; it "
		       "gets another one";
	case -ENOKEY:
		return "its ticket was made with a key that is not here: give "
		       "all servers the same file of [filesystem] key, and "
		       "SIGHUP";
	case -EKEYREJECTED:
		return "its ticket is false, or of another session, file "
		       "system or connection";
	default:
		return "it does not prove who it is: write auth= in its "
		       "pvfstab, as [filesystem] auth here";
	}
}

/* The rate of log lines is limited, because anyone can connect repeatedly. */
static int ticket_refuse(struct conn *conn, const struct rpc_cred *cred, int rc)
{
	struct server_thread *thread = conn->thread;

	counter_increment(&thread->unknown);
	if (log_pace(&thread->unknown_at)) {
		log_warn(conn_log(conn), "%s (%s): refused (%llu so far): %s",
			 conn->peer, cred->name,
			 (unsigned long long)atomic_load(&thread->unknown),
			 ticket_error_text(rc));
	}
	return rc == -ESTALE || rc == -EKEYEXPIRED ? rc : -EKEYREJECTED;
}

static int identity_from_ticket(struct conn *conn, const struct wire_msg *hello,
				struct rpc_cred *cred)
{
	const struct ticket_hooks *keeper = conn->thread->server->attr.keeper;
	struct handshake shake = conn_handshake(conn);
	struct admitted who;
	int rc = conn->both_prove
			 ? keeper->admit(keeper->arg, &shake, hello, &who)
			 : -EKEYREJECTED;

	if (rc)
		return rc == -ENOMEM || rc == -EAGAIN
			       ? rc
			       : ticket_refuse(conn, cred, rc);
	conn->proved = true;
	conn->until = who.until;
	conn->term = who.term;
	cred->uid = who.uid;
	cred->gid = who.gid;
	cred->ngroups = who.ngroups;
	memcpy(cred->groups, who.groups, sizeof(who.groups));
	return 0;
}

static bool number_is_claimed(const struct conn *conn)
{
	struct rpc_server *server = conn->thread->server;
	bool is;

	pthread_mutex_lock(&server->lock);
	is = claim_exists(server, conn->session->info.id);
	pthread_mutex_unlock(&server->lock);
	return is;
}

/* A client without proof cannot resume a session that was proved or claimed. */
static int identity_of_unproved(struct conn *conn, struct rpc_cred *cred)
{
	if (conn->session->info.proved || number_is_claimed(conn))
		return ticket_refuse(conn, cred, 0);
	cred->uid = NOBODY;
	cred->gid = NOBODY;
	cred->ngroups = 0;
	return 0;
}

static int identity_of_client(struct conn *conn, struct rx *rx,
			      struct rpc_cred *cred)
{
	const struct ticket_hooks *keeper = conn->thread->server->attr.keeper;

	if (keeper && rx->req.msg.ticket) {
		conn->hello = conn->both_prove ? &rx->req.msg : NULL;
		return identity_from_ticket(conn, &rx->req.msg, cred);
	}
	conn->proved = identity_from_kernel(conn, cred);
	if (!keeper || keeper->admission == ADMIT_ALL)
		return proof_check(conn, rx, cred);
	if (conn->proved)
		return 0;
	return keeper->admission == ADMIT_AS_NOBODY
		       ? identity_of_unproved(conn, cred)
		       : ticket_refuse(conn, cred, 0);
}

int identity_check(struct conn *conn, struct rx *rx, struct rpc_cred *cred)
{
	if (conn->session->info.role == WIRE_ROLE_CLIENT)
		return identity_of_client(conn, rx, cred);
	identity_from_kernel(conn, cred);
	return proof_check(conn, rx, cred);
}

/* ---- places ---- */

/* Without keys: returns whether the server accepts the claim of the client to be the manager. */
static bool manager_is_believed(const struct conn *conn)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;

	return conn->session->info.role == WIRE_ROLE_MGR &&
	       attr->service->may_reserve &&
	       attr->service->may_reserve(attr->arg, WIRE_ROLE_MGR, conn->peer,
					  0);
}

static bool client_is_tool(const struct conn *conn, uint32_t uid)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;

	if (!(conn->features & WIRE_FT_TOOL))
		return false;
	if (attr->service->may_reserve)
		return attr->service->may_reserve(attr->arg, WIRE_ROLE_CLIENT,
						  conn->peer, uid);
	return !uid || uid == geteuid();
}

enum seat_rank identity_seat_rank(const struct conn *conn, bool known,
				  uint32_t uid)
{
	if (conn->session->info.role == WIRE_ROLE_CLIENT)
		return known && client_is_tool(conn, uid) ? SEAT_TOOL
							  : SEAT_ANY;
	if (conn->thread->server->attr.prover)
		return SEAT_SERVER;
	return manager_is_believed(conn) ? SEAT_TOOL : SEAT_ANY;
}

/* A client that does not know the new statuses gets -ESTALE if evicted, or -EAGAIN. */
int status_for_client(int status, uint32_t features)
{
	switch (status) {
	case -EKEYREVOKED:
		return features & WIRE_FT_EVICT ? status : -ESTALE;
	case -WIRE_ENOFILES:
	case -WIRE_ENOSEATS:
		return features & WIRE_FT_ROOM ? status : -EAGAIN;
	case -WIRE_ENOTLEADER:
		return features & WIRE_FT_LEADER ? status : -EAGAIN;
	default:
		return status;
	}
}

/* ---- for the service ---- */

static struct conn *request_current_conn(const struct rpc_req *req)
{
	struct conn *conn = container_of(req, const struct rx, req)->conn;

	return conn->session->conn == conn && conn->state == CONN_OPEN ? conn
								       : NULL;
}

uint32_t rpc_req_epoch(const struct rpc_req *req)
{
	const struct conn *conn = request_current_conn(req);

	return conn ? conn->epoch : 0;
}

int rpc_req_admit(struct rpc_req *req, const struct admitted *who)
{
	struct conn *conn = request_current_conn(req);
	struct rpc_cred *cred;
	int rc;

	if (!conn)
		return -ESTALE;
	rc = seat_assign(conn->session,
			 identity_seat_rank(conn, true, who->uid));
	if (rc)
		return status_for_client(rc, conn->features);
	cred = &conn->session->info.cred;
	cred->uid = who->uid;
	cred->gid = who->gid;
	cred->ngroups = who->ngroups;
	memcpy(cred->groups, who->groups, sizeof(who->groups));
	conn->session->info.proved = true;
	conn->session->info.until = who->until;
	conn->session->info.term = who->term;
	conn->proved = true;
	labels_set_own(conn->session);
	return 0;
}

bool rpc_req_lacks_seal(const struct rpc_req *req)
{
	return conn_lacks_seal(container_of(req, const struct rx, req)->conn);
}

int rpc_req_identity(const struct rpc_req *req, struct tp_identity *id)
{
	const struct rx *rx = container_of(req, const struct rx, req);
	const struct tp_ep *ep = rx->conn->link.ep;

	return ep ? tp_ep_identity(ep, id) : -ENOTCONN;
}
