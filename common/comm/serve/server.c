/* SPDX-License-Identifier: BSD-2-Clause */
/* server.c - the listener, and the lanes with their mailboxes. */
#include "common/comm/serve/server_int.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define TRIM_SESSIONS 32u /* sessions that end before the heap is trimmed */
#define TRIM_MS 1000u

/* ---- lanes ---- */

void lane_post(struct lane *lane, struct mail *mail)
{
	pthread_mutex_lock(&lane->lock);
	STAILQ_INSERT_TAIL(&lane->mails, mail, link);
	pthread_mutex_unlock(&lane->lock);
	ctx_hook_raise(lane->ctx, &lane->hook);
}

/* A newer connection of a session replaces the old one when its HELLO is accepted. */
static int lane_connect(struct lane *lane, const struct mail *mail)
{
	struct rpc_session *s = mail->session;

	if (s->state == SESSION_ENDED)
		return -EAGAIN;
	if (s->epoch && !session_is_strangers(s) &&
	    (int32_t)(mail->epoch - s->epoch) <= 0)
		return -ESTALE;
	if (s->nconns - s->nguests >= SERVER_OLD_CONNS)
		return -EAGAIN;
	conn_accept(lane, mail);
	return 0;
}

static void lane_refuse(struct lane *lane, const struct mail *mail,
			const char *why, int rc)
{
	log_info(lane->server->attr.log, "%s: refused: session %016llx: %s",
		 tp_req_peer(mail->req),
		 (unsigned long long)mail->session->info.id, why);
	conn_reject(lane->server, mail->req, rc);
}

static void lane_request(struct lane *lane, const struct mail *mail)
{
	struct rpc_session *s = mail->session;
	int rc = lane_connect(lane, mail);

	if (rc)
		lane_refuse(lane, mail,
			    rc == -ESTALE
				    ? "an old connect"
				    : "its last connections are still busy",
			    rc);
	if (s->state == SESSION_NEW && !s->nguests)
		session_end(s, false);
}

static void lane_join(struct lane *lane, const struct mail *mail)
{
	int rc = apart_accept(lane, mail);

	if (rc)
		lane_refuse(lane, mail,
			    rc == -ESTALE ? "its connection was not asked to "
					    "be joined so"
					  : strerror(-rc),
			    rc);
}

static void lane_mail(struct lane *lane, struct mail *mail)
{
	struct rpc_session *s = mail->session;

	if (mail == &s->end_mail) {
		session_end(s, false);
	} else {
		if (apart_wants(mail))
			lane_join(lane, mail);
		else
			lane_request(lane, mail);
		free(mail);
	}
	session_unpend(s);
}

static struct mail *lane_take(struct lane *lane)
{
	struct mail *mail;

	pthread_mutex_lock(&lane->lock);
	mail = STAILQ_FIRST(&lane->mails);
	if (mail)
		STAILQ_REMOVE_HEAD(&lane->mails, link);
	pthread_mutex_unlock(&lane->lock);
	return mail;
}

static void lane_run(struct ctx_hook *hook)
{
	struct lane *lane = container_of(hook, struct lane, hook);
	struct mail *mail;

	while ((mail = lane_take(lane)))
		lane_mail(lane, mail);
}

/*
 * malloc() does not reuse the memory of ended sessions for new ones: their blocks are aligned to
 * pages, and smaller allocations split the free ones.  Without this the heap grows with each storm
 * of clients.  A trim takes up to 2 ms of the thread, so there is at most one each TRIM_MS.
 */
static void lane_trim(struct rpc_timer *timer)
{
	struct lane *lane = container_of(timer, struct lane, trim);

	atomic_store(&lane->server->ended, 0);
	malloc_trim(0);
}

void lane_session_ended(struct lane *lane)
{
	if (atomic_fetch_add(&lane->server->ended, 1) == TRIM_SESSIONS - 1)
		rpc_timer_set(lane->ctx, &lane->trim, clock_after_ms(TRIM_MS));
}

static void lane_init(struct lane *lane, struct rpc_server *server,
		      unsigned int index)
{
	lane->server = server;
	lane->ctx = server->attr.ctx[index];
	lane->index = index;
	lane->hook.run = lane_run;
	lane->trim.fire = lane_trim;
	pthread_mutex_init(&lane->lock, NULL);
	pthread_mutex_init(&lane->hot.lock, NULL);
	STAILQ_INIT(&lane->mails);
	LIST_INIT(&lane->conns);
	TAILQ_INIT(&lane->turns);
	/* a share of 0 would mean no limit, and so would half of 1 */
	if (server->attr.rdma_max)
		lane->rdma_max = server->attr.rdma_max / server->attr.nctx | 2;
	lane->carry_above = server->attr.carry_above / server->attr.nctx;
	ctx_hook_add(lane->ctx, &lane->hook);
}

static void lane_fini(struct lane *lane)
{
	struct mail *mail;
	struct conn *conn;

	while ((mail = lane_take(lane))) {
		if (mail == &mail->session->end_mail)
			continue;
		tp_reject(mail->req, NULL, 0);
		free(mail);
	}
	while ((conn = LIST_FIRST(&lane->conns)))
		conn_free(conn);
	shared_close(lane);
	tallies_free(&lane->tallies);
	pthread_mutex_destroy(&lane->hot.lock);
	rpc_timer_clear(lane->ctx, &lane->trim);
	ctx_hook_remove(lane->ctx, &lane->hook);
	pthread_mutex_destroy(&lane->lock);
}

/* ---- connect requests, on the first context ---- */

static int server_check(struct rpc_server *server, struct tp_conn_req *req,
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

static int server_admit(struct rpc_server *server, const char *peer)
{
	const struct networks *allow = server->attr.allow;

	if (!allow || !allow->n || peer_is_here(peer) ||
	    networks_have(allow, peer))
		return 0;
	lane_count(&server->lanes[0].outsiders);
	if (log_pace(&server->outsider_at))
		log_warn(server->attr.log,
			 "%s: refused: it is in none of the networks of "
			 "[filesystem] allow",
			 peer);
	return -EACCES;
}

static void server_log_refusal(struct rpc_server *server,
			       const struct wire_connect *wc,
			       struct tp_conn_req *req, int rc)
{
	if (rc == -WIRE_ENOFILES && !log_pace(&server->scarce_at))
		return;
	log_warn(server->attr.log, "%s: refused: session %016llx: %s",
		 tp_req_peer(req), (unsigned long long)le64toh(wc->session),
		 rc == -ESTALE	      ? "it was fenced"
		 : rc == -EKEYREVOKED ? "it was evicted"
		 : rc == -EBUSY ? "its last life, or connect, is not over yet"
		 : rc == -WIRE_ENOFILES ? SEATS_NO_FILES
					: strerror(-rc));
}

/* A client that does not know the new statuses gets -ESTALE if evicted, or -EAGAIN. */
int server_told(int status, uint32_t features)
{
	switch (status) {
	case -EKEYREVOKED:
		return features & WIRE_FT_EVICT ? status : -ESTALE;
	case -WIRE_ENOFILES:
	case -WIRE_ENOSEATS:
		return features & WIRE_FT_ROOM ? status : -EAGAIN;
	default:
		return status;
	}
}

/* Only claimed so far; the proof comes with HELLO. */
static bool server_wants_reserve(const struct wire_connect *wc,
				 const struct wire_hail *hail)
{
	return le16toh(wc->role) == WIRE_ROLE_MGR ||
	       (le16toh(wc->role) == WIRE_ROLE_CLIENT &&
		le32toh(hail->features) & WIRE_FT_TOOL);
}

/* Finds the session of the connect. */
static int server_find(struct rpc_server *server, const struct wire_connect *wc,
		       const struct tp_conn_req *req, struct mail *mail)
{
	if (tp_req_scarce(req) && !server_wants_reserve(wc, &mail->hail))
		return -WIRE_ENOFILES;
	if (apart_wants(mail))
		return session_known(server, le64toh(wc->session), req,
				     &mail->session);
	return session_lookup(server, wc, req, &mail->session);
}

static int server_hand_over(struct rpc_server *server,
			    const struct wire_connect *wc,
			    struct tp_conn_req *req, unsigned int rail)
{
	struct mail *mail = calloc(1, sizeof(*mail));
	const void *priv;
	unsigned int len;
	int rc;

	if (!mail)
		return -ENOMEM;
	priv = tp_req_private(req, &len);
	wire_take_hail(priv, len, sizeof(*wc), &mail->hail);
	if (le32toh(mail->hail.features) & WIRE_FT_HERE && server->attr.prover)
		server->attr.prover->hear(mail->heard, priv, len);
	rc = server_find(server, wc, req, mail);
	if (rc) {
		server_log_refusal(server, wc, req, rc);
		rc = server_told(rc, le32toh(mail->hail.features));
		free(mail);
		return rc;
	}
	mail->req = req;
	mail->rail = rail;
	mail->role = le16toh(wc->role);
	mail->epoch = le32toh(wc->epoch);
	mail->reply_max = le32toh(wc->reply_max);
	lane_post(mail->session->lane, mail);
	return 0;
}

static void server_request(struct ctx_listener *l, struct tp_conn_req *req)
{
	struct server_listener *listener =
		container_of(l, struct server_listener, base);
	struct rpc_server *server = listener->server;
	struct wire_connect wc = { 0 };
	int rc = server_admit(server, tp_req_peer(req));

	if (!rc) {
		rc = server_check(server, req, &wc);
		if (rc)
			lane_count(&server->lanes[0].protocol_errors);
	}
	if (!rc)
		rc = server_hand_over(server, &wc, req, listener->rail);
	if (rc)
		conn_reject(server, req, rc);
}

/* ---- public ---- */

int rpc_server_open(const struct rpc_server_attr *attr, struct rpc_server **out)
{
	struct rpc_server *server = calloc(1, sizeof(*server));
	struct rpc_ctx *ctx = attr->ctx[0];
	unsigned int i;
	int rc;

	if (!server)
		return -ENOMEM;
	server->attr = *attr;
	server->attr.features |= WIRE_FT_JOB | WIRE_FT_EVICT | WIRE_FT_GROUPS |
				 WIRE_FT_WAITS | WIRE_FT_TOOL | WIRE_FT_ROOM;
	server->skew = clock_boot() - clock_now();
	if (!attr->stall_ms)
		server->attr.stall_ms = SERVER_STALL_MS;
	if (!attr->carry_ms)
		server->attr.carry_ms = server->attr.stall_ms / 2;
	server->attr.ctx = NULL;
	server->fast.max = attr->fast_bytes;
	server->lanes = calloc(attr->nctx, sizeof(*server->lanes));
	rc = server->lanes ? labels_init(&server->labels, attr->nctx) : -ENOMEM;
	if (rc)
		goto free_lanes;
	rc = server_listen(server, ctx, server_request);
	if (rc)
		goto fini_labels;
	server->attr.ctx = attr->ctx;
	for (i = 0; i < attr->nctx; i++)
		lane_init(&server->lanes[i], server, i);
	server->attr.ctx = NULL;
	server->nlanes = attr->nctx;
	pthread_mutex_init(&server->lock, NULL);
	TAILQ_INIT(&server->away);
	TAILQ_INIT(&server->guests);
	TAILQ_INIT(&server->tools);
	LIST_INIT(&server->all);
	*out = server;
	return 0;
fini_labels:
	labels_fini(&server->labels);
free_lanes:
	free(server->lanes);
	free(server);
	return rc;
}

void rpc_server_close(struct rpc_server *server)
{
	struct rpc_ctx *ctx = server->lanes[0].ctx;
	struct rpc_session *s;
	unsigned int i;

	server_unlisten(server, ctx);
	for (i = 0; i < server->nlanes; i++)
		lane_fini(&server->lanes[i]);
	while ((s = LIST_FIRST(&server->all)))
		session_free(s);
	fence_free(server);
	labels_fini(&server->labels);
	pthread_mutex_destroy(&server->lock);
	free(server->lanes);
	free(server);
}

void rpc_server_addr(const struct rpc_server *server, struct addr *addr)
{
	*addr = server->addr;
}

void rpc_server_stats(const struct rpc_server *server,
		      struct rpc_server_stats *stats)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&server->lock;
	unsigned int i;

	*stats = (struct rpc_server_stats){ 0 };
	for (i = 0; i < server->nlanes; i++) {
		const struct lane *lane = &server->lanes[i];

		stats->requests += atomic_load(&lane->requests);
		stats->protocol_errors += atomic_load(&lane->protocol_errors);
		stats->replays += atomic_load(&lane->replays);
		stats->fast += atomic_load(&lane->fast);
		stats->placed += atomic_load(&lane->placed);
		stats->whole += atomic_load(&lane->whole);
		stats->rdma_waits += atomic_load(&lane->rdma_waits);
		stats->rdma_cut += atomic_load(&lane->rdma_cut);
		stats->rdma_most += atomic_load(&lane->rdma_most);
		stats->carried += atomic_load(&lane->carried);
		stats->carried_bytes += atomic_load(&lane->carried_bytes);
		stats->carry_declined += atomic_load(&lane->carry_declined);
		stats->carry_late += atomic_load(&lane->carry_late);
		stats->conns += atomic_load(&lane->conns_now);
		stats->client_bytes += atomic_load(&lane->conn_bytes) +
				       atomic_load(&lane->session_bytes);
		stats->aparts += atomic_load(&lane->aparts_now);
		stats->apart_bytes += atomic_load(&lane->apart_bytes);
		stats->message_bytes += atomic_load(&lane->message_bytes);
		stats->impostors += atomic_load(&lane->impostors);
		stats->bare += atomic_load(&lane->bare);
		stats->outsiders += atomic_load(&lane->outsiders);
		stats->unknown += atomic_load(&lane->unknown);
		stats->shared += atomic_load(&lane->shared_receives);
		stats->shared_bytes += atomic_load(&lane->shared_bytes);
		stats->shared_copies += atomic_load(&lane->shared_copies);
	}
	stats->fast_refused = atomic_load(&server->fast.refused);
	stats->fast_bytes = atomic_load(&server->fast.used);
	pthread_mutex_lock(lock);
	stats->sessions = server->nsessions;
	pthread_mutex_unlock(lock);
}
