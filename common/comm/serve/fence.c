/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence.c - ids of sessions that may not return, or may return only with proof.  Only the latest
 * are kept.  A session that stays disconnected while that many others are fenced has long been
 * forgotten by all others.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/serve/server_int.h"

struct fence {
	uint64_t session;
	bool evicted;
	UT_hash_handle hh;
};

static struct fence *find(struct fence *fences, uint64_t session)
{
	struct fence *fence;

	HASH_FIND(hh, fences, &session, sizeof(session), fence);
	return fence;
}

int fence_known(struct rpc_server *server, uint64_t session)
{
	const struct fence *fence = find(server->fences, session);

	if (!fence)
		return find(server->fences_of_nobody, session) ? -ESTALE : 0;
	return fence->evicted ? -EKEYREVOKED : -ESTALE;
}

static int add(struct fence **fences, uint64_t session, bool evicted)
{
	struct fence *fence = find(*fences, session), *oldest = *fences;

	if (fence) {
		fence->evicted |= evicted;
		return 0;
	}
	fence = calloc(1, sizeof(*fence));
	if (!fence)
		return -ENOMEM;
	fence->session = session;
	fence->evicted = evicted;
	HASH_ADD(hh, *fences, session, sizeof(session), fence);
	if (!fence->hh.tbl) {
		free(fence);
		return -ENOMEM;
	}
	if (HASH_COUNT(*fences) > RPC_FENCE_MAX) {
		HASH_DEL(*fences, oldest);
		free(oldest);
	}
	return 0;
}

static unsigned int of_user(const struct claims *c, uint32_t uid)
{
	unsigned int i, n = 0;

	for (i = 0; i < c->n; i++)
		n += c->claim[i].uid == uid;
	return n;
}

/*
 * Removes the oldest claim of the user with the most claims, so that no user displaces others.
 */
static void forget_claim(struct claims *c)
{
	struct claim *loser = c->claim;
	unsigned int i;

	for (i = 1; i < c->n; i++)
		if (of_user(c, c->claim[i].uid) > of_user(c, loser->uid))
			loser = &c->claim[i];
	c->n--;
	memmove(loser, loser + 1,
		(size_t)(&c->claim[c->n] - loser) * sizeof(*loser));
}

void claim_add(struct rpc_server *server, uint64_t session, uint32_t uid)
{
	struct claims *c = &server->claims;

	if (claim_has(server, session))
		return;
	if (c->n == CLAIMS)
		forget_claim(c);
	c->claim[c->n++] = (struct claim){ session, uid };
}

bool claim_has(const struct rpc_server *server, uint64_t session)
{
	const struct claims *c = &server->claims;
	unsigned int i;

	for (i = 0; i < c->n; i++)
		if (c->claim[i].session == session)
			return true;
	return false;
}

/*
 * s: the session of that id, or NULL.  Whether it is open and no user has proved to own it.
 */
static bool is_nobodys(const struct rpc_session *s)
{
	const struct doorkeeper *keeper = s ? s->lane->server->attr.keeper
					    : NULL;

	return keeper && keeper->admission == ADMIT_STRANGERS && s->opened &&
	       session_is_strangers(s);
}

/*
 * A session of nobody has done nothing, and may have used the number of another's session.
 * Anyone can make many of them, so their fences have a list of their own and displace no others.
 */
static int fence_of(struct rpc_server *server, uint64_t id,
		    const struct rpc_session *s)
{
	if (!is_nobodys(s))
		return add(&server->fences, id, false);
	return claim_has(server, id)
		       ? 0
		       : add(&server->fences_of_nobody, id, false);
}

static void fence(struct rpc_server *server, uint64_t id, bool evicted)
{
	struct rpc_session *s;
	int rc;

	pthread_mutex_lock(&server->lock);
	HASH_FIND(hh, server->table, &id, sizeof(id), s);
	rc = evicted ? add(&server->fences, id, true) : fence_of(server, id, s);
	if (rc)
		log_error(server->attr.log,
			  "session %016llx: no memory to fence it; it may "
			  "return",
			  (unsigned long long)id);
	if (s && s->listed)
		session_expel(s);
	pthread_mutex_unlock(&server->lock);
}

void rpc_server_fence(struct rpc_server *server, uint64_t id)
{
	fence(server, id, false);
}

void rpc_server_evict(struct rpc_server *server, uint64_t id)
{
	fence(server, id, true);
}

static void free_all(struct fence **fences)
{
	struct fence *fence;

	while ((fence = *fences)) {
		HASH_DEL(*fences, fence);
		free(fence);
	}
}

void fence_free(struct rpc_server *server)
{
	free_all(&server->fences);
	free_all(&server->fences_of_nobody);
}
