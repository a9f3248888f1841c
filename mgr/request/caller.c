/* SPDX-License-Identifier: BSD-2-Clause */
/* caller.c - see caller.h. */
#include "mgr/request/caller.h"

#include <string.h>
#include <unistd.h>

void caller_set_cred(struct caller *caller, const struct rpc_cred *cred)
{
	caller->root = !cred->uid;
	caller->cred = (struct ns_cred){ cred->uid, cred->gid, cred->ngroups,
					 cred->groups };
	if (wire_groups_listed(cred->groups, cred->ngroups))
		caller_set_list(&caller->cred, caller->list);
	exports_squash(&caller->mgr->conf.exports, &caller->place,
		       &caller->cred);
}

void caller_set_list(struct ns_cred *cred, const struct group_list *list)
{
	cred->ngroups = list ? list->total : 0;
	cred->groups = list ? list->gid : NULL;
	cred->sorted = list;
}

bool caller_lacks_list(struct rpc_session *session)
{
	const struct rpc_cred *cred = &rpc_session_info(session)->cred;

	return wire_groups_listed(cred->groups, cred->ngroups) &&
	       !caller_of(session)->list;
}

bool caller_is_admin(const struct caller *caller)
{
	return !caller->cred.uid || caller->cred.uid == geteuid();
}

static int put_session_row(struct mgr *mgr, struct rpc_session *session)
{
	bool declares = caller_of(session)->declaring;
	struct rpc_session_info *info = rpc_session_info(session);
	struct session_rec rec = { .id = info->id,
				   .uid = info->cred.uid,
				   .gid = info->cred.gid,
				   .flags = declares ? SESSION_DECLARES : 0 };

	memcpy(rec.name, info->cred.name, sizeof(rec.name));
	return session_put(mgr->st, &rec);
}

int caller_record(struct mgr *mgr, struct rpc_session *session)
{
	return caller_of(session)->stored ? 0 : put_session_row(mgr, session);
}

int caller_record_declares(struct mgr *mgr, struct rpc_session *session)
{
	if (caller_of(session)->declares)
		return 0;
	caller_of(session)->declaring = true;
	return put_session_row(mgr, session);
}

void caller_note_recorded(struct rpc_session *session)
{
	caller_of(session)->stored = true;
}
