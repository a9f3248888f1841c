/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_int.h - the client's end: one server, its connection and its slots.
 *
 *   IDLE --call--> CONNECTING --established--> HELLO --reply--> READY
 *    ^                 |                         |                |
 *    +---refused-------+-------------------------+                |
 *    |                 +--------lost-------------+------lost------+
 *    |                                   v
 *    +-----no calls, never ready------ BACKOFF --timer--> CONNECTING
 *
 * A READY peer on a worse transport than before sometimes passes through BACKOFF without a delay,
 * to try the better one.
 *
 * Every state may change to CLOSED.  Every state also changes to IDLE if the program closed the
 * descriptors of the transport (-EBADFD), because nothing can arrive then.  A peer that was READY
 * once reconnects on its own, so that its session stays alive.
 */
#ifndef PEER_INT_H
#define PEER_INT_H

#include "common/comm/call/call_way_int.h"
#include "common/comm/call/offset_int.h"
#include "common/comm/call/peer_seal_int.h"
#include "common/comm/call/reach_int.h"
#include "common/comm/call/share_int.h"
#include "common/comm/call/silence_int.h"

#define PEER_SLOTS_MAX 64u /* number of bits in rpc_peer.free */
#define PEER_RECVS_MAX (PEER_SLOTS_MAX + 1 + WIRE_CARRY_MAX)
#define PEER_MSG_MAX (sizeof(struct wire_hdr) + WIRE_BODY_MAX)
#define PEER_SENDS_MAX 256u
#define PEER_HELLO_MS 5000u /* limit for connect, and for HELLO */
/* limit for connect if another rail or address is left */
#define PEER_TRY_MS 2000u
#define PEER_RETURN_MS 200u /* the same on the way back to a better rail */
#define PEER_BACKOFF_MIN_MS 10u
#define PEER_BACKOFF_MAX_MS 1000u

enum peer_state {
	PEER_IDLE, /* no connection, and none is needed */
	PEER_CONNECTING, /* tp_connect() in progress */
	PEER_HELLO, /* HELLO sent */
	PEER_READY, /* calls are sent */
	PEER_BACKOFF, /* waits before the next CONNECTING */
	PEER_CLOSED, /* rpc_peer_close(); freed after the round */
};

/* How the rail of a connection was chosen. */
struct choice {
	unsigned int next; /* rail to check next */
	unsigned int host; /* number of its addresses that were tried */
	int rail; /* being tried or in use; -1: none */
	bool final;
	/* connects in a row without a reply to HELLO */
	unsigned int mute[RAILS_MAX];
	char why[256]; /* the better rails, and why they failed */
	char reason[256]; /* why the rail in use was chosen */
	int said; /* the rail that was logged last, or -1 */
	int best; /* rank of the best rail known to work, or -1 */
	bool barred; /* a connect ended with -EACCES: ignore WIRE_FT_LOCAL */
	bool returning; /* the connection was left for a better rail */
	unsigned int return_ms; /* the last wait before that */
};

/*
 * peer_apart.c: the second endpoint of the connection, for bulk data.  It is made before the
 * first call is sent.  Replies that follow such data use it too.
 */
struct peer_apart {
	struct link link;
	/* HELLO was answered, and calls wait for the second endpoint */
	bool joining;
	bool alone; /* no second endpoint; counted once the server answers */
	unsigned int failed; /* consecutive connections without one */
	unsigned int nrecv;
	uint8_t *block; /* of nrecv messages; NULL: never needed */
	struct rail_mem mem; /* of block */
	uint32_t lkey; /* of block, on this connection */
	struct wire_hdr hdr; /* of the answer to HELLO */
	struct wire_hello_rep rep;
};

/* A request in flight.  Its message lies in the slot's part of the block. */
struct peer_slot {
	struct rpc_call *call; /* NULL: free, or a zombie: its reply may come */
	enum wire_wait kind; /* of its call */
	uint32_t user; /* of its call */
	uint64_t seq;
	uint32_t msg_len;
	unsigned int ndata;
	struct rail_mem *const *area;
	unsigned int nareas, pieces_at, npieces;
	bool sending; /* the transport may still read data */
	bool anew; /* send it with WIRE_F_ANEW */
	bool terse; /* it was sent with WIRE_F_WHOLE */
	struct peer_shown {
		uint32_t len; /* part of msg_len: capabilities at its end */
		unsigned int asked; /* how often the server asked for them */
	} shown;
	unsigned int carrying; /* parts that we move: call_carry.c */
	/* call_way.c */
	uint8_t *msg; /* in the block */
	unsigned int buffer; /* 1 + number; 0: none */
	bool copied; /* the payload of a write is in our buffer */
	bool bounced; /* a read delivers there; named: what the message had */
	le64 named[WAY_PIECES];
	struct iovec data[RPC_DATA_MAX];
};

static inline struct wire_mem *slot_pieces(const struct peer_slot *s)
{
	return (struct wire_mem *)(void *)(s->msg + s->pieces_at);
}

struct rpc_peer {
	struct link link;
	enum peer_state state;
	/* HELLO: time limit; BACKOFF: end; READY: return */
	struct rpc_timer timer;
	struct ctx_task drain; /* ends the calls in failing */
	struct ctx_task gone;

	struct addr addr;
	struct hosts hosts; /* the addresses of its host */
	bool naming; /* waits for them: lookup.c */
	TAILQ_ENTRY(rpc_peer) naming_link;
	struct choice choice; /* of the rail */
	unsigned int turn; /* which of several devices comes first: choose.c */
	char name[ADDR_STRLEN + 72];
	const char *fix; /* see rpc_call.h */
	enum wire_role role;
	uint64_t fsid, session;
	struct rpc_cred cred;
	uint32_t features; /* ours */
	char job[WIRE_JOB_MAX]; /* padded with zeros; empty: none */
	bool names_job; /* on this connection the server accepts the job */
	_Atomic uint32_t agreed; /* features of both ends: rpc_peer_features() */
	const struct rpc_shower *shower; /* or NULL: call_shown.c */
	uint32_t index; /* number of the server, for shower */
	const struct prover *prover; /* or NULL: peer_proof.c */
	struct handshake shake; /* of this connection */
	bool proving; /* we prove ourselves on this connection */
	struct peer_seal seal;
	void (*fresh)(void *arg, struct rpc_peer *peer);
	void (*met)(void *arg, struct rpc_peer *peer, uint64_t boot);
	void (*lost)(void *arg, int status);
	void *arg;

	uint32_t epoch; /* number of connects so far */
	bool impatient; /* see rpc_call.h */
	bool keeps_slot; /* one is reserved for urgent calls: PING, LEASE */
	uint64_t boot; /* of the server; 0: never ready */
	struct offset clock; /* of the server since that boot */
	uint32_t backoff_ms, jitter;
	bool down; /* the loss was logged */
	uint64_t down_since;
	int reason; /* why it is down */
	int refused; /* status that was logged; 0 after a connect */
	atomic_bool evicted; /* the session was evicted; read by any thread */

	uint64_t heard; /* time of the last answer */
	uint32_t request_max; /* of this connection */
	unsigned int granted; /* slots of the server, on this connection */
	unsigned int credits; /* slots to use now */
	unsigned int nslots; /* allocated at the first contact */
	unsigned int nrecv; /* receives: one per slot, and for other messages */
	unsigned int owed; /* changes that were given up and not answered */
	bool unsure; /* for BYE: see rpc_call.h */
	bool carries; /* the server may send CARRY on this connection */
	int shortage; /* rpc_peer_shortage() */
	unsigned int parts; /* parts that we move for it, of ctx->parts */
	uint64_t free; /* bit i: slot i is free */
	struct peer_slot *slots;
	/* nslots messages to send, nrecv to receive, HELLO or BYE */
	uint8_t *block;
	struct rail_mem mem; /* of block */
	uint32_t lkey; /* of block, on this connection */

	struct peer_apart apart;
	struct addr at; /* address of the server, on this connection */
	struct peer_fast fast;
	struct peer_reach reach;
	struct silence silence;
	TAILQ_HEAD(peer_calls, rpc_call)
	queue[WIRE_WAITS]; /* calls that wait for a slot, by kind */
	unsigned int next_kind; /* this kind gets a slot first */
	struct peer_calls failing; /* calls that wait for drain */
};

/*
 * choose.c: the rails to try for one connection, best first, and on each the addresses of the
 * host.  choose_next() returns the next rail and its address, or -1.  choose_failed(): this one
 * failed with status.  choose_final(): the server has answered, so other rails would not help.
 */
void choose_begin(struct rpc_peer *peer);
int choose_next(struct rpc_peer *peer, struct addr *addr);
bool choose_last(const struct rpc_peer *peer);
void choose_failed(struct rpc_peer *peer, int status);
void choose_final(struct rpc_peer *peer);
/* READY on this rail.  Logs the rail if it is not the one logged before. */
void choose_ready(struct rpc_peer *peer);
/*
 * READY: the delay until a better rail is tried, in ms; 0: no better one is known to work.
 */
unsigned int choose_return_ms(struct rpc_peer *peer);
/* Starts that attempt. */
void choose_return(struct rpc_peer *peer);

/*
 * call_shown.c.  Appends the capabilities that the server needs to the message in the slot.
 * Replaces those of an earlier attempt.
 */
void call_show(struct rpc_peer *peer, unsigned int i);
/* Removes them. */
void call_hide(struct rpc_peer *peer, unsigned int i);
/*
 * Returns true if the reply asks for capabilities: the request was sent again, as a new one.
 */
bool call_asked(struct rpc_peer *peer, unsigned int i,
		const struct wire_msg *reply);

/* call_carry.c: the parts in progress ended with the connection. */
void call_parts_lost(struct rpc_peer *peer);

/* peer.c */
void peer_set_state(struct rpc_peer *peer, enum peer_state state);
void peer_connect(struct rpc_peer *peer);
/* lookup.c: peer->hosts is set, or status is -errno: its addresses are unknown. */
void peer_named(struct rpc_peer *peer, int status);
/* Closes the connection and makes another one immediately.  No call is lost. */
void peer_again(struct rpc_peer *peer);
/* READY: sets the timer to return to a better transport. */
void peer_plan_return(struct rpc_peer *peer);
/* The connection is lost: closes it and retries later. */
void peer_lost(struct link *link, int status);
/* peer_recv.c: a receive is complete. */
void peer_received(struct rpc_peer *peer, const struct tp_wc *wc);
/* A reply came: learns the server's clock from its stamp. */
void peer_stamped(struct rpc_peer *peer, const struct wire_hdr *hdr);
/* Describes the status of a connect, for messages. */
const char *peer_flaw(int status);
/* The server refuses us: ends all calls with status. */
void peer_refused(struct rpc_peer *peer, int status, const char *why);
/* The server violates the protocol: logs what, and fails the link. */
void peer_protocol_error(struct rpc_peer *peer, const char *what);

/* hello.c */
struct hello_private {
	struct wire_connect wc;
	struct wire_hail hail;
};
/* Returns the bytes to send, or -errno. */
int hello_private(struct rpc_peer *peer, struct hello_private *priv);
/* Posts the receives and sends HELLO, or fails the link. */
void hello_established(struct rpc_peer *peer, const struct tp_event *ev);
void hello_rejected(struct rpc_peer *peer, const struct tp_event *ev);
void hello_reply(struct rpc_peer *peer, const struct wire_msg *msg);
/* Best effort. */
void hello_bye(struct rpc_peer *peer);
/* The server accepts calls. */
void hello_ready(struct rpc_peer *peer, const struct wire_hdr *hdr,
		 const struct wire_hello_rep *rep);
/* Receive buffers, by number: nrecv of the peer, then those of the second endpoint. */
int peer_post_recv(struct rpc_peer *peer, unsigned int index);
void *peer_recv_buf(const struct rpc_peer *peer, unsigned int index);

/*
 * peer_apart.c.  peer_apart_wanted(): whether HELLO asks for a second endpoint.
 * peer_apart_join(): the server has sent a token.  hello_ready() follows, with a second endpoint,
 * or without one after a line in the log.
 */
void peer_apart_init(struct rpc_peer *peer);
bool peer_apart_wanted(const struct rpc_peer *peer);
void peer_apart_join(struct rpc_peer *peer, const struct wire_msg *hello);
void peer_apart_close(struct rpc_peer *peer);
void peer_apart_fini(struct rpc_peer *peer);
/* The server answers.  If there is no second endpoint, that attempt counts as failed. */
void peer_apart_heard(struct rpc_peer *peer);
/* Whether the peer still has the endpoint. */
bool peer_apart_or_link(const struct rpc_peer *peer, const struct tp_ep *ep);
/* Receive buffers of the second endpoint; index counts from 0 here. */
size_t peer_apart_recv_len(void);
void *peer_apart_recv_buf(const struct rpc_peer *peer, unsigned int index);
int peer_apart_post_recv(struct rpc_peer *peer, unsigned int index);

/*
 * peer_proof.c: for a peer that has a prover.  peer_proof_begin() fills in the hail of a new
 * connection.  peer_proof_agreed(): whether the server also proves itself; false: it was refused.
 */
void peer_proof_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr);
int peer_proof_begin(struct rpc_peer *peer, struct wire_hail *hail);
bool peer_proof_agreed(struct rpc_peer *peer, const struct tp_event *ev);
/*
 * Puts the ticket, if there is one, and leaves room for the proof.  peer_proof_put() puts the
 * proof at the end of the HELLO, which has len bytes at hdr.  peer_proof_flaw() returns what is
 * wrong with the server's answer, or NULL.  peer_proof_refuse() refuses the server for that, and
 * counts it.
 */
int peer_proof_room(struct rpc_peer *peer, struct wire_out *out);
int peer_proof_put(struct rpc_peer *peer, struct wire_hdr *hdr, size_t len);
const char *peer_proof_flaw(struct rpc_peer *peer, const struct wire_msg *msg,
			    char *buf, size_t len);
void peer_proof_refuse(struct rpc_peer *peer, const char *flaw);

/* call.c */
void call_init(struct rpc_peer *peer);
/* For struct ctx_calls; also call_join() of join.c. */
void call_passed(struct rpc_due *due);
void call_join(struct rpc_ctx *ctx);
/* The server or an adapter moves all data, so this end has no work meanwhile. */
bool call_is_idle(const struct link *link);
/* READY: sends the outstanding requests again, then the waiting ones. */
void call_replay(struct rpc_peer *peer, bool resumed);
/* The request was sent, or will be with the next connection. */
bool call_has_slot(const struct rpc_call *call);
/* Ends the call. */
void call_done(struct rpc_call *call, int status);
/* Frees a slot.  Returns its call, or NULL: it was a zombie. */
struct rpc_call *call_leave_slot(struct rpc_peer *peer, unsigned int slot);
/*
 * call_reply.c.  call_reply() takes a checked reply, call_whole() an immediate in place of one.
 */
void call_reply(struct rpc_peer *peer, const struct wire_msg *msg);
void call_whole(struct rpc_peer *peer, uint32_t imm);
/*
 * call_send.c.  call_area() returns the area that holds piece, or NULL.  It starts the search at
 * *at, usually the area of the previous piece.  call_buf(): the message of a slot.  call_post()
 * sends it.  call_sent(): its data was sent.
 */
struct rail_mem *call_area(const struct peer_slot *s, unsigned int *at,
			   const struct wire_mem *piece);
struct wire_hdr *call_buf(const struct rpc_peer *peer, unsigned int slot);
void call_post(struct rpc_peer *peer, unsigned int slot, unsigned int flags);
void call_sent(struct rpc_peer *peer, uint64_t wr_id);
/*
 * The call cannot be sent, or cannot be sent again after the first time.  It ends with status in
 * the next round.
 */
void call_drop(struct rpc_peer *peer, unsigned int slot, bool sent, int status);
/* Gives free slots to waiting calls. */
void call_pump(struct rpc_peer *peer);
bool call_outstanding(const struct rpc_peer *peer);
/*
 * Returns true if the server answered that the request would have to wait (WIRE_FT_WAITS).  The
 * call then waits for a slot for such calls, and is sent again as one that may wait.
 */
bool call_would_wait(struct rpc_peer *peer, unsigned int slot,
		     const struct wire_msg *reply);
/* Ends all calls with status, in the next round.  call_drain(): now. */
void call_fail_all(struct rpc_peer *peer, int status);
/* Ends the calls whose memory is not accessible.  Returns true if there were any. */
bool call_fail_faulty(struct rpc_peer *peer);
void call_drain(struct rpc_peer *peer);

#endif
