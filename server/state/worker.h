/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - the state of the iod that its files share.  A worker is a progress thread with its
 * own completion queue, sessions and buffers.  The workers share the store and the threads that
 * wait for the disk.
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "server/counter/counter.h"
#include "server/once/recent_changes.h"
#include "server/conf/iod_conf.h"
#include "common/trust/ticket.h"
#include "common/trust/keyring.h"
#include "server/lend/loan_table.h"
#include "server/state/mailbox.h"
#include "server/store/dirty_objects.h"
#include "common/comm/rpc.h"
#include "server/store/store_engine.h"
#include "server/store/disk_pool.h"
#include "server/state/mgr_clocks.h"
#include "server/state/session_rights.h"
#include "server/window/window.h"
#include "common/buffer/zone.h"

struct assignments; /* assignments.h */
struct change_records;
struct copies;
struct daemon; /* daemon.h */
struct gate_waiter;
struct group_change;
struct xfer;
struct lease_waiter;
struct member_order;
struct range_locks; /* range_lock.h */
struct promise_exchange;
struct worker;

/* Called on the session's thread when nothing of the session is running. */
struct session_idle_wait {
	void (*idle)(struct session_idle_wait *wait);
	STAILQ_ENTRY(session_idle_wait) link;
};

struct iod_session {
	uint64_t id;
	struct worker *worker;
	/* references: one of the service, and one of each transfer, job and flush */
	unsigned int refs;
	unsigned int running; /* transfers and jobs in progress */
	STAILQ_HEAD(, session_idle_wait) waits; /* waiting until running is 0 */
	bool fenced; /* none of its changes is executed any more */
	struct disk_client *disk_client; /* for its turns in the disk pool */
	struct dirty_objects dirty; /* of the objects that it wrote */
	/* rights from its capabilities: capability_check.h */
	struct session_rights rights;
	bool client; /* a client: it needs capabilities, if they are on */
	bool mgr; /* it connected as the manager */
	uint64_t term; /* the manager's term; 0: it has not claimed the store */
	struct zone_owner owner; /* for its turns at buffers */
	struct zone_owner order_owner; /* ... at those for orders */
	unsigned int copy_parts; /* parts of its copies in progress */
	/* a connection broke: no windows are used before this time, clock_now() */
	uint64_t no_windows_until;
	LIST_ENTRY(iod_session) link;
};

/* Why a request is refused; the texts are in capability_check.c. */
enum caps_flaw {
	CAPS_MISSING = 1, /* the session showed none */
	CAPS_FORGOTTEN, /* it showed one that this iod has dropped: show it again */
	CAPS_FALSE,
	CAPS_OTHERS, /* of another session or file system */
	CAPS_ENDED, /* expired */
	CAPS_OLD, /* of a key or term that is not valid any more */
	CAPS_NEVER, /* the operation is not allowed with capabilities */
	CAPS_FLAWS
};

struct worker {
	struct iod *iod;
	struct rpc_ctx *ctx;
	struct mailbox mail;
	/* buffers for transfers; sessions take turns at them */
	struct zones *zones;
	struct windows windows;
	/* RPC_LOCAL_MAX pieces, for the chunk that is being started */
	struct rail_sge *piece;
	LIST_HEAD(, iod_session) sessions;
	LIST_HEAD(, xfer) xfers; /* in progress */
	LIST_HEAD(, xfer) spare; /* free, for reuse */
	struct copies *copies; /* copies.h */
	struct rpc_peer **peers; /* of each iod; NULL: none yet: iod_peers.h */
	/* orders of primaries in progress, and fences that wait for them: member_order.h */
	LIST_HEAD(, member_order) orders;
	STAILQ_HEAD(, session_idle_wait) order_waits;
	/* changes of copysets with several members: group_change.h */
	LIST_HEAD(, group_change) group_changes;
	/* the buffers of zones, for members that read from them */
	struct rail_mem order_source;
	/* buffers for orders; NULL: there was no order yet */
	struct zones *order_zones;
	/* requests that wait for late changes: gate_waiter.c */
	LIST_HEAD(, gate_waiter) gate_waiters;
	TAILQ_HEAD(, lease_waiter)
	lease_waiters; /* changes that wait for a lease */
	struct mailbox_item renewed;
	atomic_bool renewing; /* renewed was posted and not yet delivered */
	/* ends the iod: its store is not the one that the manager expects */
	struct rpc_timer replaced;
	pthread_t thread;
	bool started;
	/* when each was last logged, for log_pace() */
	uint64_t caps_logged[CAPS_FLAWS];
};

struct iod {
	struct iod_conf conf;
	/* Executes a request or refuses it; called when it arrives, and again after a wait. */
	void (*run)(struct worker *w, struct rpc_req *req);
	const struct log *log;
	struct daemon *daemon; /* or NULL */
	const struct store_engine *engine;
	struct object_store *store;
	struct recent_changes *recent;
	struct change_records *change_records;
	struct loan_table *loans;
	struct counters *counters;
	struct assignments *assignments;
	/* changes of copysets in progress here */
	struct range_locks *ranges;
	struct promise_exchange *promise_exchange;
	/* the store was never claimed when this process began */
	bool new_store;
	/* NULL: no key is configured; then mgr_addresses is used */
	struct keyring *ring;
	/* the addresses of the manager; NULL with a ring */
	struct mgr_addresses *mgr_addresses;
	struct mgr_clocks mgr_clocks; /* used by house */
	struct ticket_verifier house;
	struct ticket_hooks keeper; /* with a ring: verifies tickets */
	atomic_uint_least64_t caps_refused[CAPS_FLAWS];
	struct disk_pool *pool;
	struct aio *aio; /* or NULL */
	struct fabric fabric;
	/* of rdma_places.h: the tables of sizes and of blocks; or NULL */
	struct tp_mr *size_mr[RAILS_MAX], *block_mr[RAILS_MAX];
	bool shares_blocks; /* over at least one device */
	struct rpc_server *server;
	struct rpc_ctx *ctx[IOD_THREADS_MAX]; /* of the workers */
	uint64_t boot;
	uint64_t started; /* clock_now() */
	uint64_t started_boot; /* the same time, clock_boot() */
	struct { /* of lease.c; times are clock_boot() */
		_Atomic uint64_t until; /* 0: no lease yet */
		/* when the manager was last heard; at first, the start */
		_Atomic uint64_t heard;
		atomic_bool lost; /* the loss of the lease was logged */
	} lease;
	atomic_bool stop;
	atomic_bool ready; /* the iod serves, and that was logged */
	unsigned int nworkers;
	struct worker worker[];
};

/* Whether objects are lent for writing, and not only for reading. */
static inline bool iod_lends_writing(const struct iod *iod)
{
	return iod->conf.direct <= IOD_LEND_ALL && store_in_memory(iod->store);
}

/* The key of the object with this handle that belongs to the copyset of req. */
static inline struct object_key request_key(const struct rpc_req *req,
					    le64 handle)
{
	return (struct object_key){ le64toh(handle),
				    wire_copyset(req->msg.hdr).id };
}

/* ---- session.c ---- */

struct iod_session *session_find(struct worker *w, uint64_t id);
struct iod_session *session_of(struct rpc_req *req);
/* Whether the session claimed the store as the manager, and the store obeys another manager now. */
bool session_is_stale(const struct iod_session *ses);
void session_unref(struct iod_session *ses);
/* A transfer, job or flush of the session begins: counts it in `running` and takes a reference.
 * session_work_end() undoes both. */
void session_work_begin(struct iod_session *ses);
void session_work_end(struct iod_session *ses);
/* Calls wait->idle() when nothing of the session is running, possibly at once. */
void session_wait_idle(struct iod_session *ses, struct session_idle_wait *wait);

#endif
