/* SPDX-License-Identifier: BSD-2-Clause */
/* grant.c - GRANT and REDEEM: passing an open file to another session. */
#include <errno.h>

#include "mgr/session/caps.h"
#include "mgr/session/evict.h"
#include "mgr/db/sessions.h"
#include "mgr/session/tokens.h"

int op_grant(struct op *op)
{
	const struct wire_grant *body = op->rpc->msg.body;
	struct ns_grant grant = {
		.session = op->ns.session,
		.open = le64toh(body->open),
		.handle = handle_from_wire(op->mgr->st, body->handle),
		.flags = le32toh(body->flags),
	};
	struct wire_grant_rep rep;
	int rc = ns_may_grant(&op->ns, &grant);

	if (!rc)
		rc = tokens_add(op->mgr, &grant, rep.token);
	if (rc)
		return rc;
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}

/* The granting session has ended, although its rows may still exist. */
static bool is_stale(struct op *op, const struct ns_grant *grant)
{
	struct session_rec rec;

	if (evict_wants(op->mgr, grant->session))
		return true;
	return !session_get(op->mgr->st, grant->session, &rec) &&
	       rec.flags & SESSION_FENCED;
}

/* Only success uses up the token.  A request that waits runs this function again. */
int op_redeem(struct op *op)
{
	const struct wire_redeem *body = op->rpc->msg.body;
	const struct ns_grant *grant = tokens_find(op->mgr, body->token);
	uint32_t flags = le32toh(body->flags);
	struct wire_open_rep rep;
	struct inode ino;
	uint64_t open;
	int rc;

	if (!grant)
		return -ENOENT;
	if (is_stale(op, grant))
		return -EBADF;
	if (flags & ~grant->flags & (WIRE_O_READ | WIRE_O_WRITE))
		return -EACCES;
	rc = ns_redeem(&op->ns, grant, flags, &ino, &open);
	if (rc)
		return rc;
	ns_show(&op->ns, &ino, &rep.attr);
	rep.open = htole64(open);
	wire_put(op->out, &rep, sizeof(rep));
	rc = caps_put(op, &rep.attr, flags);
	if (!rc)
		tokens_drop(op->mgr, grant);
	return rc;
}
