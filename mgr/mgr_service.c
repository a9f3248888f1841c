/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_service.c - opens sessions, also those that return after a restart of the manager. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/auth/auth.h"
#include "mgr/state/open_paths.h"
#include "mgr/request/caller.h"
#include "mgr/session/caps.h"
#include "mgr/session/evict.h"
#include "mgr/managers_service.h"
#include "mgr/membership.h"
#include "mgr/mgr_service.h"
#include "mgr/peers/peers.h"
#include "mgr/session/session_table.h"

static int seed_reply(void *arg, unsigned int slot, const struct reply_rec *rec)
{
	struct rpc_session *session = arg;
	int rc;

	if (rec->kind != REPLY_DONE)
		return 0;
	rc = rpc_session_seed(session, slot, rec->seq, rec->bytes, rec->len);
	/* a slot that is no longer granted will not be used */
	return rc == -EINVAL ? 0 : rc;
}

/*
 * The session has no record.  If it had one, the database is older than the session: restored from
 * a copy.  Then files that the session has open may not exist any more, or its locks.
 */
static int check_unrecorded(struct mgr *mgr,
			    const struct rpc_session_info *info)
{
	const struct session_rec rec = { .uid = info->cred.uid };
	int rc;

	if (!(info->features & WIRE_FT_RECORDED) ||
	    info->role != WIRE_ROLE_CLIENT)
		return 0;
	rc = session_ticket_check_return(mgr, info, &rec);
	return rc ? rc : session_end_unrecorded(mgr, info->id);
}

/* 1: known from an earlier run; 0: new; -ESTALE: it has ended; or another -errno. */
static int look_up(struct mgr *mgr, struct rpc_session *session, uint64_t id,
		   bool *declares)
{
	struct session_rec rec;
	int rc;

	rc = session_get(mgr->st, id, &rec);
	if (rc == -ENOENT)
		return check_unrecorded(mgr, rpc_session_info(session));
	if (rc)
		return rc;
	if (rec.flags & SESSION_OVER)
		return -ESTALE;
	*declares = rec.flags & SESSION_DECLARES;
	rc = session_ticket_check_return(mgr, rpc_session_info(session), &rec);
	if (rc)
		return rc;
	rc = reply_walk(mgr->st, id, seed_reply, session);
	if (rc)
		return rc;
	absent_remove(mgr, id);
	return 1;
}

static void note_origin(struct caller *s, const struct rpc_session_info *info)
{
	s->place = exports_place(&s->mgr->conf.exports, info->peer);
	snprintf(s->peer, sizeof(s->peer), "%s", info->peer);
}

static int on_open(void *arg, struct rpc_session *session)
{
	struct rpc_session_info *info = rpc_session_info(session);
	struct mgr *mgr = arg;
	struct caller *s;
	int rc;

	if (mgr->group && membership_is_manager(info->role, &info->cred))
		return 0;
	if (!mgr->serves || mgr->fresh || !flusher_leads(mgr->fl))
		return -EAGAIN;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	rc = look_up(mgr, session, info->id, &s->declares);
	if (rc < 0) {
		free(s);
		return rc;
	}
	s->mgr = mgr;
	s->id = info->id;
	s->stored = rc == 1;
	s->capped = s->stored && mgr->conf.auth.caps;
	s->declaring = s->declares;
	s->since = clock_boot();
	note_origin(s, info);
	caller_set_cred(s, &info->cred);
	info->priv = s;
	session_ticket_start(mgr, session);
	log_debug(mgr->log, "%s (%s): session %016llx, uid %u", info->peer,
		  info->cred.name, (unsigned long long)info->id,
		  info->cred.uid);
	return rc;
}

/* The user of the session stays as it was at the open. */
static void on_return(void *arg, struct rpc_session *session)
{
	struct mgr *mgr = arg;

	if (!caller_of(session))
		return;
	note_origin(caller_of(session), rpc_session_info(session));
	session_ticket_start(mgr, session);
}

static void on_close(void *arg, struct rpc_session *session, bool clean)
{
	struct caller *s = caller_of(session);
	bool evicted;

	if (!s)
		return;
	evicted = eviction_includes(s->mgr, s->id);
	clean = clean && !evicted;
	if (!clean)
		rpc_server_fence(s->mgr->server, s->id);
	if (s->stored || evicted)
		session_end_begin(s->mgr, s->id, clean);
	if (s->capped && !evicted && (clean || !s->stored))
		caps_session_ended(s->mgr, s->id);
}

static void on_free(void *arg, struct rpc_session *session)
{
	if (!caller_of(session))
		return;
	auth_challenge_drop(caller_of(session));
	session_groups_release(caller_of(session));
	free(caller_of(session));
	rpc_session_info(session)->priv = NULL;
}

static void on_request(void *arg, struct rpc_req *rpc)
{
	if (!caller_of(rpc->session))
		membership_handle_request(arg, rpc);
	else if (!mgr_auth_handle_request(arg, rpc) &&
		 !managers_handle_request(arg, rpc) &&
		 !session_groups_handle_request(arg, rpc))
		request_take(arg, rpc);
}

/* Most bodies begin with the handle of a file, or of the directory that a path starts from. */
static uint64_t object_of(const struct rpc_req *rpc)
{
	switch (rpc->op) {
	case WIRE_ADOPT:
	case WIRE_ADOPTED:
	case WIRE_DECLARE:
	case WIRE_REDEEM:
	case WIRE_LOCK_ANY:
	case WIRE_MOUNT:
	case WIRE_COPYSETS:
	case WIRE_CHALLENGE:
	case WIRE_AUTH:
	case WIRE_PING:
	case WIRE_STATFS:
	case WIRE_SESSIONS:
	case WIRE_EVICT:
	case WIRE_GROUPS:
	case WIRE_RAFT:
	case WIRE_FETCH:
	case WIRE_MANAGERS:
		return 0;
	default:
		return le32toh(rpc->msg.hdr->len) < sizeof(*rpc->msg.hdr) + 8
			       ? 0
			       : le64toh(*(const le64 *)rpc->msg.body);
	}
}

/* After squashing: a squashed root has no rights. */
static bool on_sees_all(void *arg, struct rpc_session *session)
{
	(void)arg;
	return !caller_of(session) || caller_is_admin(caller_of(session));
}

static bool on_may_reserve(void *arg, enum wire_role role, const char *peer,
			   uint32_t uid)
{
	const struct mgr *mgr = arg;
	const struct exports *exports = &mgr->conf.exports;
	const struct client_place place = exports_place(exports, peer);
	struct ns_cred cred = { .uid = uid };

	if (role == WIRE_ROLE_MGR)
		return mgr->group && !mgr->ring &&
		       peers_admit(mgr->peers, peer);
	exports_squash(exports, &place, &cred);
	return role == WIRE_ROLE_CLIENT && (!cred.uid || cred.uid == geteuid());
}

static void on_name(void *arg, uint64_t handle, uint8_t *name)
{
	const struct mgr *mgr = arg;

	open_paths_find(mgr->open_paths, handle, name);
}

#define SERVICE_FUNCTIONS                                                      \
	.session_open = on_open, .session_reconnected = on_return,             \
	.session_close = on_close, .session_free = on_free,                    \
	.sees_all = on_sees_all, .may_reserve = on_may_reserve,                \
	.object = object_of, .name = on_name, .metrics = service_metrics,      \
	.request = on_request

const struct rpc_service mgr_service = { SERVICE_FUNCTIONS };
const struct rpc_service mgr_member_service = {
	SERVICE_FUNCTIONS,
	.session_admit = membership_admit,
	.find_leader = membership_find_leader,
};
