/* SPDX-License-Identifier: BSD-2-Clause */
/* fence_int.h - fence.c: numbers of sessions that not anybody may come by. */
#ifndef FENCE_INT_H
#define FENCE_INT_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_server;

/* Those that somebody proved to be his, and found a stranger there; the oldest first. */
#define CLAIMS 64u
struct claims {
	struct claim {
		uint64_t session;
		uint32_t uid; /* whose it is */
	} claim[CLAIMS];
	unsigned int n;
};

/* All under the server's lock.  0: it may come; -ESTALE; -EKEYREVOKED: it was evicted. */
int fence_known(struct rpc_server *server, uint64_t session);
void fence_free(struct rpc_server *server);
/*
 * Strangers do not come by that number any more.  When all are taken, the user who has most
 * loses his oldest.
 */
void claim_add(struct rpc_server *server, uint64_t session, uint32_t uid);
bool claim_has(const struct rpc_server *server, uint64_t session);

#endif
