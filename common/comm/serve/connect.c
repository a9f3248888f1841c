/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connect.c - handles connect requests.  connect_requested() runs in the thread of the listeners.
 * It checks the request, finds or creates its session, and passes the request to the thread of the
 * session.  There, connect_continue() creates the connection and accepts it, or rejects it.
 */
#include "common/comm/serve/request_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/serve/hello_int.h"

struct connect_answer {
	struct wire_accept acc;
	struct wire_hail hail;
};

static unsigned int connect_put_answer(const struct rpc_server *server,
				       int status, size_t request_max,
				       struct wire_accept *acc)
{
	*acc = (struct wire_accept){
		.magic = htole32(WIRE_MAGIC),
		.version = htole16(WIRE_VERSION),
		.status = htole16((uint16_t)-status),
		.fsid = htole64(server->attr.fsid),
		.boot = htole64(server->attr.boot),
	};
	if (!status) {
		acc->credits = htole32(server->attr.slots);
		acc->request_max = htole32((uint32_t)request_max);
	}
	return sizeof(*acc);
}

static void connect_reject(struct rpc_server *server, struct tp_conn_req *req,
			   int status)
{
	struct wire_accept acc;

	tp_reject(req, &acc, connect_put_answer(server, status, 0, &acc));
}

/* ---- in the thread of the listeners ---- */

static int connect_check_network(struct rpc_server *server, const char *peer)
{
	const struct networks *allow = server->attr.allow;

	if (!allow || !allow->n || peer_is_here(peer) ||
	    networks_have(allow, peer))
		return 0;
	counter_increment(&server->threads[0].outsiders);
	if (log_pace(&server->outsider_at))
		log_warn(server->attr.log,
			 "%s: refused: it is in none of the networks of "
			 "[filesystem] allow",
			 peer);
	return -EACCES;
}

static int connect_check(struct rpc_server *server, struct tp_conn_req *req,
			 struct wire_connect *wc)
{
	const struct log *log = server->attr.log;
	const char *why = NULL, *peer = tp_req_peer(req);
	unsigned int len;
	const void *priv = tp_req_private(req, &len);
	int rc = wire_check_connect(priv, len, &why);

	memcpy(wc, priv, len < sizeof(*wc) ? len : sizeof(*wc));
	if (rc == -EPROTONOSUPPORT) {
		log_warn(log,
			 "%s: refused: it speaks protocol version %u, this "
			 "server %u to %u; install the same release on both, "
			 "or the one before",
			 peer, le16toh(wc->version), WIRE_VERSION,
			 WIRE_VERSION_NEWEST);
		return rc;
	}
	if (!rc && le32toh(wc->reply_max) < SERVER_REPLY_MIN) {
		rc = -EPROTO;
		why = "reply_max";
	}
	if (rc) {
		log_warn(log, "%s: refused: malformed connect request: %s",
			 peer, why ? why : "?");
		return rc;
	}
	if (wc->fsid && le64toh(wc->fsid) != server->attr.fsid) {
		log_warn(log,
			 "%s: refused: it wants file system %016llx, this is "
			 "%016llx; check its configuration",
			 peer, (unsigned long long)le64toh(wc->fsid),
			 (unsigned long long)server->attr.fsid);
		return -ENXIO;
	}
	return 0;
}

static void connect_log_refusal(struct rpc_server *server,
				const struct wire_connect *wc,
				struct tp_conn_req *req, int rc)
{
	if (rc == -WIRE_ENOFILES && !log_pace(&server->scarce_at))
		return;
	log_warn(server->attr.log, "%s: refused: session %016llx: %s",
		 tp_req_peer(req), (unsigned long long)le64toh(wc->session),
		 rc == -ESTALE	      ? "it was fenced"
		 : rc == -EKEYREVOKED ? "it was evicted"
		 : rc == -EBUSY ? "its previous connection has not ended yet"
		 : rc == -WIRE_ENOFILES ? SEATS_NO_FILES
					: strerror(-rc));
}

/*
 * Whether the client claims to be a manager or an administrator's tool, which may use the reserve.
 * The server checks this claim at HELLO or at AUTH (identity_seat_rank()).
 */
static bool connect_wants_reserve(const struct wire_connect *wc,
				  const struct wire_hail *hail)
{
	return le16toh(wc->role) == WIRE_ROLE_MGR ||
	       (le16toh(wc->role) == WIRE_ROLE_CLIENT &&
		le32toh(hail->features) & WIRE_FT_TOOL);
}

/* A JOIN asks for a second endpoint of a connection. */
static bool connect_is_join(const struct thread_mail *mail)
{
	return le32toh(mail->hail.features) == WIRE_FT_APART;
}

/* Finds the session of the connect. */
static int connect_find_session(struct rpc_server *server,
				const struct wire_connect *wc,
				const struct tp_conn_req *req,
				struct thread_mail *mail)
{
	if (tp_req_scarce(req) && !connect_wants_reserve(wc, &mail->hail))
		return -WIRE_ENOFILES;
	return session_lookup(server, le64toh(wc->session),
			      connect_is_join(mail) ? NULL : wc, req,
			      &mail->session);
}

static int connect_pass_to_thread(struct rpc_server *server,
				  const struct wire_connect *wc,
				  struct tp_conn_req *req, unsigned int rail)
{
	struct thread_mail *mail = calloc(1, sizeof(*mail));
	const void *priv;
	unsigned int len;
	int rc;

	if (!mail)
		return -ENOMEM;
	priv = tp_req_private(req, &len);
	wire_take_hail(priv, len, sizeof(*wc), &mail->hail);
	if (le32toh(mail->hail.features) & WIRE_FT_SEAL_IN_PLACE &&
	    server->attr.prover)
		server->attr.prover->extend_transcript(mail->transcript, priv,
						       len);
	rc = connect_find_session(server, wc, req, mail);
	if (rc) {
		connect_log_refusal(server, wc, req, rc);
		rc = status_for_client(rc, le32toh(mail->hail.features));
		free(mail);
		return rc;
	}
	mail->req = req;
	mail->rail = rail;
	mail->role = le16toh(wc->role);
	mail->epoch = le32toh(wc->epoch);
	mail->reply_max = le32toh(wc->reply_max);
	server_thread_post(mail->session->thread, mail);
	return 0;
}

void connect_requested(struct ctx_listener *l, struct tp_conn_req *req)
{
	struct server_listener *listener =
		container_of(l, struct server_listener, base);
	struct rpc_server *server = listener->server;
	struct wire_connect wc = { 0 };
	int rc = connect_check_network(server, tp_req_peer(req));

	if (!rc) {
		rc = connect_check(server, req, &wc);
		if (rc)
			counter_increment(&server->threads[0].protocol_errors);
	}
	if (!rc)
		rc = connect_pass_to_thread(server, &wc, req, listener->rail);
	if (rc)
		connect_reject(server, req, rc);
}

/* ---- in the thread of the session ---- */

static const struct conn_events conn_events = {
	.received = request_received,
	.closed = request_conn_closed,
	.freed = session_check_unused,
};

static void connect_accept(struct server_thread *thread,
			   const struct thread_mail *mail)
{
	struct tp_conn_req *req = mail->req;
	struct connect_answer answer;
	struct conn *conn;
	unsigned int len;
	int rc = conn_open(thread, mail, &conn_events, &conn);

	if (rc) {
		log_error(thread->server->attr.log,
			  "%s: refused: no room for a connection: %s",
			  tp_req_peer(req), strerror(-rc));
		connect_reject(thread->server, req, -EAGAIN);
		return;
	}
	session_add_guest(conn);
	rpc_timer_set(thread->ctx, &conn->timer,
		      clock_after_ms(thread->server->attr.stall_ms));
	len = connect_put_answer(thread->server, 0, conn->request_max,
				 &answer.acc);
	len += identity_answer_hail(conn, &mail->hail, &answer.hail);
	conn_seal_hash_begin(conn, mail->transcript, &answer, len);
	rc = tp_accept(conn->link.ep, req, &answer, len);
	if (rc)
		link_fail(&conn->link, rc);
}

/* A newer connection of a session replaces the old one when its HELLO is accepted. */
static int connect_session(struct server_thread *thread,
			   const struct thread_mail *mail)
{
	struct rpc_session *s = mail->session;

	if (s->state == SESSION_ENDED)
		return -EAGAIN;
	if (s->epoch && !session_is_unproved(s) &&
	    (int32_t)(mail->epoch - s->epoch) <= 0)
		return -ESTALE;
	if (s->nconns - s->nguests >= SERVER_OLD_CONNS)
		return -EAGAIN;
	connect_accept(thread, mail);
	return 0;
}

static void connect_refuse(struct server_thread *thread,
			   const struct thread_mail *mail, const char *why,
			   int rc)
{
	log_info(thread->server->attr.log, "%s: refused: session %016llx: %s",
		 tp_req_peer(mail->req),
		 (unsigned long long)mail->session->info.id, why);
	connect_reject(thread->server, mail->req, rc);
}

static void connect_to_session(struct server_thread *thread,
			       const struct thread_mail *mail)
{
	struct rpc_session *s = mail->session;
	int rc = connect_session(thread, mail);

	if (rc)
		connect_refuse(thread, mail,
			       rc == -ESTALE
				       ? "an old connect"
				       : "its last connections are still busy",
			       rc);
	if (s->state == SESSION_NEW && !s->nguests)
		session_end(s, false);
}

static int connect_endpoint(struct server_thread *thread,
			    const struct thread_mail *mail)
{
	struct conn *conn = bulk_endpoint_find_conn(mail);
	struct wire_accept acc;

	if (!conn)
		return -ESTALE;
	return bulk_endpoint_accept(
		conn, mail->req, &acc,
		connect_put_answer(thread->server, 0, conn->request_max, &acc));
}

static void connect_join(struct server_thread *thread,
			 const struct thread_mail *mail)
{
	int rc = connect_endpoint(thread, mail);

	if (rc)
		connect_refuse(thread, mail,
			       rc == -ESTALE
				       ? "its connection was not asked to "
					 "be joined so"
				       : strerror(-rc),
			       rc);
}

void connect_continue(struct server_thread *thread,
		      const struct thread_mail *mail)
{
	if (connect_is_join(mail))
		connect_join(thread, mail);
	else
		connect_to_session(thread, mail);
}
