/* SPDX-License-Identifier: BSD-2-Clause */
/* peers_rig.h - three managers in one process, each with its own rpc context, server and peers. */
#ifndef PEERS_RIG_H
#define PEERS_RIG_H

#include <check.h>

#include "common/trust/keyring.h"
#include "common/util/clock.h"
#include "mgr/peers/peers.h"

#define PEERS_RIG_NODES 3u

struct peers_rig_node {
	/* may be set before the open */
	/* the id that the node believes to have; 0: its number, from 1 */
	uint64_t id;
	uint64_t group; /* 0: 5 */
	uint64_t lacks; /* a member that is missing in its list */
	/* set by the rig */
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_server *server;
	struct rpc_service service;
	struct addr addr;
	struct peers *peers;
	struct keyring *ring; /* or NULL */
	void *arg; /* of receive() */
	bool stopped; /* does nothing, as after SIGSTOP */
};

struct peers_rig {
	/* set before the open */
	bool (*receive)(void *arg, uint64_t from, const void *data, size_t len);
	unsigned int timeout_ms;
	bool older; /* the servers do not know WIRE_FT_RAFT */
	/* rings of the first node, and of the others; or NULL */
	struct keyring *ring[2];
	/* set by the rig */
	struct peers_rig_node nodes[PEERS_RIG_NODES];
	struct log log;
	char text[65536];
	size_t text_len;
};

/* scheme: "tcp" or "local". */
void peers_rig_open(struct peers_rig *rig, const char *scheme);
/* Also closes the rings. */
void peers_rig_close(struct peers_rig *rig);
/* Opens a server at its old address.  Its peers are closed and opened with it. */
void peers_rig_server_open(struct peers_rig *rig, struct peers_rig_node *node);
void peers_rig_server_close(struct peers_rig_node *node);
/* Shuts down all connections of the process. */
void peers_rig_cut(struct peers_rig *rig);
/* Returns how often the log contains text. */
unsigned int peers_rig_logged(const struct peers_rig *rig, const char *text);

/* The last lines of the log. */
const char *peers_rig_log_end(const struct peers_rig *rig);

/* One round of each node that is not stopped; sleeps for up to a ms if nothing happened. */
void peers_rig_turn(struct peers_rig *rig);
void peers_rig_for_ms(struct peers_rig *rig, unsigned int ms);
#define PEERS_RIG_PATIENCE_MS 60000u /* a longer wait counts as a hang */
#define peers_rig_until(rig, cond)                                             \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(PEERS_RIG_PATIENCE_MS);         \
		while (!(cond)) {                                              \
			peers_rig_turn(rig);                                   \
			ck_assert_msg(clock_now() < end_, "never: %s\n%s",     \
				      #cond, peers_rig_log_end(rig));          \
		}                                                              \
	} while (0)

#endif
