/* SPDX-License-Identifier: BSD-2-Clause */
/* file_handover.c - GRANT, REDEEM, ADOPT and ADOPTED: open files pass to another session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "mgr/db/sessions.h"
#include "mgr/session/caps.h"
#include "mgr/session/evict.h"
#include "mgr/session/file_handover.h"
#include "mgr/session/session_table.h"

/* ---- tokens ---- */

#define TOKENS 1024u

struct tokens {
	unsigned int next; /* the oldest */
	struct token {
		uint64_t until; /* clock_now(); 0: none */
		uint8_t id[WIRE_TOKEN_LEN];
		struct ns_grant grant;
	} token[TOKENS];
};

int tokens_open(struct mgr *mgr)
{
	mgr->tokens = calloc(1, sizeof(*mgr->tokens));
	return mgr->tokens ? 0 : -ENOMEM;
}

void tokens_close(struct mgr *mgr)
{
	free(mgr->tokens);
	mgr->tokens = NULL;
}

int tokens_add(struct mgr *mgr, const struct ns_grant *grant,
	       uint8_t id[WIRE_TOKEN_LEN])
{
	struct tokens *t = mgr->tokens;
	struct token *new = &t->token[t->next];

	if (getrandom(id, WIRE_TOKEN_LEN, 0) != WIRE_TOKEN_LEN)
		return -EIO;
	t->next = (t->next + 1) % TOKENS;
	new->until = clock_after_ms(WIRE_TOKEN_S * 1000);
	memcpy(new->id, id, WIRE_TOKEN_LEN);
	new->grant = *grant;
	return 0;
}

/* Takes constant time, so that nobody can find a token by timing guesses. */
static bool is_same_token(const uint8_t *a, const uint8_t *b)
{
	unsigned int i, diff = 0;

	for (i = 0; i < WIRE_TOKEN_LEN; i++)
		diff |= a[i] ^ b[i];
	return !diff;
}

const struct ns_grant *tokens_find(struct mgr *mgr,
				   const uint8_t id[WIRE_TOKEN_LEN])
{
	uint64_t now = clock_now();
	unsigned int i;

	for (i = 0; i < TOKENS; i++) {
		const struct token *t = &mgr->tokens->token[i];

		if (t->until > now && is_same_token(t->id, id))
			return &t->grant;
	}
	return NULL;
}

void tokens_drop(struct mgr *mgr, const struct ns_grant *grant)
{
	container_of(grant, struct token, grant)->until = 0;
}

/* ---- GRANT and REDEEM ---- */

int op_grant(struct mgr_op *op)
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

/* Whether the granting session has ended.  Its rows may still exist. */
static bool is_stale(struct mgr_op *op, const struct ns_grant *grant)
{
	struct session_rec rec;

	if (eviction_includes(op->mgr, grant->session))
		return true;
	return !session_get(op->mgr->st, grant->session, &rec) &&
	       rec.flags & SESSION_FENCED;
}

/* The token is used up only on success, because a request that waits runs this function again. */
int op_redeem(struct mgr_op *op)
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
	ns_fill_attr(&op->ns, &ino, &rep.attr);
	rep.open = htole64(open);
	wire_put(op->out, &rep, sizeof(rep));
	rc = caps_put(op, &rep.attr, flags);
	if (!rc)
		tokens_drop(op->mgr, grant);
	return rc;
}

/* ---- ADOPT and ADOPTED: a session takes over from a previous one, which then ends ---- */

struct adopts {
	struct park park;
	bool woken;
};

static uint32_t uid_of(const struct mgr_op *op)
{
	return rpc_session_info(op->rpc->session)->cred.uid;
}

int op_adopt(struct mgr_op *op)
{
	const struct wire_adopt *body = op->rpc->msg.body;
	struct ns_adopt_args args = {
		.session = le64toh(body->session),
		.handle = handle_from_wire(op->mgr->st, body->handle),
		.open = le64toh(body->open),
		.owner = le64toh(body->owner),
		.uid = uid_of(op),
		.process = le32toh(body->flags) & WIRE_AD_PROCESS,
	};
	struct wire_adopt_rep rep = { 0 };
	uint32_t done;
	int rc;

	/* the session is being evicted, but its rows may not show that yet */
	if (eviction_includes(op->mgr, args.session))
		return -ESTALE;
	rc = ns_adopt(&op->ns, &args, &done);
	if (rc)
		return rc;
	rep.flags = htole32(done);
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}

static void on_late(struct park *park, struct request *req)
{
	answer_late(req, "the iods to hear that a session has ended");
}

int adopts_open(struct mgr *mgr)
{
	mgr->adopts = calloc(1, sizeof(*mgr->adopts));
	if (!mgr->adopts)
		return -ENOMEM;
	park_init(&mgr->adopts->park, RPC_QUEUE, on_late);
	return 0;
}

void adopts_close(struct mgr *mgr)
{
	free(mgr->adopts);
	mgr->adopts = NULL;
}

void adopts_wake(struct mgr *mgr)
{
	mgr->adopts->woken = true;
}

void adopts_run(struct mgr *mgr)
{
	struct request *req;

	if (!mgr->adopts->woken)
		return;
	mgr->adopts->woken = false;
	while ((req = park_take(&mgr->adopts->park)))
		request_requeue(req);
}

/*
 * Fences the previous session.  The request waits until all iods have confirmed the fence
 * (session_end_fenced()).
 */
int op_adopted(struct mgr_op *op)
{
	const struct wire_adopted *body = op->rpc->msg.body;
	uint64_t id = le64toh(body->session);
	struct session_rec rec;
	int rc = ns_may_adopt(&op->ns, id, uid_of(op));

	if (rc == -EPERM)
		return rc;
	if (!rc)
		session_end_soon(op->mgr, id);
	else if (rc != -ESTALE || session_get(op->mgr->st, id, &rec) ||
		 !(rec.flags & SESSION_FENCED))
		return rc == -ESTALE ? 0 : rc;
	park_wait(&op->mgr->adopts->park, op->req);
	return OP_LATER;
}
