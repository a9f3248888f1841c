/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - the inside of the iod: a worker is a progress thread with its
 * own completion queue, sessions and buffers; workers share the store
 * and the threads that wait for the disk.
 */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "server/counter/counter.h"
#include "server/once/early.h"
#include "server/conf/iod_conf.h"
#include "common/trust/gatehouse.h"
#include "common/trust/keyring.h"
#include "server/lend/loan_table.h"
#include "server/state/mailbox.h"
#include "server/store/marks.h"
#include "server/once/resizes.h"
#include "common/comm/rpc.h"
#include "server/store/store_engine.h"
#include "server/store/sync_pool.h"
#include "server/state/terms.h"
#include "server/once/tombs.h"
#include "server/state/verdicts.h"
#include "server/window/window.h"
#include "common/buffer/zone.h"

struct copies;
struct daemon; /* daemon.h */
struct hold;
struct xfer;
struct parked;
struct worker;

/* To be called, on the session's thread, when nothing of it runs. */
struct session_idle {
	void (*idle)(struct session_idle *wait);
	STAILQ_ENTRY(session_idle) link;
};

struct iod_session {
	uint64_t id;
	struct worker *worker;
	unsigned int refs; /* the service and each transfer */
	unsigned int running; /* transfers, jobs of the pool */
	STAILQ_HEAD(, session_idle) waits; /* for the end of these */
	bool fenced; /* nothing of it is written any more */
	struct sync_client *turn; /* in the pool */
	struct marks marks; /* of what it wrote */
	struct verdicts verdicts; /* by its capabilities: shown_caps.h */
	bool client; /* it needs them, if anybody does */
	bool mgr; /* it says that it is the manager, */
	uint64_t term; /* in this term; 0: it has not claimed the store */
	struct zone_owner owner; /* of buffers */
	unsigned int copying; /* parts of its copies that are under way */
	uint64_t shy_until; /* uses no windows: one failed under it */
	LIST_ENTRY(iod_session) link;
};

/* Why a request is refused. */
enum caps_flaw {
	CAPS_MISSING = 1,
	CAPS_AGAIN,
	CAPS_FALSE,
	CAPS_OTHERS,
	CAPS_ENDED,
	CAPS_OLD,
	CAPS_NEVER,
	CAPS_FLAWS
};

/* How the data of a READ or WRITE goes. */
enum payload {
	PAYLOAD_ALONG, /* with the message */
	PAYLOAD_PLACED, /* to a Fast RDMA buffer of the client's */
	PAYLOAD_KEYS, /* left to us, by keys; the client may be asked to */
	PAYLOADS
};

struct worker {
	struct iod *iod;
	struct rpc_ctx *ctx;
	struct mailbox mail;
	struct zones *zones; /* for transfers; shared fairly by sessions */
	struct windows windows;
	struct rail_sge *piece; /* RPC_LOCAL_MAX, of the chunk that begins */
	LIST_HEAD(, iod_session) sessions;
	LIST_HEAD(, xfer) xfers; /* under way */
	LIST_HEAD(, xfer) spare; /* to be used again */
	struct copies *copies; /* copies.h */
	LIST_HEAD(, hold) holds; /* requests that wait: hold.c */
	TAILQ_HEAD(, parked) parked; /* changes that wait for a lease */
	struct mail renewed;
	atomic_bool renewing; /* it is on its way */
	struct rpc_timer replaced; /* the iod ends: its store is another one */
	pthread_t thread;
	bool started;
	atomic_uint_least64_t payloads[PAYLOADS]; /* requests, by enum payload */
	uint64_t caps_said[CAPS_FLAWS]; /* when, in the log */
	struct mail report; /* iod_report() */
	atomic_bool reporting; /* it is on its way */
};

struct iod {
	struct iod_conf conf;
	/* Carries out a request, or refuses it: as it came, or after a wait. */
	void (*run)(struct worker *w, struct rpc_req *req);
	const struct log *log;
	struct daemon *daemon; /* or NULL */
	const struct store_engine *engine;
	struct store *store;
	struct tombs *tombs;
	struct early *early;
	struct loan_table *loans;
	struct counters *counters;
	bool new_store; /* there was nothing in it when this process began */
	struct resizes resizes;
	struct keyring *ring; /* NULL: no key is configured, and then: */
	struct trust *trust; /* ... who is the manager */
	struct terms terms; /* for: */
	struct gatehouse house;
	struct doorkeeper keeper; /* with a ring: looks at tickets */
	atomic_uint_least64_t caps_refused[CAPS_FLAWS];
	struct sync_pool *pool;
	struct aio *aio; /* or NULL */
	struct fabric fabric;
	struct tp_mr *shows[RAILS_MAX]; /* shows.h; or NULL */
	struct tp_mr *shares[RAILS_MAX]; /* shares.h; or NULL */
	bool sharing; /* over one of them */
	struct rpc_server *server;
	struct rpc_ctx *ctx[IOD_THREADS_MAX]; /* the workers' */
	uint64_t boot;
	uint64_t started; /* clock_now() */
	uint64_t started_boot; /* the same moment, clock_boot() */
	struct { /* lease.c; clock_boot() */
		_Atomic uint64_t until; /* 0: there was none yet */
		_Atomic uint64_t heard; /* of the manager, or since we run */
		atomic_bool lost; /* and this was said */
	} lease;
	atomic_bool stop;
	atomic_bool ready; /* and this was said */
	unsigned int nworkers;
	struct worker worker[];
};

/* It lends for writing, too. */
static inline bool iod_lends_writing(const struct iod *iod)
{
	return iod->conf.direct <= IOD_LEND_ALL && store_in_memory(iod->store);
}

/* ---- session.c ---- */

struct iod_session *session_find(struct worker *w, uint64_t id);
struct iod_session *session_of(struct rpc_req *req);
/* An order of a manager in whose place there is another one. */
bool session_stale(const struct iod_session *ses);
void session_unref(struct iod_session *ses);
/*
 * store_engine.read() or write() for a request of the session, in its turn and before
 * its expiry; io has the rest.
 */
int session_file(struct iod_session *ses, const struct rpc_req *req,
		 struct store_io *io, bool write);
/* A reference for something that runs. */
void session_begin(struct iod_session *ses);
void session_finish(struct iod_session *ses);
/* wait->idle(), now or when all that runs has finished. */
void session_wait(struct iod_session *ses, struct session_idle *wait);

#endif
