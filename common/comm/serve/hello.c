/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello.c - HELLO, which opens or resumes a session; BYE, which ends it; and the answer to a
 * protocol error.
 */
#include "common/comm/serve/hello_int.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* ---- answers outside of the slots ---- */

/* Adds the token that a JOIN to this connection has to show. */
static unsigned int hello_put_join_token(struct conn *conn,
					 struct wire_out *out)
{
	struct wire_apart apart = { .zero = 0 };

	/* a second endpoint would not be sealed */
	if (conn->seal || !bulk_endpoint_offer(conn))
		return 0;
	memcpy(apart.token, conn->token, sizeof(apart.token));
	wire_put(out, &apart, sizeof(apart));
	return WIRE_F_APART;
}

/* Sends a reply outside of the slots.  which: 0 for HELLO, 1 for an error. */
static void hello_send_answer(struct conn *conn, const struct wire_hdr *to,
			      int which, int status, const void *body,
			      size_t body_len)
{
	uint8_t *buf = conn->ctl + (size_t)which * CONN_CTL_MAX;
	struct wire_hdr *hdr = (struct wire_hdr *)buf;
	unsigned int flags = WIRE_F_REPLY;
	struct wire_out out;
	int len;

	wire_begin(&out, buf, CONN_CTL_MAX);
	if (body_len)
		wire_put(&out, body, body_len);
	if (!status && le16toh(to->flags) & WIRE_F_APART)
		flags |= hello_put_join_token(conn, &out);
	if (!status && le16toh(to->op) == WIRE_HELLO)
		flags |= conn_seal_append(conn, &out);
	proof_reserve(conn, to, &out);
	len = wire_end(&out, le16toh(to->op), flags, 0);
	if (len < 0)
		return;
	hdr->slot = to->slot;
	hdr->session = to->session;
	hdr->seq = to->seq;
	if (status == -ENXIO)
		hdr->seq = htole64(
			wire_meant(conn->thread->server->attr.index));
	hdr->credits = htole32(conn->session->credits);
	hdr->status = htole32((uint32_t)-status);
	hdr->clock = htole64(clock_boot());
	len = proof_append(conn, hdr, len);
	conn_send(conn, buf, (uint32_t)len, conn->lkey);
}

_Static_assert(sizeof(struct wire_hdr) + sizeof(struct wire_leader) +
			       WIRE_LEADER_URI_MAX +
			       sizeof(struct wire_proof) <=
		       CONN_CTL_MAX,
	       "WIRE_LEADER_URI_MAX");

/* Names the leader, for a refusal with WIRE_ENOTLEADER.  Returns the bytes of the body. */
static size_t hello_put_leader(const struct conn *conn, void *body)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;
	struct rpc_leader who = { .index = WIRE_LEADER_NONE };
	struct wire_leader leader;
	size_t len;

	if (attr->service->find_leader)
		attr->service->find_leader(attr->arg, &who);
	len = who.index == WIRE_LEADER_NONE ? 0 : strlen(who.uri);
	if (len > WIRE_LEADER_URI_MAX)
		len = 0;
	leader = (struct wire_leader){ .index = htole32(who.index),
				       .uri_len = htole32((uint32_t)len) };
	memcpy(body, &leader, sizeof(leader));
	memcpy((uint8_t *)body + sizeof(leader), who.uri, len);
	return sizeof(leader) + len;
}

/* Ignores further messages on this connection. */
static void hello_refuse(struct conn *conn, const struct wire_hdr *to,
			 int status)
{
	uint8_t leader[sizeof(struct wire_leader) + WIRE_LEADER_URI_MAX];
	size_t len = status == -WIRE_ENOTLEADER && le16toh(to->op) == WIRE_HELLO
			     ? hello_put_leader(conn, leader)
			     : 0;

	conn_set_state(conn, CONN_LINGER);
	rpc_timer_set(conn->link.ctx, &conn->timer,
		      clock_after_ms(SERVER_LINGER_MS));
	hello_send_answer(conn, to, 1, status, leader, len);
}

void hello_protocol_error(struct conn *conn, struct rx *rx, int status,
			  const char *why)
{
	const struct wire_hdr *hdr = rx->buf;
	bool header = rx->len >= sizeof(*hdr) &&
		      le32toh(hdr->magic) == WIRE_MAGIC;

	counter_increment(&conn->thread->protocol_errors);
	log_warn(conn_log(conn),
		 "%s (session %016llx): protocol error in %s: %s; "
		 "connection closed",
		 conn->peer, (unsigned long long)conn->session->info.id,
		 header ? wire_op_name(le16toh(hdr->op)) : "a message",
		 why ? why : "?");
	if (header)
		hello_refuse(conn, hdr, status);
	else
		link_fail(&conn->link, status);
	rx_release(rx);
}

/* ---- the client ---- */

static void hello_copy_name(char *dst, size_t max, const struct wire_tail *name)
{
	const char *src = name->ptr;
	size_t i, len = name->len < max - 1 ? name->len : max - 1;

	for (i = 0; i < len; i++)
		dst[i] = isprint((unsigned char)src[i]) ? src[i] : '?';
	dst[i] = '\0';
}

static void hello_read_cred(struct rpc_cred *cred, const struct wire_msg *msg)
{
	const struct wire_hello *hello = msg->body;
	const le32 *groups = msg->tail[0].ptr;
	uint32_t i;

	*cred = (struct rpc_cred){
		.uid = le32toh(hello->uid),
		.gid = le32toh(hello->gid),
		.ngroups = le32toh(hello->ngroups),
	};
	for (i = 0; i < cred->ngroups; i++)
		cred->groups[i] = le32toh(groups[i]);
	hello_copy_name(cred->name, sizeof(cred->name), &msg->tail[1]);
}

static bool hello_cred_is_same(const struct rpc_cred *a,
			       const struct rpc_cred *b)
{
	return a->uid == b->uid && a->gid == b->gid &&
	       a->ngroups == b->ngroups &&
	       !memcmp(a->groups, b->groups, a->ngroups * sizeof(a->groups[0]));
}

/* ---- the session ---- */

/*
 * Checks whether a client with this cred may resume the session of conn.  The role must be the
 * same; the groups may differ, because another ticket of the same user may have others.  Returns 0;
 * -ESTALE: the client must create a new session; -EPERM: the session belongs to another user.
 */
static int hello_may_resume(const struct conn *conn,
			    const struct rpc_cred *cred)
{
	const struct ticket_hooks *keeper = conn->thread->server->attr.keeper;
	const struct rpc_cred *his = &conn->session->info.cred;

	if (conn->role != conn->session->info.role)
		return -EPERM;
	if (hello_cred_is_same(his, cred) ||
	    (conn->until && his->uid == cred->uid))
		return 0;
	/* another client took the number after a restart of the manager */
	return conn->until && keeper->admission == ADMIT_AS_NOBODY ? -ESTALE
								   : -EPERM;
}

static void hello_set_ticket_end(const struct conn *conn)
{
	struct rpc_session_info *info = &conn->session->info;

	info->until = conn->until;
	info->term = conn->term;
}

static int hello_resume_session(struct conn *conn, const struct rpc_cred *cred)
{
	struct rpc_session *s = conn->session;
	const struct rpc_server_attr *attr = &s->thread->server->attr;
	int rc;

	if (conn->proved && session_is_unproved(s))
		return session_claim_id(s, cred->uid);
	rc = hello_may_resume(conn, cred);
	if (!rc)
		rc = session_attach(s, conn);
	if (rc)
		return rc;
	hello_set_ticket_end(conn);
	if (attr->service->session_reconnected)
		attr->service->session_reconnected(attr->arg, s);
	return 1;
}

/* A client that has yet to prove its identity stays a guest. */
static int hello_assign_seat(struct conn *conn, const struct rpc_cred *cred)
{
	if (session_is_unproved(conn->session))
		return 0;
	return seat_assign(conn->session,
			   identity_seat_rank(conn, conn->proved, cred->uid));
}

/* Fills in what the service learns about the client. */
static void hello_set_client(struct conn *conn, const struct rpc_cred *cred,
			     const struct wire_msg *msg)
{
	struct rpc_session *s = conn->session;

	s->info.cred = *cred;
	s->info.peer = conn->peer;
	s->info.features = conn->features;
	memset(s->labels.job, 0, sizeof(s->labels.job));
	if (msg->job)
		memcpy(s->labels.job, msg->job, msg->job_len);
	labels_set_own(s);
}

/* A rejected session stores nothing about the client, because another client may use its id. */
static int hello_open_session(struct conn *conn)
{
	struct rpc_session *s = conn->session;
	const struct rpc_server_attr *attr = &s->thread->server->attr;
	int rc = 0;

	s->opened = true;
	if (attr->service->session_open)
		rc = attr->service->session_open(attr->arg, s);
	if (rc < 0) {
		s->opened = false;
		s->info.peer = "-";
		return rc;
	}
	s->state = SESSION_OPEN;
	session_attach(s, conn); /* cannot fail for the first connection */
	return rc;
}

/* Returns 1: resumed; 0: new; -errno: refused. */
static int hello_enter_session(struct conn *conn, const struct rpc_cred *cred,
			       const struct wire_msg *msg)
{
	struct rpc_session *s = conn->session;
	const struct rpc_server_attr *attr = &s->thread->server->attr;
	int rc = 0;

	if (attr->service->session_admit)
		rc = attr->service->session_admit(attr->arg, conn->role,
						  conn->peer, cred);
	if (rc)
		return rc;
	if (s->state == SESSION_OPEN)
		return hello_resume_session(conn, cred);
	s->info.proved = conn->proved;
	hello_set_ticket_end(conn);
	rc = seat_set_host(s, conn->peer);
	if (!rc)
		rc = hello_assign_seat(conn, cred);
	if (!rc)
		rc = session_alloc_slots(s);
	if (rc)
		return rc;
	hello_set_client(conn, cred, msg);
	return hello_open_session(conn);
}

/* ---- HELLO ---- */

static int hello_check_number(const struct conn *conn,
			      const struct wire_hdr *hdr)
{
	const struct rpc_server_attr *attr = &conn->thread->server->attr;
	uint64_t meant = le64toh(hdr->seq);

	return attr->role == WIRE_ROLE_IOD && meant &&
			       meant != wire_meant(attr->index)
		       ? -ENXIO
		       : 0;
}

/* Registers the kept replies for the rail of this connection. */
static int hello_register_replies(struct conn *conn, int resumed)
{
	struct rail_mem *mem = &conn->session->mem;
	int rc = rail_mem_on(mem, conn_rails(conn), conn->link.rail);

	if (rc)
		return rc;
	conn->reply_lkey = mem->mr[conn->link.rail]->lkey;
	return resumed;
}

/* Older clients would take the flag for a protocol error. */
static uint32_t hello_shortage_flag(const struct conn *conn)
{
	return conn->features & WIRE_FT_TOOL ? seat_shortage_flag(conn->session)
					     : 0;
}

static void hello_accept(struct conn *conn, const struct wire_hdr *hdr,
			 bool resumed)
{
	const struct rpc_session_info *info = &conn->session->info;
	struct wire_hello_rep rep = {
		.boot = htole64(conn->thread->server->attr.boot),
		.credits = htole32(conn->session->credits),
		.flags = htole32((resumed ? WIRE_H_RESUMED : 0) |
				 (conn->may_lend ? WIRE_H_CARRY : 0) |
				 hello_shortage_flag(conn)),
	};

	rpc_timer_clear(conn->link.ctx, &conn->timer);
	conn_set_state(conn, CONN_OPEN);
	log_info(conn_log(conn),
		 "%s (%s): %s session %016llx, uid %u, on context %u",
		 conn->peer, info->cred.name, resumed ? "resumes" : "opens",
		 (unsigned long long)info->id, info->cred.uid, info->ctx_index);
	hello_send_answer(conn, hdr, 0, 0, &rep, sizeof(rep));
}

/* Logs why a HELLO is rejected; for debugging only if the client retries, or if it was logged. */
static void hello_log_refusal(const struct conn *conn,
			      const struct rpc_cred *cred, int rc)
{
	bool quiet = rc == -EAGAIN || rc == -EKEYREJECTED ||
		     rc == -EKEYEXPIRED || rc == -EBUSY ||
		     rc == -WIRE_ENOFILES || rc == -WIRE_ENOSEATS ||
		     rc == -WIRE_ENOTLEADER ||
		     (rc == -ENXIO && !log_pace(&conn->thread->misdirected_at));

	log_msg(conn_log(conn), quiet ? LOG_LV_DEBUG : LOG_LV_WARN,
		"%s (%s): session %016llx refused: %s", conn->peer, cred->name,
		(unsigned long long)conn->session->info.id,
		rc == -EAGAIN		 ? "not ready yet"
		: rc == -WIRE_ENOTLEADER ? "another manager leads, or none"
		: rc == -EBUSY
			? "other administrators' tools are in the reserve"
		: rc == -EPERM	? "it belongs to another client"
		: rc == -ENXIO	? "it means another iod: correct the addresses "
				  "in pvfs.conf on the manager's host"
		: rc == -ESTALE ? "it is another user's by now, or a newer "
				  "connection has it"
				: strerror(-rc));
}

void hello_received(struct conn *conn, struct rx *rx)
{
	const struct wire_hdr *hdr = rx->req.msg.hdr;
	struct rpc_session *s = conn->session;
	struct rpc_cred cred;
	int rc;

	if (le16toh(hdr->op) != WIRE_HELLO) {
		hello_protocol_error(conn, rx, -EPROTO,
				     "HELLO must come first");
		return;
	}
	if (s->state == SESSION_NEW)
		s->info.role = conn->role;
	conn->may_lend = conn->thread->server->attr.carry &&
			 le16toh(hdr->flags) & WIRE_F_CARRY && !s->loan_expired;
	hello_read_cred(&cred, &rx->req.msg);
	rc = identity_check(conn, rx, &cred);
	if (!rc)
		rc = hello_check_number(conn, hdr);
	if (!rc)
		rc = conn_seal_check_hello(conn, &rx->req.msg, &cred);
	if (!rc)
		rc = hello_enter_session(conn, &cred, &rx->req.msg);
	if (rc >= 0)
		rc = hello_register_replies(conn, rc);
	if (rc < 0) {
		hello_log_refusal(conn, &cred, rc);
		hello_refuse(conn, hdr, status_for_client(rc, conn->features));
	} else {
		hello_accept(conn, hdr, rc > 0);
		conn_seal_begin(conn);
	}
	conn->hello = NULL;
	rx_release(rx);
}

void hello_bye_received(struct conn *conn, const struct wire_hdr *hdr)
{
	/* Its receive is never posted again, because the connection closes. */
	conn->refs--;
	session_end(conn->session, !(le16toh(hdr->flags) & WIRE_F_UNSURE));
}
