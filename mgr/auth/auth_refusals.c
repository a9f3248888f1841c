/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_refusals.c - clients that get no ticket: replies to them, logs and counts them by reason. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/util/log.h"
#include "mgr/auth/mgr_auth_int.h"

void auth_reply(struct rpc_req *rpc, int status)
{
	rpc_reply_begin(rpc);
	rpc_reply_end(rpc, status, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

static const char *describe_reason(const struct mgr *mgr, int status)
{
	switch (status) {
	case -ENOKEY:
		if (mgr->conf.auth.mode == AUTH_MUNGE)
			return munger_why(status);
		return "its key is not one of those here: give it the file of "
		       "[filesystem] key";
	case -EKEYREJECTED:
		return "its proof is invalid, or was made for another session, "
		       "connection or manager";
	case -EOPNOTSUPP:
		return "it does not authenticate as [filesystem] auth requires";
	case -EPERM:
		return "its session belongs to another user";
	case -E2BIG:
		return "its user is in more than 65536 groups, the most that "
		       "Linux allows";
	case -WIRE_ENOSEATS:
		return "max_sessions, or host_sessions, clients are there: "
		       "raise that";
	case -WIRE_ENOFILES:
		return "few descriptors are left: raise LimitNOFILE of "
		       "pvfs-mgr";
	case -ENOENT:
		return "key_user is no longer a user of this host";
	default:
		return munger_why(status);
	}
}

/* The status on the wire: protocol.md. */
static int reply_status(int status)
{
	switch (status) {
	case -ETIMEDOUT:
		return -EHOSTDOWN;
	case -EBADMSG:
		return -EKEYREJECTED;
	default:
		return status;
	}
}

static struct refusal *get_refusal(struct mgr_auth *auth, int status)
{
	struct refusal *r = auth->refusals;

	while (r->status && r->status != status &&
	       r < &auth->refusals[REFUSALS - 1])
		r++;
	r->status = status;
	return r;
}

/* A client can repeat AUTH without limit, so the log is limited. */
void auth_refuse(struct mgr *mgr, struct rpc_req *rpc, int status)
{
	const struct rpc_session_info *info = rpc_session_info(rpc->session);
	struct refusal *r = get_refusal(mgr->auth, status);

	r->n++;
	if (log_pace(&r->logged))
		log_warn(mgr->log,
			 "%s (%s): does not get a ticket (%" PRIu64
			 " so far): %s",
			 info->peer, info->cred.name, r->n,
			 describe_reason(mgr, status));
	auth_reply(rpc, reply_status(status));
}

void mgr_auth_metrics(const struct mgr *mgr, struct rpc_metrics *m)
{
	const struct refusal *r = mgr->auth->refusals;

	for (unsigned int i = 0; i < REFUSALS && r[i].n; i++)
		rpc_metrics_total(m, "ticket_refusals", "reason",
				  describe_reason(mgr, r[i].status), r[i].n,
				  "Clients that got no ticket.");
}
