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
 * READY over a worse transport than before, it goes to BACKOFF now and then, for no time, to try
 * the better one.
 *
 * and from every state to CLOSED; and to IDLE, where the program has closed the
 * descriptors of the transport (-EBADFD), so that nothing more comes.  A peer that was READY once reconnects
 * without being asked, so that its session stays alive.
 */
#ifndef PEER_INT_H
#define PEER_INT_H

#include "common/comm/call/call_way_int.h"
#include "common/comm/call/offset_int.h"
#include "common/comm/call/peer_seal_int.h"
#include "common/comm/call/reach_int.h"
#include "common/comm/call/share_int.h"
#include "common/comm/call/silence_int.h"

#define PEER_SLOTS_MAX 64u /* bits in rpc_peer.free */
#define PEER_RECVS_MAX (PEER_SLOTS_MAX + 1 + WIRE_CARRY_MAX)
#define PEER_MSG_MAX (sizeof(struct wire_hdr) + WIRE_BODY_MAX)
#define PEER_SENDS_MAX 256u
#define PEER_HELLO_MS 5000u /* bound on connect, and on HELLO */
#define PEER_TRY_MS 2000u /* bound on connect, if another rail is left */
#define PEER_RETURN_MS 200u /* likewise, and the other one has just worked */
#define PEER_BACKOFF_MIN_MS 10u
#define PEER_BACKOFF_MAX_MS 1000u

enum peer_state {
	PEER_IDLE, /* no connection and none wanted */
	PEER_CONNECTING, /* tp_connect() under way */
	PEER_HELLO, /* HELLO sent */
	PEER_READY, /* calls go out */
	PEER_BACKOFF, /* waits before the next CONNECTING */
	PEER_CLOSED, /* rpc_peer_close(); freed after the round */
};

/* How the fabric of a connection was chosen. */
struct choice {
	unsigned int next; /* rail to look at */
	unsigned int host; /* its addresses up to here were tried */
	int rail; /* being tried or in use; -1: none */
	bool final;
	unsigned int mute[RAILS_MAX]; /* times it connected and then failed */
	char why[256]; /* the better ones that did not do */
	char reason[256]; /* for the one in use */
	int said; /* the rail that was logged, or -1 */
	int best; /* rank of the best that is known to do, or -1 */
	bool barred; /* not believed over local */
	bool returning; /* the connection was left for a better one */
	unsigned int return_ms; /* the last wait before that */
};

/*
 * peer_apart.c: the second endpoint of the connection, for bulk data, made before the
 * first call goes out; what is behind that data comes over it, too.
 */
struct peer_apart {
	struct link link;
	bool joining; /* HELLO was answered, calls wait for the second endpoint */
	bool alone; /* there is none, though the server answers? */
	unsigned int failed; /* times that this was so, in a row */
	unsigned int nrecv;
	uint8_t *block; /* of so many messages; NULL: never asked for */
	struct rail_mem mem; /* of block */
	uint32_t lkey; /* this connection */
	struct wire_hdr hdr; /* of the answer to HELLO */
	struct wire_hello_rep rep;
};

/* A request in flight.  Its message lies in the slot's part of the block. */
struct peer_slot {
	struct rpc_call *call; /* NULL: free, or a zombie: its reply may come */
	enum wire_wait kind; /* of its call */
	uint32_t user; /* likewise */
	uint64_t seq;
	uint32_t msg_len;
	unsigned int ndata;
	struct rail_mem *const *area;
	unsigned int nareas, pieces_at, npieces;
	bool sending; /* the transport may still read data */
	bool anew; /* it goes out with WIRE_F_ANEW */
	bool terse; /* it went out with WIRE_F_WHOLE */
	struct peer_shown {
		uint32_t len; /* of msg_len: capabilities at its end */
		unsigned int asked; /* times that the server wanted them */
	} shown;
	unsigned int carrying; /* parts that we move: call_carry.c */
	/* call_way.c */
	uint8_t *msg; /* in the block */
	unsigned int buffer; /* 1 + number; 0: none */
	bool copied; /* a write's payload is in our buffer */
	bool bounced; /* a read's comes there; what the message named: */
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
	struct rpc_timer timer; /* HELLO: patience; BACKOFF: its end */
	struct ctx_task drain; /* ends the calls in failing */
	struct ctx_task gone;

	struct addr addr;
	struct hosts hosts; /* what its host stands for */
	bool naming; /* waits for that: lookup.c */
	TAILQ_ENTRY(rpc_peer) naming_link;
	struct choice choice; /* of the fabric */
	unsigned int turn; /* which of several devices comes first: choose.c */
	char name[ADDR_STRLEN + 72];
	const char *fix; /* see rpc_call.h */
	enum wire_role role;
	uint64_t fsid, session;
	struct rpc_cred cred;
	uint32_t features; /* ours */
	char job[WIRE_JOB_MAX]; /* then zeros; empty: none */
	bool names_job; /* on this connection: the server wants to know */
	_Atomic uint32_t
		agreed; /* of both ends of this connection, or of the last one */
	const struct rpc_shower *shower; /* or NULL: call_shown.c */
	uint32_t index; /* for that */
	const struct prover *prover; /* or NULL: peer_proof.c */
	struct handshake shake; /* of this connection */
	bool proving; /* on this connection */
	struct peer_seal seal;
	void (*fresh)(void *arg, struct rpc_peer *peer);
	void (*met)(void *arg, struct rpc_peer *peer, uint64_t boot);
	void (*lost)(void *arg, int status);
	void *arg;

	uint32_t epoch; /* connections tried */
	bool impatient; /* see rpc_call.h */
	bool keeps_slot; /* one is for urgent calls: the PING, LEASE */
	uint64_t boot; /* of the server, 0: never ready */
	struct offset clock; /* of that life of the server */
	uint32_t backoff_ms, jitter;
	bool down; /* the loss was logged */
	uint64_t down_since;
	int reason; /* why it is down */
	int refused; /* why, as it was said; 0 after a connect */
	atomic_bool evicted; /* the session was: any thread */

	uint64_t heard; /* when an answer came last */
	uint32_t request_max; /* of this connection */
	unsigned int granted; /* slots the server has, this connection */
	unsigned int credits; /* slots to use now */
	unsigned int nslots; /* allocated at the first contact */
	unsigned int nrecv; /* receives: a reply a slot, and what else comes */
	unsigned int owed; /* writes that were given up and not answered */
	bool unsure; /* for BYE: see rpc_call.h */
	bool carries; /* the server may send CARRY, this connection */
	int shortage; /* rpc_peer_shortage() */
	unsigned int parts; /* that we move for it, of ctx->parts */
	uint64_t free; /* bit i: slot i is free */
	struct peer_slot *slots;
	uint8_t *block; /* nslots messages out, nrecv in, HELLO and BYE */
	struct rail_mem mem; /* of block */
	uint32_t lkey; /* of block, this connection */

	struct peer_apart apart;
	struct addr at; /* the server's, of this connection */
	struct peer_fast fast;
	struct peer_reach reach;
	struct silence silence;
	TAILQ_HEAD(peer_calls, rpc_call)
	queue[WIRE_WAITS]; /* wait for a slot, by kind */
	unsigned int next_kind; /* gets a slot first */
	struct peer_calls failing; /* wait for drain */
};

/*
 * choose.c: the rails to try for one connection, best first, and on each the
 * addresses of the host.  choose_next() answers the next rail and its address,
 * or -1.  choose_failed(): this one did not do, why.
 * choose_final(): the server has answered, other rails would change nothing.
 */
void choose_begin(struct rpc_peer *peer);
int choose_next(struct rpc_peer *peer, struct addr *addr);
bool choose_last(const struct rpc_peer *peer);
void choose_failed(struct rpc_peer *peer, int status);
void choose_final(struct rpc_peer *peer);
/* Ready on this rail: says so, if it is another one than before. */
void choose_ready(struct rpc_peer *peer);
/* READY: when to try a better rail, ms from now; 0: none is known to do. */
unsigned int choose_return_ms(struct rpc_peer *peer);
/* ... and that is now. */
void choose_return(struct rpc_peer *peer);

/*
 * call_shown.c.  Puts behind the message in the slot what has to be shown with it; what
 * was there from before goes.
 */
void call_show(struct rpc_peer *peer, unsigned int i);
/* Takes that away. */
void call_hide(struct rpc_peer *peer, unsigned int i);
/* The answer asks for it: true, the request goes out again, as another one. */
bool call_asked(struct rpc_peer *peer, unsigned int i,
		const struct wire_msg *reply);

/* call_carry.c: what was under way ended with the connection. */
void call_parts_lost(struct rpc_peer *peer);

/* peer.c */
void peer_set_state(struct rpc_peer *peer, enum peer_state state);
void peer_connect(struct rpc_peer *peer);
/* lookup.c: peer->hosts is set, or -errno: what the host is cannot be known. */
void peer_named(struct rpc_peer *peer, int status);
/* Leaves the connection and makes another one at once; nothing is lost. */
void peer_again(struct rpc_peer *peer);
/* READY: sees to it that a better transport is used again. */
void peer_plan_return(struct rpc_peer *peer);
/* The connection is lost: close it and try again later. */
void peer_lost(struct link *link, int status);
/* peer_recv.c: a receive is complete. */
void peer_received(struct rpc_peer *peer, const struct tp_wc *wc);
/* A reply came: what its stamp says of the server's clock. */
void peer_stamped(struct rpc_peer *peer, const struct wire_hdr *hdr);
/* Of a connect, for messages. */
const char *peer_flaw(int status);
/* The server refuses us: end all calls with status. */
void peer_refused(struct rpc_peer *peer, int status, const char *why);
/* The server breaks the protocol. */
void peer_protocol_error(struct rpc_peer *peer, const char *what);

/* hello.c */
struct hello_private {
	struct wire_connect wc;
	struct wire_hail hail;
};
/* The bytes that go out, or -errno. */
int hello_private(struct rpc_peer *peer, struct hello_private *priv);
/* Receives posted and HELLO sent, or the link failed. */
void hello_established(struct rpc_peer *peer, const struct tp_event *ev);
void hello_rejected(struct rpc_peer *peer, const struct tp_event *ev);
void hello_reply(struct rpc_peer *peer, const struct wire_msg *msg);
/* Best effort. */
void hello_bye(struct rpc_peer *peer);
/* The server takes calls. */
void hello_ready(struct rpc_peer *peer, const struct wire_hdr *hdr,
		 const struct wire_hello_rep *rep);
/*
 * Receive buffers, by number: nrecv of the peer's, then those of the second endpoint.
 */
int peer_post_recv(struct rpc_peer *peer, unsigned int index);
void *peer_recv_buf(const struct rpc_peer *peer, unsigned int index);

/*
 * peer_apart.c.  Whether HELLO asks for it.  The server has given a token: hello_ready()
 * follows, with a second endpoint or, after a line in the log, without.
 */
void peer_apart_init(struct rpc_peer *peer);
bool peer_apart_wanted(const struct rpc_peer *peer);
void peer_apart_join(struct rpc_peer *peer, const struct wire_msg *hello);
void peer_apart_close(struct rpc_peer *peer);
void peer_apart_fini(struct rpc_peer *peer);
/* The server answers: that there is no second endpoint counts. */
void peer_apart_heard(struct rpc_peer *peer);
/* Whether the peer still has the endpoint. */
bool peer_apart_or_link(const struct rpc_peer *peer, const struct tp_ep *ep);
/* The receive with that number, counted from 0 here. */
size_t peer_apart_recv_len(void);
void *peer_apart_recv_buf(const struct rpc_peer *peer, unsigned int index);
int peer_apart_post_recv(struct rpc_peer *peer, unsigned int index);

/*
 * peer_proof.c: where the peer has a prover.  The hail of a new connection; whether the
 * server proves itself, too, or it is refused; the proof at the end of the HELLO that len
 * bytes at hdr are; what is wrong with the server's answer, or NULL; for that it is
 * refused, and counted.
 */
void peer_proof_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr);
int peer_proof_begin(struct rpc_peer *peer, struct wire_hail *hail);
bool peer_proof_agreed(struct rpc_peer *peer, const struct tp_event *ev);
/* Before it: the ticket, if there is one, and room for the proof. */
int peer_proof_room(struct rpc_peer *peer, struct wire_out *out);
int peer_proof_put(struct rpc_peer *peer, struct wire_hdr *hdr, size_t len);
const char *peer_proof_flaw(struct rpc_peer *peer, const struct wire_msg *msg,
			    char *buf, size_t len);
void peer_proof_refuse(struct rpc_peer *peer, const char *flaw);

/* call.c */
void call_init(struct rpc_peer *peer);
/* For struct ctx_calls; that of join.c as well. */
void call_passed(struct rpc_due *due);
void call_join(struct rpc_ctx *ctx);
/* The server or an adapter moves it all: nothing for us to do meanwhile. */
bool call_is_idle(const struct link *link);
/* READY: send again what was outstanding, then what waits. */
void call_replay(struct rpc_peer *peer, bool resumed);
/* It was sent, or will be with the next connection. */
bool call_has_slot(const struct rpc_call *call);
/* Ends the call. */
void call_done(struct rpc_call *call, int status);
/* Frees a slot; what it had, or NULL: a zombie. */
struct rpc_call *call_leave_slot(struct rpc_peer *peer, unsigned int slot);
/* call_reply.c: a checked reply; an immediate in the place of one. */
void call_reply(struct rpc_peer *peer, const struct wire_msg *msg);
void call_whole(struct rpc_peer *peer, uint32_t imm);
/*
 * call_send.c: the slot's message; sends it; its data left; the area that
 * holds a piece, mostly that of the piece before (*at), or NULL.
 */
struct rail_mem *call_area(const struct peer_slot *s, unsigned int *at,
			   const struct wire_mem *piece);
struct wire_hdr *call_buf(const struct rpc_peer *peer, unsigned int slot);
void call_post(struct rpc_peer *peer, unsigned int slot, unsigned int flags);
void call_sent(struct rpc_peer *peer, uint64_t wr_id);
/*
 * The call cannot be sent, or not again after it was sent once: it ends with
 * status, from the next round.
 */
void call_drop(struct rpc_peer *peer, unsigned int slot, bool sent, int status);
/* Gives free slots to waiting calls. */
void call_pump(struct rpc_peer *peer);
bool call_outstanding(const struct rpc_peer *peer);
/*
 * The answer is that it would have to wait (WIRE_FT_WAITS): true, it is sent again, as one
 * that may, when there is a slot for such.
 */
bool call_would_wait(struct rpc_peer *peer, unsigned int slot,
		     const struct wire_msg *reply);
/* All calls end with status, from the next round; or now. */
void call_fail_all(struct rpc_peer *peer, int status);
/* Those whose memory is not there.  True: there were some. */
bool call_fail_faulty(struct rpc_peer *peer);
void call_drain(struct rpc_peer *peer);

#endif
