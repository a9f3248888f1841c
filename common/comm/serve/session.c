/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c - the session table, and the life of a session. */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table, under the server's lock ---- */

/* The id may be used again. */
static void session_remove(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	seat_unlist(s);
	HASH_DEL(server->table, s);
	LIST_REMOVE(s, all_link);
	s->all_link.le_prev = NULL;
}

static struct server_thread *session_choose_thread(struct rpc_server *server)
{
	struct server_thread *best = &server->threads[0];
	unsigned int i;

	for (i = 1; i < server->nthreads; i++) {
		if (server->threads[i].nsessions < best->nsessions)
			best = &server->threads[i];
	}
	return best;
}

static void session_ttl(struct rpc_timer *timer);
static void session_finish(struct ctx_task *task);

static int session_new(struct rpc_server *server, const struct wire_connect *wc,
		       const struct tp_conn_req *req, struct rpc_session **out)
{
	struct rpc_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->info.id = le64toh(wc->session);
	HASH_ADD(hh, server->table, info.id, sizeof(s->info.id), s);
	if (!s->hh.tbl) {
		free(s);
		return -ENOMEM;
	}
	s->thread = session_choose_thread(server);
	s->expel_mail.session = s;
	s->info.role = le16toh(wc->role);
	s->info.peer = "-";
	s->info.ctx = s->thread->ctx;
	s->info.ctx_index = s->thread->index;
	s->credits = server->attr.slots;
	s->ttl.fire = session_ttl;
	s->end.run = session_finish;
	TAILQ_INIT(&s->guests);
	if (seat_add_guest(s, tp_req_peer(req))) {
		HASH_DEL(server->table, s);
		free(s);
		return -ENOMEM;
	}
	s->thread->nsessions++;
	s->listed = true;
	LIST_INSERT_HEAD(&server->all, s, all_link);
	if (tp_req_scarce(req))
		seat_mark_scarce(s);
	*out = s;
	return 0;
}

/* Whether an existing session accepts the connect. */
static int session_may_join(const struct rpc_session *s,
			    const struct tp_conn_req *req)
{
	if (!s->listed || s->pending_mails >= SERVER_OLD_CONNS)
		return -EBUSY;
	return tp_req_scarce(req) && !seat_is_reserved(s) ? -WIRE_ENOFILES : 0;
}

int session_lookup(struct rpc_server *server, uint64_t id,
		   const struct wire_connect *wc, const struct tp_conn_req *req,
		   struct rpc_session **out)
{
	struct rpc_session *s;
	int rc;

	pthread_mutex_lock(&server->lock);
	HASH_FIND(hh, server->table, &id, sizeof(id), s);
	rc = fence_check(server, id);
	if (!rc && !s)
		rc = wc ? session_new(server, wc, req, &s) : -ESTALE;
	else if (!rc)
		rc = session_may_join(s, req);
	if (!rc) {
		s->pending_mails++;
		*out = s;
	}
	pthread_mutex_unlock(&server->lock);
	return rc;
}

void session_mail_handled(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	pthread_mutex_lock(&server->lock);
	s->pending_mails--;
	pthread_mutex_unlock(&server->lock);
	session_check_unused(s);
}

bool rpc_server_knows(struct rpc_server *server, uint64_t id)
{
	struct rpc_session *s;

	pthread_mutex_lock(&server->lock);
	HASH_FIND(hh, server->table, &id, sizeof(id), s);
	pthread_mutex_unlock(&server->lock);
	return s;
}

void rpc_server_each(struct rpc_server *server,
		     void (*fn)(void *arg, struct rpc_session *session),
		     void *arg)
{
	struct rpc_session *s;

	pthread_mutex_lock(&server->lock);
	LIST_FOREACH(s, &server->all, all_link)
		if (s->state == SESSION_OPEN)
			fn(arg, s);
	pthread_mutex_unlock(&server->lock);
}

/* ---- connections before HELLO ---- */

static unsigned int guests_of_its_host(const struct conn *conn)
{
	uint8_t host[PEER_HOST_LEN], other[PEER_HOST_LEN];
	unsigned int n = 0;
	struct conn *c;

	peer_host(conn->peer, host);
	TAILQ_FOREACH(c, &conn->session->guests, guest_link) {
		peer_host(c->peer, other);
		n += !memcmp(host, other, sizeof(host));
	}
	return n;
}

/* Never the last, which has just come. */
static struct conn *session_guest_to_close(const struct rpc_session *s)
{
	struct conn *c, *worst = TAILQ_FIRST(&s->guests);

	TAILQ_FOREACH(c, &s->guests, guest_link)
		if (guests_of_its_host(c) > guests_of_its_host(worst))
			worst = c;
	return worst;
}

void session_add_guest(struct conn *conn)
{
	struct rpc_session *s = conn->session;
	atomic_uint *more = &conn->thread->server->extra_guests;

	conn->is_guest = true;
	TAILQ_INSERT_TAIL(&s->guests, conn, guest_link);
	if (++s->nguests <= SEATS_FREE)
		return;
	if (atomic_fetch_add(more, 1) >= SEATS_GUESTS ||
	    s->nguests > SEATS_OF_ONE)
		conn_close(session_guest_to_close(s), -ESTALE);
}

/* conn sent HELLO, or is closed. */
static void session_remove_guest(struct conn *conn)
{
	struct rpc_session *s = conn->session;

	if (!conn->is_guest)
		return;
	conn->is_guest = false;
	TAILQ_REMOVE(&s->guests, conn, guest_link);
	if (s->nguests-- > SEATS_FREE)
		atomic_fetch_sub(&conn->thread->server->extra_guests, 1);
}

/* ---- the current connection ---- */

/*
 * Allocates the replies of all slots in one block, which is registered for each rail in use.
 */
int session_alloc_slots(struct rpc_session *s)
{
	const struct rpc_server_attr *attr = &s->thread->server->attr;
	size_t step = server_step(attr->reply_max);
	size_t len = (step * attr->slots + 4095) & ~(size_t)4095;
	unsigned int i;

	if (s->bytes) /* an earlier HELLO was refused after this */
		return 0;
	if (!s->slots)
		s->slots = calloc(attr->slots, sizeof(*s->slots));
	if (!s->block)
		s->block = aligned_alloc(4096, len);
	if (!s->slots || !s->block)
		return -ENOMEM;
	s->bytes = sizeof(*s) + len + attr->slots * sizeof(*s->slots);
	counter_add(&s->thread->session_bytes, s->bytes);
	rail_mem_init(&s->mem, s->block, len, 0);
	for (i = 0; i < attr->slots; i++)
		s->slots[i].reply = s->block + i * step;
	return 0;
}

/*
 * The old connection is closed only after the HELLO of the new one was accepted.  So an
 * unauthorised client that knows the id of a session cannot disturb its owner.
 */
int session_attach(struct rpc_session *s, struct conn *conn)
{
	struct rpc_server *server = s->thread->server;

	if (s->epoch && (int32_t)(conn->epoch - s->epoch) <= 0)
		return -ESTALE;
	if (s->conn)
		conn_close(s->conn, -ESTALE);
	session_remove_guest(conn);
	s->conn = conn;
	s->epoch = conn->epoch;
	s->info.peer = conn->peer;
	s->info.features = conn->features;
	rpc_timer_clear(s->thread->ctx, &s->ttl);
	pthread_mutex_lock(&server->lock);
	seat_set_connected(s);
	pthread_mutex_unlock(&server->lock);
	return 0;
}

bool rpc_session_is_connected(const struct rpc_session *session)
{
	return session->conn;
}

static void session_detach(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	s->conn = NULL;
	s->info.peer = "-";
	s->ttl_extended = false;
	pthread_mutex_lock(&server->lock);
	if (s->listed) {
		seat_set_disconnected(s);
		rpc_timer_set(s->thread->ctx, &s->ttl,
			      clock_after_ms(server->attr.session_ttl_ms));
	}
	pthread_mutex_unlock(&server->lock);
}

void session_conn_closed(struct conn *conn)
{
	struct rpc_session *s = conn->session;

	session_remove_guest(conn);
	if (s->conn == conn)
		session_detach(s);
	else if (s->state == SESSION_NEW && !s->nguests)
		session_end(s, false);
}

/* ---- the end ---- */

/*
 * Called when the session was disconnected for session_ttl_ms: ends it, unless its client is just
 * reconnecting.  A connection that has not sent HELLO may be that of the client.  So it extends the
 * time by stall_ms, but only once, because an unauthorised client could connect again and again.
 */
static void session_ttl(struct rpc_timer *timer)
{
	struct rpc_session *s = container_of(timer, struct rpc_session, ttl);
	struct rpc_server *server = s->thread->server;
	bool over;

	pthread_mutex_lock(&server->lock);
	over = s->listed &&
	       (s->ttl_extended || (!s->pending_mails && !s->nguests));
	if (over)
		seat_unlist(s);
	else if (s->listed)
		rpc_timer_set(s->thread->ctx, timer,
			      clock_after_ms(server->attr.stall_ms));
	s->ttl_extended = true;
	pthread_mutex_unlock(&server->lock);
	if (!over)
		return;
	log_warn(server->attr.log,
		 "session %016llx (%s): ended after %u ms without a connection",
		 (unsigned long long)s->info.id, s->info.cred.name,
		 server->attr.session_ttl_ms);
	session_end(s, false);
}

void session_end(struct rpc_session *s, bool clean)
{
	struct rpc_server *server = s->thread->server;

	if (s->state == SESSION_ENDED)
		return;
	s->state = SESSION_ENDED;
	s->clean = clean;
	pthread_mutex_lock(&server->lock);
	seat_unlist(s);
	pthread_mutex_unlock(&server->lock);
	rpc_timer_clear(s->thread->ctx, &s->ttl);
	while (s->nguests)
		conn_close(TAILQ_FIRST(&s->guests), -ESTALE);
	if (s->conn)
		conn_close(s->conn, clean ? 0 : -ESTALE);
	session_check_unused(s);
}

void session_check_unused(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;
	unsigned int pending_mails;

	if (s->state != SESSION_ENDED || s->nexec || s->nconns)
		return;
	pthread_mutex_lock(&server->lock);
	pending_mails = s->pending_mails;
	pthread_mutex_unlock(&server->lock);
	if (!pending_mails)
		ctx_defer(s->thread->ctx, &s->end);
}

static void session_finish(struct ctx_task *task)
{
	struct rpc_session *s = container_of(task, struct rpc_session, end);
	struct server_thread *thread = s->thread;
	struct rpc_server *server = thread->server;
	const struct rpc_service *service = server->attr.service;

	if (s->opened && service->session_close)
		service->session_close(server->attr.arg, s, s->clean);
	pthread_mutex_lock(&server->lock);
	session_remove(s);
	pthread_mutex_unlock(&server->lock);
	session_free(s);
	server_thread_session_ended(thread);
}

void session_free(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;
	const struct rpc_service *service = server->attr.service;

	if (s->opened && service->session_free)
		service->session_free(server->attr.arg, s);
	if (s->all_link.le_prev)
		session_remove(s);
	labels_release(s);
	rpc_timer_clear(s->thread->ctx, &s->ttl);
	ctx_undefer(s->thread->ctx, &s->end);
	counter_add(&s->thread->session_bytes, -s->bytes);
	rail_mem_fini(&s->mem);
	free(s->block);
	free(s->slots);
	free(s);
}

/* ---- for the service ---- */

struct rpc_session_info *rpc_session_info(struct rpc_session *session)
{
	return &session->info;
}

int rpc_session_seed(struct rpc_session *s, unsigned int slot, uint64_t seq,
		     const void *reply, size_t len)
{
	const struct rpc_server_attr *attr = &s->thread->server->attr;

	if (slot >= attr->slots || len < sizeof(struct wire_hdr) ||
	    len > attr->reply_max)
		return -EINVAL;
	memcpy(s->slots[slot].reply, reply, len);
	s->slots[slot].len = (uint32_t)len;
	s->slots[slot].seq = seq;
	return 0;
}
