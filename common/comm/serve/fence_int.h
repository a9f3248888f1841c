/* SPDX-License-Identifier: BSD-2-Clause */
/* fence_int.h - fence.c: numbers of sessions that not everyone may use. */
#ifndef FENCE_INT_H
#define FENCE_INT_H

#include <stdbool.h>
#include <stdint.h>

struct rpc_server;

/*
 * Sessions that a user proved to own, and in which a stranger was found; the oldest first.
 */
#define CLAIMS 64u
struct claims {
	struct claim {
		uint64_t session;
		uint32_t uid; /* the owner */
	} claim[CLAIMS];
	unsigned int n;
};

/*
 * All under the server's lock.  Returns 0 if the session may connect, -ESTALE, or -EKEYREVOKED if
 * it was evicted.
 */
int fence_known(struct rpc_server *server, uint64_t session);
void fence_free(struct rpc_server *server);
/*
 * From now on, strangers cannot use that number.  If all claims are in use, the user with the
 * most claims loses his oldest.
 */
void claim_add(struct rpc_server *server, uint64_t session, uint32_t uid);
bool claim_has(const struct rpc_server *server, uint64_t session);

#endif
