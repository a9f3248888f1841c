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
 * If a READY peer uses a worse transport than before, it sometimes passes through BACKOFF without
 * a delay to try the better one.
 *
 * rpc_peer_close() changes every state to CLOSED.  If the program has closed the descriptors of the
 * transport (-EBADFD), nothing can arrive, and every state changes to IDLE.  A peer that was READY
 * once reconnects without a call, so that its session stays alive.
 *
 * Files use one another only downwards:
 *
 *   peer_open.c  peer_scout.c           asks the other managers while the leader is silent
 *   peer.c                              the states; events of the connection
 *   hello.c  part_transfer.c  peer_requests.c (PING, FAST)  call_reply.c
 *   call.c                              calls, from the start to the end; slots
 *   call_send.c  slot_quota.c           one request; which calls may have a slot
 *   payload.c  silence.c                the data of a request; missing answers
 *   peer_leaders.c  leader_search.c     which of several managers to try
 *   rail_choice.c  peer_auth.c  bulk_link.c  rma.c  peer_info.c
 */
#ifndef PEER_INT_H
#define PEER_INT_H

#include "common/comm/call/clock_offset.h"
#include "common/comm/call/host_lookup.h"
#include "common/comm/call/leader_search.h"
#include "common/comm/call/payload_int.h"
#include "common/comm/call/rma_int.h"
#include "common/comm/call/silence_int.h"

#define PEER_SLOTS_MAX 64u /* number of bits in rpc_peer.free */
#define PEER_RECVS_MAX (PEER_SLOTS_MAX + 1 + WIRE_CARRY_MAX)
#define PEER_MSG_MAX (sizeof(struct wire_hdr) + WIRE_BODY_MAX)
#define PEER_SENDS_MAX 256u
/* limit for a connect, and for the reply to HELLO */
#define PEER_HELLO_MS 5000u
/* limit for a connect if another rail or address is left */
#define PEER_TRY_MS 2000u
/* limit for a connect that is to return to a better rail */
#define PEER_RETURN_MS 200u
#define PEER_BACKOFF_MIN_MS 10u
#define PEER_BACKOFF_MAX_MS 1000u
#define PEER_SEARCH_PAUSE_MS                                                   \
	250u /* limit for the pause between rounds of leader_search.h */

enum peer_state {
	PEER_IDLE, /* no connection, and none is needed */
	PEER_CONNECTING, /* tp_connect() in progress */
	PEER_HELLO, /* HELLO sent */
	PEER_READY, /* calls are sent */
	PEER_BACKOFF, /* waits before the next attempt to connect */
	PEER_CLOSED, /* after rpc_peer_close(); freed after the round */
};

/* How the rail of a connection was chosen. */
struct rail_choice {
	unsigned int next; /* the rail to check next */
	unsigned int host; /* how many addresses of that rail were tried */
	int rail; /* the rail that is being tried or in use; -1 if none */
	bool final; /* other rails would not help */
	/* consecutive connects without a reply to HELLO, for each rail */
	unsigned int silent[RAILS_MAX];
	char why[256]; /* text: the better rails, and why they failed */
	char reason[256]; /* text: why the rail in use was chosen */
	int logged; /* the rail that was logged last, or -1 */
	int best; /* rank of the best rail known to work, or -1 */
	bool local_refused; /* this choice ignores WIRE_FT_LOCAL */
	/* the connection was closed to return to a better rail */
	bool returning;
	/* the delay before the last return to a better rail */
	unsigned int return_ms;
};

/*
 * The second endpoint of the connection, for bulk data and for the replies after such data.  The
 * peer connects it before it sends the first call.
 */
struct bulk_link {
	struct rpc_link link;
	/* HELLO was answered, and calls wait for the second endpoint */
	bool joining;
	/* there is no second endpoint; counted once the server answers */
	bool missing;
	/* consecutive connections without a second endpoint */
	unsigned int failures;
	unsigned int nrecv;
	uint8_t *block; /* memory of nrecv messages; NULL if never needed */
	struct rail_mem mem; /* registration of block */
	uint32_t lkey; /* lkey of block, on this connection */
};

/* How the connection is sealed: tp_seal.h. */
struct peer_seal {
	enum seal_mode least; /* minimum for connections that can be sealed */
	/* fields of this connection */
	bool agreed; /* HELLO contains our key */
	enum seal_mode mode; /* the mode of the connection, once known */
	/* not NULL while HELLO is in flight */
	struct seal_agreement *agreement;
};

/* Asks the other managers which of them leads, while the present one is silent: peer_scout.c. */
struct peer_scout {
	/* a peer with a session of its own; NULL if not needed now */
	struct rpc_peer *peer;
	/* time until the next round, or until the end of this one */
	struct rpc_timer timer;
	struct rpc_call ping; /* the PING of the last round */
	uint64_t msg[sizeof(struct wire_hdr) / 8];
};

/* A request in flight. Its message is in the slot's part of rpc_peer.block. */
struct peer_slot {
	/* NULL if the slot is free or a zombie, whose reply may still arrive */
	struct rpc_call *call;
	enum wire_wait kind; /* kind of the call */
	uint32_t user; /* user of the call */
	uint64_t seq;
	uint32_t msg_len;
	unsigned int ndata;
	struct rail_mem *const *area;
	unsigned int nareas, pieces_at, npieces;
	bool sending; /* the transport may still read data */
	bool state_lost; /* the message is sent with WIRE_F_STATE_LOST */
	bool reply_optional; /* the message was sent with WIRE_F_WHOLE */
	/* length of the capabilities at the end of msg, part of msg_len */
	uint32_t caps_len;
	/* how often the server asked for capabilities */
	unsigned int caps_asked;
	/* number of parts of the data that we move: part_transfer.h */
	unsigned int transfers;
	/* payload_int.h */
	uint8_t *msg; /* in the block */
	/* 1 + the number of its Fast RDMA buffer; 0 if it has none */
	unsigned int buffer;
	bool copied; /* the payload of the write is in our buffer */
	/* the read delivers to our buffer; the message had these addresses before */
	bool bounced;
	le64 caller_addr[PAYLOAD_BOUNCE_PIECES];
	struct iovec data[RPC_DATA_MAX];
};

static inline struct wire_mem *slot_pieces(const struct peer_slot *s)
{
	return (struct wire_mem *)(void *)(s->msg + s->pieces_at);
}

struct rpc_peer {
	struct rpc_link link;
	enum peer_state state;
	/* in HELLO: the time limit; in BACKOFF: its end; in READY: the return to a better rail */
	struct rpc_timer timer;
	struct ctx_task drain; /* ends the calls in failing */
	struct ctx_task gone;

	struct addr addr;
	struct leader_search *leaders; /* NULL if addr never changes */
	struct peer_scout scout; /* used only with `leaders` */
	/* when the attempt with the chosen manager began, and when it ends, or CLOCK_NEVER */
	uint64_t try_began, try_until;
	struct host_addrs hosts; /* the addresses of addr.host */
	struct host_query query; /* the look-up of these addresses */
	struct rail_choice choice; /* the choice of the rail */
	unsigned int
		turn; /* which of several devices comes first: rail_choice.c */
	char name[ADDR_STRLEN + 96];
	const char *fix; /* see rpc_call.h */
	enum wire_role role;
	uint64_t fsid, session;
	struct rpc_cred cred;
	uint32_t features; /* our features */
	/* padded with zeros; empty if there is no job */
	char job[WIRE_JOB_MAX];
	bool names_job; /* on this connection the server accepts `job` */
	_Atomic uint32_t agreed; /* features of both ends: rpc_peer_features() */
	const struct rpc_caps_source *caps; /* may be NULL; see call_send.c */
	uint32_t index; /* number of the server, for caps */
	const struct prover *prover; /* may be NULL; see peer_auth.c */
	struct handshake shake; /* authentication on this connection */
	bool proving; /* we prove ourselves on this connection */
	struct peer_seal seal;
	void (*on_new_session)(void *arg, struct rpc_peer *peer);
	void (*on_new_process)(void *arg, struct rpc_peer *peer, uint64_t boot);
	void (*lost)(void *arg, int status);
	void *arg;

	uint32_t epoch; /* number of connects so far */
	bool impatient; /* see rpc_call.h */
	unsigned int more_rounds,
		repeated; /* rounds that may follow, and rounds that did */
	/* one slot is reserved for urgent calls: PING, LEASE */
	bool keeps_slot;
	uint64_t boot; /* the server's process; 0 if never READY */
	struct clock_offset clock; /* clock of the server with that boot */
	uint32_t backoff_ms, jitter;
	bool down; /* the loss was logged */
	uint64_t down_since;
	int reason; /* why the peer is down */
	/* text that names the manager with an unknown host; may be empty */
	char unknown_host[192];
	int refused; /* the refusal that was logged last; 0 after a connect */
	atomic_bool evicted; /* the session was evicted; read by any thread */
	atomic_bool recorded; /* see rpc_peer_set_recorded() */

	uint64_t last_reply; /* time of the last answer */
	uint32_t request_max; /* largest request, on this connection */
	/* slots that the server has granted on this connection */
	unsigned int granted;
	unsigned int credits; /* slots to use now */
	unsigned int nslots; /* slots allocated at the first contact */
	/* number of receives: one per slot, and some for other messages */
	unsigned int nrecv;
	unsigned int
		unanswered; /* changes that were given up without an answer */
	/* BYE says that requests may be executed: see rpc_call.h */
	bool unclean;
	bool carries; /* the server may send CARRY on this connection */
	int shortage; /* see rpc_peer_shortage() */
	/* number of parts that we move for this server, part of ctx->parts */
	unsigned int transfers;
	uint64_t free; /* bit i is set if slot i is free */
	struct peer_slot *slots;
	/* nslots messages to send, nrecv messages to receive, and HELLO or BYE */
	uint8_t *block;
	struct rail_mem mem; /* registration of block */
	uint32_t lkey; /* lkey of block, on this connection */
	/* the answer to HELLO on this connection */
	struct {
		le64 clock;
		struct wire_hello_rep rep;
	} hello;

	struct bulk_link bulk;
	struct addr at; /* address of the server, on this connection */
	struct peer_fast fast;
	struct peer_rma rma;
	struct silence silence;
	TAILQ_HEAD(peer_calls, rpc_call)
	queue[WIRE_WAITS]; /* calls that wait for a slot, by kind */
	unsigned int next_kind; /* the kind of call that gets a slot first */
	struct peer_calls failing; /* calls that wait for drain */
};

/* The message of a slot. */
static inline struct wire_hdr *slot_msg(const struct rpc_peer *peer,
					unsigned int slot)
{
	return (struct wire_hdr *)(peer->block + slot * PEER_MSG_MAX);
}

/* ---- peer.c ---- */

/* As rpc_peer_open() and rpc_peer_close(), for a peer without a scout. */
int peer_open(struct rpc_ctx *ctx, const struct rpc_peer_attr *attr,
	      struct rpc_peer **peer);
void peer_close(struct rpc_peer *peer, bool bye);

/* Returns a random time between half of ms and all of it, so that clients do not act at once. */
uint32_t peer_jitter(struct rpc_peer *peer, uint32_t ms);

/* ---- peer_scout.c ---- */

void peer_scout_init(struct rpc_peer *peer);
/* Ends a round that is in progress. */
void peer_scout_end(struct rpc_peer *peer);

/* ---- peer_info.c ---- */

/* Describes the status of a connect, for messages. */
const char *peer_error_text(int status);
/* Called when the connection is lost or an attempt failed: logs the begin of an outage. */
void peer_log_loss(struct rpc_peer *peer, int status);
/* Called when the server violates the protocol: logs what it did, and fails the link. */
void peer_protocol_error(struct rpc_peer *peer, const char *what);

/*
 * ---- rail_choice.c: the order in which a connect tries the rails (best first), and on each rail
 * the addresses of the server's host ----
 */

void rail_choice_begin(struct rpc_peer *peer);
/* Called when the peer has another address, for which earlier connections do not count. */
void rail_choice_forget(struct rpc_peer *peer);
/* Returns the next rail and its address, or -1. */
int rail_choice_next(struct rpc_peer *peer, struct addr *addr);
bool rail_choice_is_last(const struct rpc_peer *peer);
/* Called when the connect over the present rail failed with status. */
void rail_choice_failed(struct rpc_peer *peer, int status);
/* Called when the server has answered, so other rails would not help. */
void rail_choice_stop(struct rpc_peer *peer);
/* Called when the peer is READY: logs the rail, unless it was the last one logged. */
void rail_choice_ready(struct rpc_peer *peer);
/* Returns the ms after which a READY peer tries a better rail; 0 if none is known to work. */
unsigned int rail_choice_return_ms(struct rpc_peer *peer);
/* Starts the attempt to return to the better rail. */
void rail_choice_return(struct rpc_peer *peer);

/*
 * ---- peer_leaders.c: several managers, of which one leads ----
 *
 * Without peer->leaders, these change nothing, except peer_leaders_note_unknown().
 */

/* Also sets the address and the name of the peer. Returns 0 or -ENOMEM. */
int peer_leaders_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr);
/* Begins an attempt: sets peer->addr to the chosen manager, and the timer if time is limited. */
void peer_leaders_choose(struct rpc_peer *peer);
/* Returns whether there is another manager to try. */
bool peer_leaders_have_choice(const struct rpc_peer *peer);
/* Returns the limit of a connect over the chosen rail. */
unsigned int peer_attempt_ms(const struct rpc_peer *peer);
/* Returns the longest pause between rounds. */
uint32_t peer_leaders_pause_ms(const struct rpc_peer *peer);
/*
 * Called when the chosen manager failed with *status before it accepted us. is_final means that it
 * rejected us. Returns true if the peer is to try another manager, which is chosen now. Otherwise
 * the round has ended, and *status is set to its result.
 */
bool peer_leaders_is_next(struct rpc_peer *peer, int *status, bool is_final);
/*
 * Called when the resolver found no address for the name host, for the reason why.  Logs an
 * error.  For one of several managers it is only information, because another one may lead.
 */
void peer_leaders_note_unknown(struct rpc_peer *peer, const char *host,
			       const char *why);
/* Called when a round ended with status: returns whether an impatient peer makes another round. */
bool peer_leaders_may_repeat(struct rpc_peer *peer, int status);
/* Ends a round without a result. */
void peer_leaders_stop(struct rpc_peer *peer);
/* Called when the server accepted us. is_new means that it is another process than before. */
void peer_leaders_found(struct rpc_peer *peer, bool is_new);

/*
 * ---- bulk_link.c: a second endpoint to the server, for bulk data ----
 *
 * The peer uses a second endpoint if the device has a separate network class (a service level) for
 * bulk data.  If one of the two endpoints fails, the whole connection ends.
 */

void bulk_link_init(struct rpc_peer *peer, const struct link_ops *ops);
/* Returns whether HELLO asks the server for a second endpoint. */
bool bulk_link_is_wanted(const struct rpc_peer *peer);
/*
 * bulk_link_join() connects the second endpoint with the token that the server has sent.
 * bulk_link_event() and bulk_link_lost() handle its events.  All three return true as soon as the
 * peer may send calls: the endpoint is connected, or could not be, which is logged.  They return
 * false while it is connecting, and if they failed the link.
 */
bool bulk_link_join(struct rpc_peer *peer, const struct wire_apart *token);
bool bulk_link_event(struct rpc_peer *peer, const struct tp_event *ev);
bool bulk_link_lost(struct rpc_peer *peer, int status);
/* Called when the server answers: a missing second endpoint then counts as a failed attempt. */
void bulk_link_count(struct rpc_peer *peer);
/* Receive buffers of the second endpoint; index counts from 0. */
#define BULK_LINK_MSG 1024u /* a reply after data contains no data itself */
void *bulk_link_recv_buf(const struct rpc_peer *peer, unsigned int index);
int bulk_link_post_recv(struct rpc_peer *peer, unsigned int index);
void bulk_link_close(struct rpc_peer *peer);
void bulk_link_fini(struct rpc_peer *peer);

/*
 * ---- peer_auth.c: client and server authenticate to each other, and agree on sealing ----
 *
 * Functions that return a string return NULL, or the reason why the client rejects the server.
 */

void peer_auth_init(struct rpc_peer *peer, const struct rpc_peer_attr *attr);
/* Fills *hail for a new connection; msg is the whole first message.  Returns 0 or -errno. */
int peer_auth_begin(struct rpc_peer *peer, struct wire_hail *hail,
		    const void *msg, size_t len);
/* Called when the server accepted the connection and sent this hail in msg. */
const char *peer_auth_check_accept(struct rpc_peer *peer,
				   const struct wire_accept *acc,
				   const struct wire_hail *hail,
				   const void *msg, size_t len);
/*
 * For a peer that authenticates.  peer_auth_put_ticket() appends the ticket to out, if there is
 * one, and reserves room for the proof.  peer_auth_put_proof() then writes the proof at the end of
 * the HELLO, which has len bytes at hdr.
 */
int peer_auth_put_ticket(struct rpc_peer *peer, struct wire_out *out);
int peer_auth_put_proof(struct rpc_peer *peer, struct wire_hdr *hdr,
			size_t len);
/*
 * Checks the server's proof in the reply to HELLO.  The string may be in buf, of len bytes.  The
 * caller sets *status to -EKEYREJECTED; the function changes it if another error fits better.
 */
const char *peer_auth_check_reply(struct rpc_peer *peer,
				  const struct wire_msg *msg, int *status,
				  char *buf, size_t len);
/* Writes to buf, and returns, that another iod answered; meant is its wire_meant(). */
const char *peer_auth_other_iod(const struct rpc_peer *peer, uint64_t meant,
				char *buf, size_t len);
/*
 * Called when the server has accepted us and authenticated itself.  Seals the connection from
 * here on, if both ends agreed on that.  If sealing fails, fails the link.
 */
const char *peer_auth_seal(struct rpc_peer *peer, const struct wire_msg *msg);
/* Called when the connection is closed. */
void peer_auth_reset(struct rpc_peer *peer);

/*
 * ---- hello.c: how a client introduces itself ----
 */

struct peer_private {
	struct wire_connect wc;
	struct wire_hail hail;
};
/* Why the server refuses us, or we refuse it. */
struct hello_refusal {
	int status; /* 0 if the server is not refused, but the link fails */
	bool impostor; /* the server did not prove itself */
	const char *why;
	char text[256]; /* memory for `why` */
};
/* Fills *priv, the private data of the connect.  Returns the number of bytes, or -errno. */
int hello_begin(struct rpc_peer *peer, struct peer_private *priv);
/* Called when the connect was accepted. Returns true if HELLO may be sent. */
bool hello_check_accept(struct rpc_peer *peer, const struct tp_event *ev,
			struct wire_accept *acc, struct hello_refusal *no);
/* Posts the receives and sends HELLO.  Returns 0 or -errno. */
int hello_start(struct rpc_peer *peer, const struct wire_accept *acc);
void hello_rejected(struct rpc_peer *peer, const struct tp_event *ev,
		    struct hello_refusal *no);
/* Called when HELLO was answered. Returns true if the server accepted it. */
bool hello_check_reply(struct rpc_peer *peer, const struct wire_msg *msg,
		       struct hello_refusal *no);
/* Sends BYE, best effort. */
void hello_bye(struct rpc_peer *peer);
/*
 * Posts a receive buffer. Indices below peer->nrecv are those of the first endpoint, the others
 * those of the second one.
 */
int peer_post_recv(struct rpc_peer *peer, unsigned int index);
void *peer_recv_buf(const struct rpc_peer *peer, unsigned int index);

/*
 * ---- peer_requests.c: requests of the peer itself: PING, and FAST for buffers of the server ----
 */

void peer_requests_init(struct rpc_peer *peer);

#endif
