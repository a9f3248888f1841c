/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_state.h - the manager's state.  The thread of the event loop owns everything
 * here; the flusher and the checkpointer see only the store.
 */
#ifndef MGR_STATE_H
#define MGR_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "mgr/state/flusher.h"
#include "mgr/state/flush_gather.h"
#include "common/trust/keyring.h"
#include "mgr/state/mgr_conf.h"
#include "mgr/ns/ns.h"
#include "common/comm/rpc.h"
#include "mgr/db/sessions.h"

/* A request that is being handled: request.h. */
struct request;
LIST_HEAD(requests, request);

struct run_queue; /* run_queue.h */
struct mgr_jobs; /* jobs.h */
struct session_table; /* session_table_int.h */
struct dir_buffers; /* readdir.c */
struct tokens; /* file_handover.c */
struct lock_waits; /* lock_waits.c */
struct adopts; /* file_handover.c */
struct evicts; /* evict.c */
struct open_paths; /* open_paths.h */
struct daemon; /* daemon.h */
struct mgr_auth; /* mgr_auth_int.h */
struct backup_server; /* backup.h */
struct mgr_group; /* group.h */
struct joining; /* joining.h */
struct filling; /* filling.h */
struct copy_service; /* copy_service.h */
struct peers; /* peers.h */

/*
 * Removals may be executed only after their transactions are durable.  All identifiers up to `id`
 * belong to committed transactions.  When the item is durable, the removals up to `id` may begin.
 */
struct durable_mark {
	struct flusher_item item; /* durable(): remove.c */
	uint64_t id;
	bool inside; /* the item is in the flusher */
};

struct mgr {
	struct mgr_conf conf;
	const struct log *log;
	struct daemon *daemon; /* or NULL */

	int dirfd; /* of the storage folder; holds its lock */
	struct store *st;
	struct mgr_group *group; /* NULL: there is one manager, without a log */
	struct peers *peers; /* with group: the other managers */
	struct joining *joining; /* with group */
	struct filling *filling; /* or NULL: its database is not being replaced */
	struct copy_service *copies; /* or NULL: nobody has asked for a copy */
	struct {
		/* the request MANAGERS with REMOVE that waits for the group, or NULL */
		struct rpc_req *rpc;
		uint64_t id; /* the member to remove */
		struct rpc_timer timer;
	} removal;
	/* Raft term in which this manager leads; 0: one manager without a group */
	uint64_t group_term;
	struct ns ns;
	struct flusher *fl;
	struct checkpointer *cp;
	struct backup_server *backup; /* or NULL */
	uint64_t remove_id; /* the latest INTENT_REMOVE */
	struct durable_mark mark;
	struct rpc_timer deferred; /* for items that can wait */
	bool deferred_set;
	struct gather gather;

	struct keyring *ring; /* NULL: no key is configured */
	struct mgr_auth *auth;
	const struct ticket_hooks *keeper; /* of auth; NULL: without a ring */
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_server *server;
	uint64_t boot; /* random, new at every start */
	/* clock_id(); a stored clock_boot() value is valid only with it */
	uint64_t clock;
	uint64_t started; /* clock_now() */

	struct mgr_jobs *jobs;
	struct session_table *sessions;
	struct dir_buffers *dir_buffers;
	struct tokens *tokens;
	struct lock_waits *lock_waits;
	struct adopts *adopts;
	struct evicts *evicts;
	struct open_paths *open_paths; /* or NULL */
	struct requests requests; /* all requests that exist */
	/* requests that wait for a turn on this thread */
	struct run_queue *queue;

	pthread_t thread;
	bool running;
	atomic_bool stop;
	bool serves; /* all parts are open */
	bool fresh; /* the database is new: not all iods are bound yet */
	/*
	 * Not bool: gcc reads two adjacent bools at once, together with other bytes that
	 * other threads write.
	 */
	int displaced; /* an iod obeys another manager */
	int foreign; /* an iod's store belongs to another database */
	int superseded; /* displaced, by a manager that is not of this group */
	int retired; /* only an administrator can make its storage useful again */
};

/* Writes the line `ready` to the log, and tells systemd that the manager serves. */
void mgr_say_ready(struct mgr *mgr);
/* Puts the reply to PING. */
void mgr_put_ping(const struct mgr *mgr, struct wire_out *out);

/*
 * Commits the transaction of ns; durable() of item (may be NULL) is called once it is
 * durable.
 */
int mgr_commit(struct mgr *mgr, struct flusher_item *item);
/* Commits if rc is 0, else undoes the transaction.  Returns rc, or the result of the commit. */
int mgr_end_transaction(struct mgr *mgr, int rc, struct flusher_item *item);
/*
 * Commits a change that no client waits for.  It becomes durable with the next other commit, or a
 * few ms later.
 */
int mgr_commit_deferred(struct mgr *mgr, struct flusher_item *item);
/*
 * Hands the changes committed in this turn to the flusher.  true: they are durable;
 * call flusher_collect().
 */
bool mgr_submit(struct mgr *mgr);
/* A struct ns_op for work without a request. */
struct ns_op mgr_own_op(struct mgr *mgr);

#endif
