/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_ticket.c - who sent a HELLO.  A client's ticket has priority, then the identity that its
 * kernel reports, then, if servers believe it, what the client itself says.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/util/fnv.h"
#include "common/comm/serve/ticket_int.h"

#define NOBODY 65534u

/* If the kernel reports an identity, what the client says itself does not count. */
static bool ask_kernel(const struct conn *conn, struct rpc_cred *cred)
{
	struct tp_identity id;

	if (tp_ep_identity(conn->link.ep, &id))
		return false;
	cred->uid = id.uid;
	cred->gid = id.gid;
	if (id.ngroups > WIRE_GROUPS_MAX) {
		/*
		 * For greet_same(): name the list as the client does.  The manager takes the
		 * groups from the kernel, whatever the name is.
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

static const char *why(int rc)
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
static int refuse(struct conn *conn, const struct rpc_cred *cred, int rc)
{
	struct lane *lane = conn->lane;

	lane_count(&lane->unknown);
	if (log_pace(&lane->unknown_at)) {
		log_warn(conn_log(conn), "%s (%s): refused (%llu so far): %s",
			 conn->peer, cred->name,
			 (unsigned long long)atomic_load(&lane->unknown),
			 why(rc));
	}
	return rc == -ESTALE || rc == -EKEYEXPIRED ? rc : -EKEYREJECTED;
}

static int take_ticket(struct conn *conn, const struct wire_msg *hello,
		       struct rpc_cred *cred)
{
	const struct doorkeeper *keeper = conn->lane->server->attr.keeper;
	struct handshake shake = conn_handshake(conn);
	struct admitted who;
	int rc = conn->agreed ? keeper->admit(keeper->arg, &shake, hello, &who)
			      : -EKEYREJECTED;

	if (rc)
		return rc == -ENOMEM || rc == -EAGAIN ? rc
						      : refuse(conn, cred, rc);
	conn->known = true;
	conn->until = who.until;
	conn->term = who.term;
	cred->uid = who.uid;
	cred->gid = who.gid;
	cred->ngroups = who.ngroups;
	memcpy(cred->groups, who.groups, sizeof(who.groups));
	return 0;
}

static bool is_claimed(const struct conn *conn)
{
	struct rpc_server *server = conn->lane->server;
	bool is;

	pthread_mutex_lock(&server->lock);
	is = claim_has(server, conn->session->info.id);
	pthread_mutex_unlock(&server->lock);
	return is;
}

/* A client without proof cannot resume a session that was proved or claimed. */
static int take_stranger(struct conn *conn, struct rpc_cred *cred)
{
	if (conn->session->info.proved || is_claimed(conn))
		return refuse(conn, cred, 0);
	cred->uid = NOBODY;
	cred->gid = NOBODY;
	cred->ngroups = 0;
	return 0;
}

static int admit_client(struct conn *conn, struct rx *rx, struct rpc_cred *cred)
{
	const struct doorkeeper *keeper = conn->lane->server->attr.keeper;

	if (keeper && rx->req.msg.ticket) {
		conn->hello = conn->agreed ? &rx->req.msg : NULL;
		return take_ticket(conn, &rx->req.msg, cred);
	}
	conn->known = ask_kernel(conn, cred);
	if (!keeper || keeper->admission == ADMIT_ALL)
		return conn_proof_take(conn, rx, cred);
	if (conn->known)
		return 0;
	return keeper->admission == ADMIT_STRANGERS ? take_stranger(conn, cred)
						    : refuse(conn, cred, 0);
}

int conn_admit(struct conn *conn, struct rx *rx, struct rpc_cred *cred)
{
	if (conn->session->info.role == WIRE_ROLE_CLIENT)
		return admit_client(conn, rx, cred);
	ask_kernel(conn, cred);
	return conn_proof_take(conn, rx, cred);
}

/*
 * Whether to believe a client that says that it is the manager, where nothing can prove it.
 */
static bool is_believed(const struct conn *conn)
{
	const struct rpc_server_attr *attr = &conn->lane->server->attr;

	return conn->session->info.role == WIRE_ROLE_MGR &&
	       attr->service->may_reserve &&
	       attr->service->may_reserve(attr->arg, WIRE_ROLE_MGR, conn->peer,
					  0);
}

static bool is_tool(const struct conn *conn, uint32_t uid)
{
	const struct rpc_server_attr *attr = &conn->lane->server->attr;

	if (!(conn->features & WIRE_FT_TOOL))
		return false;
	if (attr->service->may_reserve)
		return attr->service->may_reserve(attr->arg, WIRE_ROLE_CLIENT,
						  conn->peer, uid);
	return !uid || uid == geteuid();
}

enum seat_rank conn_rank(const struct conn *conn, bool known, uint32_t uid)
{
	if (conn->session->info.role == WIRE_ROLE_CLIENT)
		return known && is_tool(conn, uid) ? SEAT_TOOL : SEAT_ANY;
	if (conn->lane->server->attr.prover)
		return SEAT_SERVER;
	return is_believed(conn) ? SEAT_TOOL : SEAT_ANY;
}

bool conn_is_stranger(const struct conn *conn)
{
	return session_is_strangers(conn->session);
}

/* ---- identities found by the service ---- */

static struct conn *conn_of(const struct rpc_req *req)
{
	struct conn *conn = container_of(req, const struct rx, req)->conn;

	return conn->session->conn == conn && conn->state == CONN_OPEN ? conn
								       : NULL;
}

uint32_t rpc_req_epoch(const struct rpc_req *req)
{
	const struct conn *conn = conn_of(req);

	return conn ? conn->epoch : 0;
}

int rpc_req_admit(struct rpc_req *req, const struct admitted *who)
{
	struct conn *conn = conn_of(req);
	struct rpc_cred *cred;
	int rc;

	if (!conn)
		return -ESTALE;
	rc = seat_take(conn->session, conn_rank(conn, true, who->uid));
	if (rc)
		return server_told(rc, conn->features);
	cred = &conn->session->info.cred;
	cred->uid = who->uid;
	cred->gid = who->gid;
	cred->ngroups = who->ngroups;
	memcpy(cred->groups, who->groups, sizeof(who->groups));
	conn->session->info.proved = true;
	conn->session->info.until = who->until;
	conn->session->info.term = who->term;
	conn->known = true;
	labels_own(conn->session);
	return 0;
}
