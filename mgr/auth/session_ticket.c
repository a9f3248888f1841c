/* SPDX-License-Identifier: BSD-2-Clause */
/* session_ticket.c - when the ticket of a session expires, and which session may come back. */
#include <errno.h>

#include "mgr/auth/mgr_auth_int.h"
#include "mgr/jobs/jobs.h"

void session_ticket_start(const struct mgr *mgr, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct caller *caller = caller_of(session);
	uint64_t begun = info->until ? jobs_clock_of(mgr, info->term) : 0;

	caller->until = begun ? begun + auth_ticket_life_ns(mgr) : info->until;
	caller->ended = false;
}

/* A connection that stays open has no more rights than one that comes back. */
bool session_ticket_has_expired(struct mgr *mgr, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct caller *caller = caller_of(session);

	if (!caller->until || clock_boot() < caller->until)
		return false;
	if (!caller->ended)
		log_warn(mgr->log,
			 "%s (%s): session %016llx: its ticket has ended, and "
			 "it got no other one: its log says why; it goes on "
			 "under another session when it does",
			 info->peer, info->cred.name,
			 (unsigned long long)info->id);
	caller->ended = true;
	return true;
}

int session_ticket_check_return(const struct mgr *mgr,
				const struct rpc_session_info *info,
				const struct session_rec *rec)
{
	if (mgr->conf.auth.mode == AUTH_SYS || info->role != WIRE_ROLE_CLIENT)
		return 0;
	if (!info->proved)
		return -EKEYREJECTED;
	if (rec->uid == info->cred.uid)
		return 0;
	return info->until ? -ESTALE : -EPERM;
}
