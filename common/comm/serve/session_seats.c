/* SPDX-License-Identifier: BSD-2-Clause */
/* session_seats.c - which sessions have a place: see rpc_session_int.h. */
#include "common/comm/serve/server_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/process_limits.h"

/* Exists while the host has guests or places. */
struct host {
	UT_hash_handle hh;
	uint8_t addr[PEER_HOST_LEN];
	unsigned int guests, seats;
};

static struct host *host_find(struct rpc_server *server, const char *peer)
{
	uint8_t addr[PEER_HOST_LEN];
	struct host *h;

	peer_host(peer, addr);
	HASH_FIND(hh, server->hosts, addr, sizeof(addr), h);
	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	memcpy(h->addr, addr, sizeof(addr));
	HASH_ADD(hh, server->hosts, addr, sizeof(h->addr), h);
	if (h->hh.tbl)
		return h;
	free(h);
	return NULL;
}

static void host_free_unused(struct rpc_server *server, struct host *h)
{
	if (h->guests || h->seats)
		return;
	HASH_DEL(server->hosts, h);
	free(h);
}

/* Returns the oldest guest of the host with most guests.  scarce: among guests of the reserve. */
static struct rpc_session *seat_worst_guest(const struct rpc_server *server,
					    bool scarce)
{
	struct rpc_session *s, *worst = NULL;

	TAILQ_FOREACH(s, &server->guests, guest_link)
		if (s->scarce >= scarce &&
		    (!worst || s->host->guests > worst->host->guests))
			worst = s;
	return worst;
}

static void seat_remove_guest(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	TAILQ_REMOVE(&server->guests, s, guest_link);
	server->nguests--;
	server->nscarce -= s->scarce;
	s->host->guests--;
	s->is_guest = false;
}

/* Whether the session counts against max_sessions: it is no guest and not in the reserve. */
static bool seat_is_ordinary(const struct rpc_session *s)
{
	return !s->is_guest && !s->shortage;
}

void seat_set_disconnected(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	s->disconnected = true;
	TAILQ_INSERT_TAIL(&server->disconnected, s, disconnected_link);
	server->ndisconnected += seat_is_ordinary(s);
}

void seat_set_connected(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	if (!s->disconnected)
		return;
	s->disconnected = false;
	TAILQ_REMOVE(&server->disconnected, s, disconnected_link);
	server->ndisconnected -= seat_is_ordinary(s);
}

static void reserve_add(struct rpc_server *server, struct rpc_session *s,
			int shortage)
{
	s->shortage = shortage;
	s->reserved_at = clock_now();
	TAILQ_INSERT_TAIL(&server->tools, s, tool_link);
	server->ntools++;
}

static void reserve_remove(struct rpc_server *server, struct rpc_session *s)
{
	if (!s->shortage)
		return;
	s->shortage = 0;
	TAILQ_REMOVE(&server->tools, s, tool_link);
	server->ntools--;
}

/* ---- the end of a place ---- */

static void seat_give_up(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	if (s->is_guest) {
		seat_remove_guest(s);
	} else {
		reserve_remove(server, s);
		server->nsessions--;
		s->host->seats--;
	}
	host_free_unused(server, s->host);
	s->host = NULL;
}

void seat_unlist(struct rpc_session *s)
{
	if (!s->listed)
		return;
	s->listed = false;
	seat_set_connected(s);
	seat_give_up(s);
	s->thread->nsessions--;
}

void seat_expel(struct rpc_session *s)
{
	seat_unlist(s);
	s->pending_mails++;
	server_thread_post(s->thread, &s->expel_mail);
}

/* ---- guests ---- */

/* A disconnected session uses no connection, and gives its place up for one that does. */
static bool server_is_full(const struct rpc_server *server)
{
	return server->nguests > SEATS_GUESTS &&
	       server->nsessions - server->ntools - server->ndisconnected +
			       server->nguests >
		       server->attr.max_sessions;
}

/* A third of the descriptors of the reserve is for tools, and the rest for its guests. */
static unsigned int reserve_size(void)
{
	unsigned int n = descriptors_reserve(TP_SPARE) / 3 / TP_EACH;

	return n < 2 ? 2 : n < SEATS_TOOLS ? n : SEATS_TOOLS;
}

int seat_add_guest(struct rpc_session *s, const char *peer)
{
	struct rpc_server *server = s->thread->server;
	struct host *h = host_find(server, peer);

	if (!h)
		return -ENOMEM;
	s->host = h;
	s->is_guest = true;
	h->guests++;
	TAILQ_INSERT_TAIL(&server->guests, s, guest_link);
	server->nguests++;
	if (server_is_full(server))
		seat_expel(seat_worst_guest(server, false));
	return 0;
}

void seat_mark_scarce(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;

	s->scarce = true;
	if (++server->nscarce > 2 * reserve_size())
		seat_expel(seat_worst_guest(server, true));
}

bool seat_is_reserved(const struct rpc_session *s)
{
	return !s->is_guest && (s->shortage || s->info.role == WIRE_ROLE_MGR);
}

/* ---- places ---- */

/*
 * Ends a disconnected session, to make room for a session of host h: one of a host that has at
 * least as many places as h or, if only is set, one of h.  Does not end sessions of the reserve,
 * because that would free no place.
 */
static bool seat_make_room(struct rpc_server *server, const struct host *h,
			   bool only)
{
	struct rpc_session *s;

	TAILQ_FOREACH(s, &server->disconnected, disconnected_link) {
		if (s->pending_mails || s->is_guest || s->shortage ||
		    (only ? s->host != h : s->host->seats < h->seats))
			continue;
		log_warn(server->attr.log,
			 "session %016llx (%s): ended to make room while away; "
			 "raise max_sessions (%u)",
			 (unsigned long long)s->info.id, s->info.cred.name,
			 server->attr.max_sessions);
		seat_expel(s);
		return true;
	}
	return false;
}

static void seat_log_scarce(struct rpc_server *server,
			    const struct rpc_session *s)
{
	if (log_pace(&server->refused_at))
		log_warn(server->attr.log,
			 "session %016llx: refused: " SEATS_NO_FILES,
			 (unsigned long long)s->info.id);
}

static void seat_log_full(struct rpc_server *server,
			  const struct rpc_session *s, bool crowded)
{
	if (!log_pace(&server->refused_at))
		return;
	log_warn(server->attr.log,
		 crowded ? "session %016llx: refused: its host has %u of them; "
			   "raise host_sessions"
			 : "session %016llx: refused: too many sessions (%u); "
			   "raise max_sessions",
		 (unsigned long long)s->info.id,
		 crowded ? s->host->seats : server->nsessions);
}

static bool server_has_place(const struct rpc_server *server)
{
	return server->nsessions - server->ntools < server->attr.max_sessions;
}

/* Returns 0, or why there is no place. */
static int seat_find(struct rpc_server *server, const struct rpc_session *s,
		     bool quiet)
{
	const struct rpc_server_attr *attr = &server->attr;
	bool crowded = attr->host_sessions &&
		       s->host->seats >= attr->host_sessions;

	if (s->scarce) {
		if (!quiet)
			seat_log_scarce(server, s);
		return -WIRE_ENOFILES;
	}
	if (!crowded && server_has_place(server))
		return 0;
	if (seat_make_room(server, s->host, crowded))
		return 0;
	if (!quiet)
		seat_log_full(server, s, crowded);
	return -WIRE_ENOSEATS;
}

/* A manager without a key is in the reserve too, and gives its place up only for a manager. */
static struct rpc_session *reserve_oldest(const struct rpc_server *server,
					  enum wire_role comes)
{
	struct rpc_session *s;

	TAILQ_FOREACH(s, &server->tools, tool_link)
		if (s->info.role != WIRE_ROLE_MGR || comes == WIRE_ROLE_MGR)
			return s;
	return NULL;
}

/*
 * The oldest tool was probably forgotten.  If its administrator still uses it, it soon
 * reconnects.
 */
static int reserve_find(struct rpc_server *server, enum wire_role comes)
{
	struct rpc_session *oldest = reserve_oldest(server, comes);

	if (server->ntools < reserve_size())
		return 0;
	if (!oldest || clock_now() - oldest->reserved_at <
			       server->attr.stall_ms / 2 * CLOCK_NS_PER_MS)
		return -EBUSY;
	log_warn(server->attr.log,
		 "session %016llx (%s): ended to make room in the reserve for "
		 "another administrator's tool",
		 (unsigned long long)oldest->info.id, oldest->info.cred.name);
	seat_expel(oldest);
	return 0;
}

static int seat_assign_locked(struct rpc_server *server, struct rpc_session *s,
			      enum seat_rank rank)
{
	int shortage = 0, rc = 0;

	if (!s->listed)
		return -EAGAIN;
	if (!s->is_guest)
		return 0;
	if (rank != SEAT_SERVER)
		shortage = seat_find(server, s, rank == SEAT_TOOL);
	if (shortage)
		rc = rank == SEAT_TOOL ? reserve_find(server, s->info.role)
				       : shortage;
	if (rc)
		return rc;
	seat_remove_guest(s);
	if (shortage)
		reserve_add(server, s, shortage);
	server->nsessions++;
	server->ndisconnected += s->disconnected && !shortage;
	s->host->seats++;
	return 0;
}

int seat_assign(struct rpc_session *s, enum seat_rank rank)
{
	struct rpc_server *server = s->thread->server;
	int rc;

	pthread_mutex_lock(&server->lock);
	rc = seat_assign_locked(server, s, rank);
	pthread_mutex_unlock(&server->lock);
	return rc;
}

/* The shortage of a guest: of the place that it gets with its proof. */
static int seat_find_shortage(const struct rpc_server *server,
			      const struct rpc_session *s)
{
	if (!s->is_guest)
		return s->shortage;
	if (s->scarce)
		return -WIRE_ENOFILES;
	return server_has_place(server) ? 0 : -WIRE_ENOSEATS;
}

uint32_t seat_shortage_flag(struct rpc_session *s)
{
	struct rpc_server *server = s->thread->server;
	int shortage;

	pthread_mutex_lock(&server->lock);
	shortage = seat_find_shortage(server, s);
	pthread_mutex_unlock(&server->lock);
	return !shortage		    ? 0
	       : shortage == -WIRE_ENOFILES ? WIRE_H_NOFILES
					    : WIRE_H_NOSEATS;
}

static int seat_set_host_locked(struct rpc_session *s, const char *peer)
{
	struct rpc_server *server = s->thread->server;
	struct host *h = s->listed ? host_find(server, peer) : NULL;

	if (!h)
		return s->listed ? -ENOMEM : -EAGAIN;
	if (h == s->host)
		return 0;
	h->guests += s->is_guest;
	h->seats += !s->is_guest;
	s->host->guests -= s->is_guest;
	s->host->seats -= !s->is_guest;
	host_free_unused(server, s->host);
	s->host = h;
	return 0;
}

int seat_set_host(struct rpc_session *s, const char *peer)
{
	struct rpc_server *server = s->thread->server;
	int rc;

	pthread_mutex_lock(&server->lock);
	rc = seat_set_host_locked(s, peer);
	pthread_mutex_unlock(&server->lock);
	return rc;
}
