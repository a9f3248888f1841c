/* SPDX-License-Identifier: BSD-2-Clause */
/* refuse.c - who gets no ticket: told, logged and counted by the reason. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "mgr/auth/auth_int.h"
#include "common/util/log_pace.h"

void auth_answer(struct rpc_req *rpc, int status)
{
	rpc_reply_begin(rpc);
	rpc_reply_end(rpc, status, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

static const char *why(const struct mgr *mgr, int status)
{
	switch (status) {
	case -ENOKEY:
		if (mgr->conf.auth.mode == AUTH_MUNGE)
			return munger_why(status);
		return "its key is not one of those here: give it the file of "
		       "[filesystem] key";
	case -EKEYREJECTED:
		return "what it shows is false, or was made for another "
		       "session, connection or manager";
	case -EOPNOTSUPP:
		return "it does not prove itself as [filesystem] auth asks for";
	case -EPERM:
		return "its session is another user's";
	case -E2BIG:
		return "its user is in more than 65536 groups, the most that "
		       "Linux allows";
	case -ENOENT:
		return "key_user is no user of this host any more";
	default:
		return munger_why(status);
	}
}

/* What the client makes of it: protocol.md. */
static int told(int status)
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

/* Of the serving thread; auths_report() may look at the same time. */
static struct refusal *refusal_of(struct auths *auths, int status)
{
	struct refusal *r = auths->refused;

	while (r->status && r->status != status &&
	       r < &auths->refused[REFUSALS - 1])
		r++;
	r->status = status;
	return r;
}

/* Whoever likes can come again and again. */
void auth_refuse(struct mgr *mgr, struct rpc_req *rpc, int status)
{
	const struct rpc_session_info *info = rpc_session_info(rpc->session);
	struct refusal *r = refusal_of(mgr->auths, status);

	r->n++;
	if (log_pace(&r->logged))
		log_warn(mgr->log,
			 "%s (%s): does not get a ticket (%" PRIu64
			 " so far): %s",
			 info->peer, info->cred.name, (uint64_t)r->n,
			 why(mgr, status));
	auth_answer(rpc, told(status));
}

void auths_report(struct mgr *mgr)
{
	const struct refusal *r = mgr->auths->refused;

	for (unsigned int i = 0; i < REFUSALS && r[i].n; i++)
		log_always(mgr->log, "%" PRIu64 " got no ticket: %s",
			   (uint64_t)r[i].n, why(mgr, r[i].status));
}
