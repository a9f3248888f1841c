/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_call.h - calls of servers, part of rpc.h. */
#ifndef RPC_CALL_H
#define RPC_CALL_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "common/trust/handshake.h"
#include "common/comm/progress/rpc_ctx.h"
#include "common/wire/seal_mode.h"

struct rpc_peer;
struct rpc_showing;

/*
 * The capabilities of a client, for iods that want them: what a request needs goes along with
 * the first such over a connection, and again when the iod asks for it (ENOKEY).
 */
struct rpc_shower {
	/*
	 * What to show to server index over that connection: a struct wire_caps, and what it
	 * announces, in room bytes at out, aligned to 8.  Its length; 0: there is
	 * nothing, or, unless must is set, it was shown there.
	 */
	size_t (*show)(void *arg, const struct rpc_showing *to, void *out,
		       size_t room);
	void *arg;
};
struct rpc_showing {
	uint32_t index, epoch;
	const struct wire_need *need;
	unsigned int n;
	bool must;
};

struct rpc_peer_attr {
	struct addr addr;		/* pvfs://: over the best rail that
					 * answers, chosen at each connect */
	const char *name;		/* "iod 2", for messages; copied */
	const char *fix;		/* what to look at when it cannot be
					 * reached, or NULL; outlives the peer */
	bool stranger;			/* that another service is there was
					 * logged already */
	enum wire_role role;		/* who we are */
	uint64_t fsid;			/* 0: any */
	uint64_t session;		/* one per client instance, random, not 0 */
	const struct rpc_cred *cred;	/* copied */
	const struct prover *prover;	/* NULL: nothing is proved.  Else the server
					 * must prove that it is the one below,
					 * as we do; a client's, before it has a
					 * ticket, neither.  Outlives the peer */
	enum seal_mode seal;		/* with prover: no connection that can be sealed
					 * is sealed less, once it is proved whose
					 * it is */
	enum wire_role server;		/* for prover: who answers there */
	uint32_t index;			/* ... of an iod; also which of several
					 * devices its connection begins with */
	const struct rpc_shower *shower; /* or NULL; outlives the peer */
	uint32_t features;		/* WIRE_FT_* that we understand; not _V3, not _PROOF,
					 * which prover stands for */
	const char *job;		/* what the server is to count it as: 1 to
					 * WIRE_JOB_MAX characters that print; NULL:
					 * none.  Copied */
	bool impatient;			/* as long as it was never connected, a
					 * connect that fails ends all calls with
					 * its error, but for -EBUSY; nothing is
					 * logged */
	bool group;			/* calls go to several such peers at a time,
					 * and are waited for together */
	unsigned int patience_ms;	/* not 0: once a server has said nothing for
					 * so long to who waited for it, calls fail
					 * at once, and those that start meanwhile
					 * end little later (silence_int.h) */
	/* first contact, or the server does not know the session any more;
	 * calls may be started from here, behind those in flight, which were
	 * sent again; may be NULL */
	void (*fresh)(void *arg, struct rpc_peer *peer);
	/* contact with a process of the server that was not met before, whether it
	 * knows the session or not; else as fresh; may be NULL */
	void (*met)(void *arg, struct rpc_peer *peer, uint64_t boot);
	/* the connection was lost, or a try to make one failed, with status
	 * (-ECONNREFUSED: nobody listens there); may be NULL */
	void (*lost)(void *arg, int status);
	void *arg;
};

/* A server as a client sees it.  Connects at the first call; never blocks. */
int rpc_peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
		  struct rpc_peer **peer);
/*
 * Calls in flight are done with -ECANCELED before it returns.  bye: tell the
 * server that the session ends (best effort, does not wait for the answer).
 */
void rpc_peer_close(struct rpc_peer *peer, bool bye);
/*
 * A change of an object was given up after it had been sent, and was never answered:
 * the server may still carry it out.
 */
bool rpc_peer_owes(const struct rpc_peer *peer);
/* Its BYE says that this is so of another server: the session ends unclean. */
void rpc_peer_unsure(struct rpc_peer *peer);
/* "iod 2 (tcp://10.0.0.7:7000)"; lives with the peer. */
const char *rpc_peer_name(const struct rpc_peer *peer);
/*
 * The transport in use ("local"; "-": none yet) and why ("same host"; "local:
 * another host; verbs: not in this build").  They change when the connection
 * is made again.
 */
const char *rpc_peer_transport(const struct rpc_peer *peer);
const char *rpc_peer_reason(const struct rpc_peer *peer);
/*
 * What a server that is full is short of, and how that is mended, where others than its
 * administrator's tools are refused with -WIRE_ENOFILES and -WIRE_ENOSEATS.
 */
#define RPC_NO_FILES "the server has no room: few descriptors are left, raise " \
		     "LimitNOFILE of its unit (systemctl edit)"
#define RPC_NO_SEATS "the server has no room: max_sessions, or host_sessions, " \
		     "clients are there, raise that in its pvfs.conf"
/* Which of these, where it has let us in all the same; 0: it is not full. */
int rpc_peer_shortage(const struct rpc_peer *peer);
/* How its connection is sealed; whether one over that transport can be. */
enum seal_mode rpc_peer_seal(const struct rpc_peer *peer);
bool rpc_peer_seals(const struct rpc_peer *peer);
/*
 * Leaves a connection that it has and makes another, as the same session: there is something
 * to prove now.  Calls under way are sent again.
 */
void rpc_peer_renew(struct rpc_peer *peer);
/*
 * Whether the connection can be sealed as it is, behind an answer that is the last one which
 * comes bare; and does that, if it is still the one of that epoch: else -ESTALE.  0: it is, or
 * it ends, and another one is made.
 */
bool rpc_peer_here(const struct rpc_peer *peer);
/* It will not be, as the server says.  For who drives the context. */
void rpc_peer_not_here(struct rpc_peer *peer);
int rpc_peer_seal_here(struct rpc_peer *peer, uint32_t epoch,
		       const struct here *here);
/* It is connected.  For who drives the context. */
bool rpc_peer_ready(const struct rpc_peer *peer);
/*
 * Those of features, and WIRE_FT_V3, that its server named, too: of this connection, or of
 * the last one; 0: there was none.  From any thread.  What is sent again may meet a later version, which takes
 * what this one does; an earlier one is started no more on a store that this one had.
 */
uint32_t rpc_peer_features(const struct rpc_peer *peer);
/* Of the connection, and what its server said: 0, there is none. */
uint32_t rpc_peer_epoch(const struct rpc_peer *peer);
uint64_t rpc_peer_boot(const struct rpc_peer *peer);
/* It has refused the session (-ESTALE), since an administrator has ended that; any
 * thread. */
bool rpc_peer_evicted(const struct rpc_peer *peer);
/*
 * A moment of our clock_boot(), not before now, on the server's, and not later than it
 * truly is there; 0: nothing is known of that.
 */
uint64_t rpc_peer_clock(const struct rpc_peer *peer, uint64_t when);
/* tp_ep_take(): what came in front of a reply; in done() of its call. */
int rpc_peer_take(struct rpc_peer *peer, int *fd, unsigned int n);
/* The most payload that goes in a message on the rail in use. */
uint32_t rpc_peer_inline_max(const struct rpc_peer *peer);

/*
 * How the payload of requests went (call_way_int.h): in a message, by Fast RDMA, or
 * fetched and delivered by servers.  From any thread; what goes out again after a
 * broken connection counts again.
 */
struct rpc_ways {
	uint64_t inlined, fast, direct;
	uint64_t whole; /* of direct: reads that ended without a reply */
};
void rpc_ctx_ways(const struct rpc_ctx *ctx, struct rpc_ways *ways);
/* How often a server did not prove that it is the one asked for.  From any thread. */
uint64_t rpc_ctx_impostors(const struct rpc_ctx *ctx);

/*
 * A call, owned by the caller from rpc_call_start() until done().  msg is a
 * message built with wire_begin()/wire_end(): it is copied at the start.
 * data is inline data gathered from the caller's memory, which stays
 * unchanged until done().
 *
 * The struct wire_mem pieces of msg name memory by addr and len; each lies
 * within one of area[0..nareas).  Their rkeys are filled in whenever the
 * message goes out, for the rail in use; an area is registered there when
 * needed.  area and what it points to stay until done() and belong to the
 * ctx's thread meanwhile.  Without areas the pieces are left as they are.
 *
 * The bytes of a WRITE's pieces may go along with the message instead, if they
 * are few (call_way_int.h); then nothing is registered.  Those of a READ may land
 * in a buffer, if bounce is set: then the caller takes them from there.  Where nobody
 * but an adapter or the server places bytes, a READ that has terse set, and gets all
 * that it asks for, ends with the last of them: the reply is empty then (whole).
 */
struct rpc_call {
	const void *msg;
	size_t msg_len;			/* as wire_end() returned, less data */
	const struct iovec *data;	/* copied; the memory is not */
	unsigned int ndata;		/* at most RPC_DATA_MAX */
	struct rail_mem *const *area;
	unsigned int nareas;
	unsigned int pieces_at, npieces; /* struct wire_mem in msg: byte, how many */
	uint64_t deadline;		/* absolute; never CLOCK_NEVER */
	uint32_t user;			/* whose it is, of a session that serves many:
					 * slots are shared between users; 0: nobody's */
	bool urgent;			/* it takes the slot that is kept for such
					 * calls; at most one at a time */
	uint64_t bytes;			/* of payload; what others move for us
					 * is waited for asleep, if it is much */
	const void *joined;		/* the same: as one, join.c; NULL: none */
	bool bounce;			/* done() copies from landed */
	bool terse;			/* a READ may end without a reply: whole */
	bool quiet;			/* no line in the log when that passes:
					 * the caller tries again, or says more */
	bool patient;			/* the peer's patience does not count: it
					 * is answered late, or nobody waits */
	void (*done)(struct rpc_call *call);
	/*
	 * The connection broke because memory of a call was not there.  True:
	 * this call's, which is then done with -EFAULT; the others are sent
	 * again.  NULL: false.
	 */
	bool (*faulty)(struct rpc_call *call);
	void *arg;

	/* Results, for done(): 0, -errno, or WIRE_REDIRECT.  On 0 and
	 * WIRE_REDIRECT reply is a parsed message, valid only in done(). */
	int status;
	bool unsure;			/* status is no answer of the server, which
					 * may have executed the request */
	struct wire_msg reply;
	bool whole;			/* status 0, and no reply: all that was asked
					 * for was read, and the object goes on behind
					 * it, nobody knows how far */
	const void *landed;		/* in done(), status 0: where the pieces'
					 * bytes are, one behind the other; NULL:
					 * in their place */

	/* private */
	struct rpc_call_priv {
		TAILQ_ENTRY(rpc_call) link;
		struct rpc_due due;
		struct rpc_peer *peer;
		int where;		/* slot, or CALL_* in call.c */
		enum wire_wait kind;	/* which slots it may have */
		uint64_t began;
		uint64_t moving;	/* of bytes, without our help */
		void *copy;		/* while it waits for a slot */
		bool owed;		/* counts in silence.owing */
	} p;
};
#define RPC_DATA_MAX 64u

/*
 * Never fails: errors come through done(), which is not called from here.
 * If the caller's memory was named in the message (wire_mem), done() means
 * that the server does not touch it any more, unless status is -ETIMEDOUT or
 * -ECANCELED: then deregister it before reuse; late access breaks the
 * connection, which is re-made.
 */
void rpc_call_start(struct rpc_peer *peer, struct rpc_call *call);
/* done() with -ECANCELED now, if the call is still outstanding.  call was
 * started once, or is zero. */
void rpc_call_cancel(struct rpc_call *call);
/*
 * Another call of the same operation ended with status: cancels this one if
 * that was an answer, an error, and this one's server is not connected, so
 * that nobody waits for it in vain.  But not a WRITE that was sent: until its deadline
 * the server may carry it out, and nobody may be told before that it failed.
 */
void rpc_call_forgo(struct rpc_call *call, int status);

#endif
