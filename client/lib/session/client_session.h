/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client_session.h - a session, which is one client for the servers: a random id, the
 * credentials, and connections to the manager and every iod.  If the servers end a session,
 * the library creates another one and opens the files again there (fs.h).
 */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include <errno.h>

#include "common/util/addr.h"
#include "client/lib/auth/client_auth.h"
#include "common/dist/copyset.h"
#include "common/util/clock.h"
#include "common/util/container.h"
#include "client/lib/session/call_context.h"
#include "client/lib/session/copysets.h"
#include "client/lib/session/declare.h"
#include "client/lib/session/drive.h"
#include "client/lib/session/keeper_int.h"
#include "client/lib/session/keychain.h"
#include "client/lib/session/list_packing.h"
#include "client/lib/session/gid_lists.h"
#include "client/lib/session/iod_boots.h"

struct loan_pages;

/* The address of the blocks that an iod shares: client/lib/io/shared_blocks_int.h. */
struct shared_at {
	uint64_t addr, places; /* 0: unknown, or none */
	uint32_t rkey, term;
	unsigned int calls; /* calls that could have used it */
	uint64_t again; /* do not ask before this clock_now() */
	/* after a miss, pause reads do not use the cache; skip of them are still to come */
	unsigned int pause, skip;
};

struct session {
	struct drive drive; /* has the references */
	struct keeper keeper; /* runs after session_keep() */
	struct fabric fabric;
	const struct log *log;
	uint64_t id;
	unsigned int timeout_ms; /* for every call, see call_context.h */
	bool probe, together, tool; /* see session_attr */
	/* random: the server where striped requests of this client start */
	unsigned int first;
	struct rpc_peer *mgr;
	const struct client_auth_ops *auth_ops;
	struct client_auth *auth; /* NULL: pvfstab does not ask for it */
	bool elsewhere; /* a probe of an iod gets its tickets from ... */
	struct addr proves_at[WIRE_MGR_MAX]; /* ... one of these managers */
	unsigned int nproves;
	uint64_t ticket_ns; /* lifetime of the last ticket; client_session_int.h */
	_Atomic uint64_t ticket_at; /* when it arrived, clock_now() */
	enum seal_mode seal; /* minimum, with auth */

	/* set by MOUNT, then constant */
	uint64_t fsid, root;
	uint32_t niods;
	struct rpc_peer **iod; /* niods elements */
	struct copysets *copysets; /* of other rings than 0 */
	struct session_server {
		char uri[WIRE_URI_MAX + 1];
		atomic_bool asking; /* loan.c */
		atomic_uint lost; /* connections, or tries, that were lost */
		/* 1 + lost: the iod lends no words (file_counter.h) */
		atomic_uint wordless;
		struct session *s;
		struct loan_pages *loan_pages; /* under loans_lock; or NULL */
		struct shared_at shared; /* under loans_lock */
	} * uri; /* niods elements */
	pthread_mutex_t loans_lock;
	bool direct; /* objects that iods lend are used: loan.h */
	struct iod_boots *boots; /* of the mount, or NULL */

	int zero_fd; /* see usermem_open() */
	/* when a server last answered an server_call.h request */
	_Atomic uint64_t heard;
	_Atomic uint64_t iod_heard; /* when an iod last answered a transfer */
	struct packs packs; /* for the driving thread */
	struct gid_lists
		*gid_lists; /* lists of the users that it serves; or NULL */
	struct numbered_gids *own; /* its own groups, if they are a list */
	struct list_conf list;
	struct list_count count;
	struct keychain *keys; /* see keychain.h */
	struct declare *declare; /* NULL: it does not declare */
	atomic_uint posted; /* calls that no thread waits for */
	bool abandoned; /* its descriptors are closed */
	atomic_bool evicted; /* an administrator has ended it: fs_must_retry() */
	struct session *next; /* in fs.inherited */
};

/* The session that contains drive. */
static inline struct session *session_driven(struct drive *drive)
{
	return container_of(drive, struct session, drive);
}

/* How a session authenticates. */
struct session_auth_attr {
	enum auth_mode mode; /* AUTH_SYS: it does not */
	enum seal_mode seal; /* minimum */
	const char *key, *munge_socket, *where; /* see client_auth_attr */
	unsigned int server_uid;
	/* only for a probe: the managers, one of which issues the ticket */
	const struct addr *mgr;
	unsigned int nmgrs;
	/* only for a probe, the probed server: 0: a manager; otherwise 1 + the iod's number */
	uint32_t iod;
};

struct session_attr {
	const struct addr *addr; /* address of the manager, or of any server */
	/* addr is an array: managers, of which one leads; 0: addr is the only server */
	unsigned int nmanagers;
	const char *name; /* name of the server for messages */
	/* transport for servers whose addr permits any; or NULL */
	const char *scheme;
	const char *fabric; /* fabric option; NULL: auto */
	const char *where; /* see struct tp_dev_attr */
	uint64_t fsid; /* file system that the server must serve; 0: any */
	unsigned int server_uid; /* see struct tp_dev_attr */
	const struct rdma_opt *rdma; /* see struct tp_dev_attr */
	unsigned int dead_peer_ms; /* see struct tp_dev_attr */
	struct sizes inline_max, fast_max; /* see struct rpc_ctx_attr */
	bool adaptive; /* see rendezvous.h */
	bool indirect; /* borrow nothing (loan.h) */
	struct session_auth_attr auth;
	unsigned int timeout_ms;
	/* if a call to a server times out, the other calls that wait for this server end, too,
	 * and later ones fail immediately until the server answers */
	bool together;
	/* of the iods, outlives the session; NULL: not recorded */
	struct iod_boots *boots;
	/* outlives the session; NULL: no lists of other users */
	struct gid_lists *gid_lists;
	/* the manager stores the files that the session holds in memory only: declare.h */
	bool declares;
	bool wrong_service_logged; /* see struct rpc_peer_attr */
	/* the session only tests a server: it does not retry a failed connect */
	bool probe;
	/* an administrator's tool: a full server has a reserve for it (WIRE_FT_TOOL) */
	bool tool;
	const struct log *log;
};

/*
 * Creates a session *s with the server attr->addr, which becomes s->mgr.  The session connects
 * at its first call.  The caller releases it with session_put().  Returns 0 or -errno.
 */
int session_open(const struct session_attr *attr, struct session **s);
/*
 * For a probe, before any other call: gets a ticket from one of the managers attr->auth.mgr.
 * A server may reject a session without a ticket.  Returns 0 or -errno.
 */
int session_prove(struct session *s, const struct session_attr *attr);
/* Asks the manager for the file system, and sets up the iods.  Returns 0 or -errno. */
int session_mount(struct session *s);

/* Keeps the session alive from now on while its program computes (keeper_int.h). */
void session_keep(struct session *s);

/*
 * Called when the servers may no longer have the key of our ticket.  The keeper then gets
 * another ticket, unless the present one has just arrived.  Any thread may call it.
 */
void session_renew_ticket_soon(struct session *s);
/*
 * Called when an iod rejects our ticket: waits for another ticket.  Returns 0 when it has
 * arrived; -EAGAIN: the present ticket is so new that the iod may accept it now; -ETIMEDOUT.
 */
int session_await_ticket(struct session *s);

static inline struct session *session_get(struct session *s)
{
	drive_get(&s->drive);
	return s;
}
/*
 * Releases a reference.  With the last one, the client sends BYE and closes the connections.
 * The servers then end the session and close its files.
 */
static inline void session_put(struct session *s)
{
	drive_put(&s->drive);
}
/*
 * In a child after fork(), for a session of the parent: closes the descriptors.  The servers are
 * not told, and the memory of s is not freed.  A repeated call does nothing.
 * Async-signal-safe.
 */
void session_abandon(struct session *s);

/*
 * io.h and broadcast.h return this if an iod replied ESTALE.  From an iod, ESTALE always means that
 * the session has ended, never that a file is unknown.
 */
#define SESSION_ENDED (-EKEYEXPIRED)

static inline int session_iod_status(int rc)
{
	return rc == -ESTALE ? SESSION_ENDED : rc;
}

/*
 * Returns true if rc means that the session has ended, or that a server rejects our ticket.
 * The caller then stops a transfer, and calls fs_must_retry() to find out which.
 */
static inline bool session_is_over(int rc)
{
	return rc == SESSION_ENDED || rc == -EKEYREJECTED;
}

/*
 * The number of the iod to which requests for the objects of server k go now.  UINT32_MAX: the
 * client does not know it until copysets_learn(), which is never so in ring 0.
 */
static inline uint32_t session_iod(const struct session *s,
				   const struct dist *dist, uint32_t k)
{
	const struct ring ring = ring_of_iods(s->niods);
	struct copyset_place place;

	if (!dist->ring)
		return copyset_of(dist, &ring, k);
	return copysets_find(s->copysets, dist, k, &place) ? UINT32_MAX
							   : place.iod;
}

/*
 * Whether the client may use memory and objects that the iods of this layout lend, without
 * requests.  Not if the file is in another ring than 0: an iod does not revoke what it has lent
 * when another one takes its place.
 */
static inline bool session_is_direct(const struct session *s,
				     const struct dist *dist)
{
	return s->direct && !dist->ring;
}

/* The deadline of this thread's call. */
static inline uint64_t session_deadline(const struct session *s)
{
	return deadline_of(s->timeout_ms);
}

#endif
