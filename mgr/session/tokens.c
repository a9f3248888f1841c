/* SPDX-License-Identifier: BSD-2-Clause */
/* tokens.c - see tokens.h. */
#include "mgr/session/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

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
static bool same(const uint8_t *a, const uint8_t *b)
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

		if (t->until > now && same(t->id, id))
			return &t->grant;
	}
	return NULL;
}

void tokens_drop(struct mgr *mgr, const struct ns_grant *grant)
{
	container_of(grant, struct token, grant)->until = 0;
}
