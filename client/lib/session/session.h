/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h - one client instance as the servers know it: a random id, the
 * credentials, and a connection to the mgr and to every iod.  A session that
 * the servers gave up is not mended but replaced by a new one (fs.h); what
 * was opened under it is opened again.
 */
#ifndef SESSION_H
#define SESSION_H

#include <errno.h>

#include "common/util/addr.h"
#include "client/lib/auth/client_auth.h"
#include "common/util/clock.h"
#include "common/util/container.h"
#include "client/lib/session/deadline.h"
#include "client/lib/session/declare.h"
#include "client/lib/session/drive.h"
#include "client/lib/session/keeper_int.h"
#include "client/lib/session/keychain.h"
#include "client/lib/session/list_conf_int.h"
#include "client/lib/session/listed.h"
#include "client/lib/session/lives.h"
#include "client/lib/session/pack.h"

struct lender;

/* Where an iod shares what is read often: warm_int.h in client/lib/io. */
struct shared_at {
	uint64_t addr, places; /* 0: not known, or nowhere */
	uint32_t rkey, term;
	unsigned int calls; /* that could have used it */
	uint64_t again; /* not asked before, clock_now() */
	unsigned int pause, skip; /* not looked for in so many reads; left */
};

struct session {
	atomic_uint refs;
	struct drive drive;
	struct keeper keeper; /* from session_keep() on */
	struct fabric fabric;
	const struct log *log;
	uint64_t id;
	unsigned int timeout_ms; /* of every call, see deadline.h */
	bool probe, together, tool; /* see session_attr */
	unsigned int first; /* random: where this client's striped
					 * requests begin */
	struct rpc_peer *mgr;
	const struct client_auth_ops *auth_ops;
	struct client_auth *auth; /* NULL: pvfstab does not ask for it */
	bool elsewhere; /* a probe of an iod has its tickets from: */
	struct addr proves_at; /* its manager */
	uint64_t ticket_ns; /* how long the last ticket holds; prove_int.h */
	_Atomic uint64_t ticket_at; /* when it came, clock_now() */
	enum seal_mode seal; /* at least, with that */

	/* from MOUNT, then constant */
	uint64_t fsid, root;
	uint32_t niods;
	struct rpc_peer **iod; /* niods */
	struct session_server {
		char uri[WIRE_URI_MAX + 1];
		atomic_bool asking; /* lender.c */
		atomic_uint lost; /* connections to it, or tries */
		atomic_uint
			wordless; /* 1 + lost: it tells no places (atomics.h) */
		struct session *s;
		struct lender *lender; /* under lenders; or NULL */
		struct shared_at shared; /* likewise */
	} * uri; /* niods */
	pthread_mutex_t lenders;
	bool direct; /* what iods lend is used: lender.h */
	struct lives *lives; /* the mount's, or NULL */

	int zero_fd; /* usermem_open() */
	_Atomic uint64_t heard; /* when a server answered an ask.h request */
	_Atomic uint64_t iod_heard; /* when an iod answered a transfer */
	struct packs packs; /* the driving thread's */
	struct listed *listed; /* of those for whom it asks; or NULL */
	struct listed_groups *own; /* its groups, if they are a list */
	struct list_conf list;
	struct list_count count;
	struct keychain *keys; /* keychain.h */
	struct declare *declare; /* or NULL: it does not */
	atomic_uint posted; /* calls that nobody waits for */
	bool abandoned; /* its descriptors are closed */
	atomic_bool evicted; /* an administrator has ended it: fs_lost() */
	struct session *next; /* fs.inherited */
};

/* Whose it is. */
static inline struct session *session_driven(struct drive *drive)
{
	return container_of(drive, struct session, drive);
}

/* How it proves who it is. */
struct session_auth_attr {
	enum auth_mode mode; /* AUTH_SYS: not at all */
	enum seal_mode seal; /* at least */
	const char *key, *munge_socket, *where; /* see client_auth_attr */
	unsigned int server_uid;
	/* of a session with any server: who gives it a ticket for that; and which
	 * iod it is, 1 + its number; 0: the mgr */
	const struct addr *mgr;
	uint32_t iod;
};

struct session_attr {
	const struct addr *addr; /* of the mgr, or of any server */
	const char *name; /* of that, for messages */
	const char *scheme; /* of servers whose addr says any; or NULL */
	const char *fabric; /* option; NULL: auto */
	const char *where; /* see struct tp_dev_attr */
	uint64_t fsid; /* what the server must serve; 0: whatever */
	unsigned int server_uid; /* see struct tp_dev_attr */
	const struct rdma_opt *rdma; /* likewise */
	unsigned int dead_peer_ms; /* likewise */
	struct sizes inline_max, fast_max; /* see struct rpc_ctx_attr */
	bool adaptive; /* rendezvous.h */
	bool indirect; /* nothing is borrowed (lender.h) */
	struct session_auth_attr auth;
	unsigned int timeout_ms;
	bool together; /* calls that a silent server has to answer end with the
			* first of them, and fail at once from then on */
	struct lives *lives; /* of the iods, outlives it; NULL: nobody asks */
	struct listed *listed; /* outlives it; NULL: nobody else's are listed */
	bool declares; /* the mgr keeps what it holds in memory: declare.h */
	bool stranger; /* see struct rpc_peer_attr */
	bool probe; /* is it there: a connect that fails is the answer */
	bool tool; /* an administrator's: servers that are full have a reserve
		    * for such (WIRE_FT_TOOL) */
	const struct log *log;
};

/* A session with one server, which is s->mgr; it connects at the first call. */
int session_open(const struct session_attr *attr, struct session **s);
/*
 * Of a probe, before anything else: gets a ticket from attr.auth.mgr.  Without one the
 * server may refuse it.
 */
int session_prove(struct session *s, const struct session_attr *attr);
/* Asks the mgr for the file system, and makes the iods known. */
int session_mount(struct session *s);

/* From now on it is kept while its program computes (keeper_int.h). */
void session_keep(struct session *s);

/*
 * Servers may have other keys by now than that of our ticket: the keeper gets another one,
 * if it has not just done so.  Any thread.
 */
void session_prove_soon(struct session *s);
/* An iod does not take our ticket: waits for another one.  0; -EAGAIN: it has just come;
 * -ETIMEDOUT. */
int session_prove_anew(struct session *s);

struct session *session_get(struct session *s);
/*
 * The last one closes the connections.  Servers then take the session for
 * ended (BYE), so what was opened under it is not open any more.
 */
void session_put(struct session *s);
/* In a child after fork(): the parent's session.  Closes the descriptors
 * without a word to the servers; the memory stays.  The same again does nothing.
 * It may be called where only async-signal-safe functions may. */
void session_abandon(struct session *s);

/* An iod's -ESTALE, as which it comes out of io.h and fan.h: iods say it of
 * sessions, never of files. */
#define SESSION_ENDED (-EKEYEXPIRED)

static inline int session_iod_status(int rc)
{
	return rc == -ESTALE ? SESSION_ENDED : rc;
}

/* Or who is there does not take our ticket, and fs_lost() finds out: what was under way
 * is not done again, either. */
static inline bool session_is_over(int rc)
{
	return rc == SESSION_ENDED || rc == -EKEYREJECTED;
}

/* Of the call that this thread makes. */
static inline uint64_t session_deadline(const struct session *s)
{
	return deadline_of(s->timeout_ms);
}

#endif
