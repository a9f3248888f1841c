/* SPDX-License-Identifier: BSD-2-Clause */
/* grant.c - GRANT and REDEEM: passing an open file to another session by a token. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "mgr/db/sessions.h"
#include "mgr/session/caps.h"
#include "mgr/session/evict.h"
#include "mgr/session/grant.h"

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

/* ---- the operations ---- */

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

/* The granting session has ended, although its rows may still exist. */
static bool is_stale(struct mgr_op *op, const struct ns_grant *grant)
{
	struct session_rec rec;

	if (eviction_includes(op->mgr, grant->session))
		return true;
	return !session_get(op->mgr->st, grant->session, &rec) &&
	       rec.flags & SESSION_FENCED;
}

/* Only success uses up the token.  A request that waits runs this function again. */
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
