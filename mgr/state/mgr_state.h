/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_state.h - the manager's own state.  One thread, the event loop's, owns
 * everything here; the flusher and the checkpointer see only the store.
 */
#ifndef MGR_STATE_H
#define MGR_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "mgr/db/flusher.h"
#include "mgr/state/gather.h"
#include "common/trust/keyring.h"
#include "mgr/state/mgr_conf.h"
#include "mgr/ns/ns.h"
#include "common/comm/rpc.h"
#include "mgr/db/sessions.h"

/* What a request becomes while it is held: request.h. */
struct request;
LIST_HEAD(requests, request);

struct run_queue; /* run_queue.h */
struct jobs; /* jobs.h */
struct session_table; /* session_int.h */
struct dirbufs; /* readdir.c */
struct tokens; /* tokens.h */
struct lock_waits; /* lock_waits.c */
struct adopts; /* adopt.c */
struct evicts; /* evict.c */
struct called; /* called.h */
struct daemon; /* daemon.h */
struct mgr_auth; /* mgr_auth_int.h */

/*
 * Identifiers up to `id` belong to committed transactions; when the item is
 * durable, so are they, and the removals among them may be carried out.
 */
struct durable_mark {
	struct flusher_item item; /* durable(): remove.c */
	uint64_t id;
	bool inside; /* in the flusher */
};

struct mgr {
	struct mgr_conf conf;
	const struct log *log;
	struct daemon *daemon; /* or NULL */

	int dirfd; /* holds the lock of the storage */
	struct store *st;
	struct ns ns;
	struct flusher *fl;
	struct checkpointer *cp;
	uint64_t remove_id; /* the latest intent to remove something */
	struct durable_mark mark;
	struct rpc_timer late; /* for items that are in no hurry */
	bool late_set;
	struct gather gather;

	struct keyring *ring; /* NULL: no key is configured */
	struct mgr_auth *auth;
	const struct doorkeeper *keeper; /* theirs; NULL: without a ring */
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_server *server;
	uint64_t boot; /* random, new at every start */
	uint64_t host; /* of this life of this host: for clock_boot() on disk */
	uint64_t started; /* clock_now() */

	struct jobs *jobs;
	struct session_table *sessions;
	struct dirbufs *dirbufs;
	struct tokens *tokens;
	struct lock_waits *lock_waits;
	struct adopts *adopts;
	struct evicts *evicts;
	struct called *called; /* or NULL */
	struct requests requests; /* all that exist */
	struct run_queue *queue; /* those that wait for a turn on this thread */

	pthread_t thread;
	bool running;
	atomic_bool stop;
	bool fresh; /* the data base is new: not all iods were seen */
	/* Not bool: gcc reads two neighbours at once, and then the bytes beside them, too, which
	 * other threads write. */
	int displaced; /* an iod obeys another manager */
	int foreign; /* it is not the one of the iods */
};

/* ---- ready.c ---- */

/* To the log and the service manager: it serves from now on. */
void mgr_say_ready(struct mgr *mgr);

/* ---- commit.c ---- */

/* Ends the transaction of ns; item (may be NULL) is told when it is durable. */
int mgr_commit(struct mgr *mgr, struct flusher_item *item);
/* The same for what nobody waits for: durable with the next commit that
 * somebody does wait for, or a little later. */
int mgr_commit_late(struct mgr *mgr, struct flusher_item *item);
/* Hands to the flusher what was committed in this turn; true: it is durable
 * already, collect it. */
bool mgr_submit(struct mgr *mgr);
/* A struct ns_op for work that no request asked for. */
struct ns_op mgr_own_op(struct mgr *mgr);

#endif
