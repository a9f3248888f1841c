/* SPDX-License-Identifier: BSD-2-Clause */
/* caller.c - see caller.h. */
#include "caller.h"

#include <string.h>

int caller_record(struct mgr *mgr, struct rpc_session *session)
{
	struct rpc_session_info *info = rpc_session_info(session);
	struct session_rec rec = { .id = info->id,
				   .uid = info->cred.uid,
				   .gid = info->cred.gid };

	if (caller_of(session)->stored)
		return 0;
	memcpy(rec.name, info->cred.name, sizeof(rec.name));
	return session_put(mgr->st, &rec);
}

void caller_recorded(struct rpc_session *session)
{
	caller_of(session)->stored = true;
}
