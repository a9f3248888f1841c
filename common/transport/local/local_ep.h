/* SPDX-License-Identifier: BSD-2-Clause */
/* local_ep.h - endpoints: their queues of requests, sending and receiving. */
#ifndef LOCAL_EP_H
#define LOCAL_EP_H

#include "common/transport/cursor.h"
#include "common/transport/local/meet/local_conn.h"
#include "common/transport/local/local_cq.h"
#include "common/transport/local/memory/local_guest.h"
#include "common/transport/local/shared/local_ring.h"

#define LOCAL_BURST (1u << 20) /* bytes that an ep may move in one turn */
#define LOCAL_ASKS 64u /* outstanding READs and atomics through the ring */
#define LOCAL_FEW 2u /* gather entries stored in the request itself */

enum local_state {
	LOCAL_EP_IDLE,
	LOCAL_EP_CONNECTING, /* the listener's queue is full: retry later */
	LOCAL_EP_HELLO, /* CONNECT sent, waiting for the answer */
	LOCAL_EP_UP,
	LOCAL_EP_BROKEN,
};

/* The operations in the ring. */
enum local_op {
	LOCAL_OP_SEND = 1,
	LOCAL_OP_WRITE,
	LOCAL_OP_WRITE_IMM,
	LOCAL_OP_IMM, /* a WRITE_IMM whose data is in place */
	LOCAL_OP_MORE, /* more payload of the message that was begun */
	LOCAL_OP_READ,
	LOCAL_OP_READ_DATA,
	LOCAL_OP_FETCH_ADD, /* payload: two operands */
	LOCAL_OP_CMP_SWAP,
	LOCAL_OP_OLD, /* payload: the old value */
	LOCAL_OP_END
};

/* How one-sided operations access the peer's memory. */
enum local_reach {
	LOCAL_REACH_UNKNOWN,
	LOCAL_REACH_VM, /* we copy (direct access) */
	LOCAL_REACH_RING, /* the peer copies */
};

/* A posted send request. */
struct local_swr {
	struct sock_swr r;
	uint64_t remote;
	uint64_t operand[2];
	uint32_t rkey, imm;
	bool begun; /* its first record is in the ring */
	bool asked; /* waits for an answer */
	struct tp_cursor data; /* what remains to be moved */
	struct tp_sge few[LOCAL_FEW];
	struct tp_sge *more; /* replaces few */
};

/*
 * [q.done, next): in progress; [next, q.tail): waiting. A request in progress waits for its answer,
 * or for that of an earlier request.
 */
struct local_sendq {
	struct local_swr *wr;
	struct sock_sendq q;
	uint32_t next;
	uint32_t asks; /* answers outstanding */
	bool stuck; /* until the peer acts */
};

/* An answer that we owe the peer. */
struct local_answer {
	uint64_t addr, old;
	uint32_t rkey, id, len, sent;
	bool is_read;
};

/* The message whose further records are still to come. */
struct local_rx {
	uint16_t op;
	uint32_t left, total, imm, id, rkey;
	uint64_t addr; /* address of the next payload */
};

struct local_ep {
	struct tp_ep ep;
	struct sock_src src;
	struct local_cq *cq;
	enum local_state state;
	int fd;
	enum local_of side; /* of the shared memory */
	bool hot, is_done; /* is on these lists of the cq */
	bool eof; /* the socket ended */
	bool group; /* tp_ep_attr.group */
	bool joined; /* tp_ep_join() */
	bool owed; /* is on this list of the cq */
	bool relies; /* the peer moves data through the ring and needs our progress */
	unsigned int idle; /* consecutive polls without work */
	unsigned int bells; /* received since the socket was emptied */
	TAILQ_ENTRY(local_ep)
	hot_link, done_link, open_link, owed_link;
	struct local_shm shm;
	struct local_out out;
	struct local_in in;
	struct local_rx rx;
	struct sock_recvq rq;
	struct local_sendq sq;
	/*
	 * acceptor: an eventfd that the connector writes to, and gong and page of the group that it
	 * belongs to
	 */
	int bell;
	struct local_gong gong;
	struct sock_src bell_src;
	struct local_page *page;
	int passed[TP_PASS_MAX]; /* sent by the acceptor, not taken yet */
	unsigned int npassed;
	int life; /* acceptor: pidfd of the connector's process */
	struct sock_src life_src;
	struct local_answer answer[LOCAL_ASKS]; /* a queue */
	uint32_t answer_head, answer_tail;
	/* direct access */
	enum local_reach reach;
	/* of the peer; a connector does not know the groups */
	struct tp_identity id;
	uint32_t *groups; /* id.groups */
	const struct local_entry *table; /* the peer's table, or NULL */
	struct local_guest *guest; /* NULL: the peer may not access our memory */
	bool own; /* the peer had our user id when it connected */
	uint8_t nonce[LOCAL_NONCE]; /* the peer reads this */
	/* connecting */
	struct sock_timer timer, again;
	uint64_t deadline;
	struct local_name name[LOCAL_NAMES];
	int nnames, name_next;
	struct tp_pending started, ended;
	struct tp_private priv; /* ours, then the peer's */
	char peer[SOCK_PEER_LEN];
};

static inline struct local_giver local_ep_giver(const struct local_ep *ep)
{
	return local_giver(ep->ep.dev, ep->id.uid);
}

int local_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		  struct tp_ep **ep);
void local_ep_close(struct tp_ep *ep);
const char *local_ep_peer(const struct tp_ep *ep);
int local_ep_identity(const struct tp_ep *ep, struct tp_identity *id);
uint32_t local_ep_carry_max(const struct tp_ep *ep);
void local_ep_join(struct tp_ep *ep);
/*
 * Ends the connection: every outstanding request completes, and DISCONNECTED with status is queued.
 * id: the send request of that id gets status, the others -ECANCELED (0: all others). Does not log.
 */
void local_ep_break(struct local_ep *ep, int status, uint32_t id);
/*
 * As local_ep_break(), with a log line. First tells the peer that its request cause (0: none) is
 * the reason.
 */
void local_ep_refuse(struct local_ep *ep, int status, uint32_t cause,
		     const char *why);
/* The peer's process is gone; the send request id (0: none) failed because of it. */
void local_ep_lost(struct local_ep *ep, uint32_t id);
/* Adds the socket to the cq. -errno. */
int local_ep_attach(struct local_ep *ep, int fd);

/* ---- hot and cold (local_heat.c) ---- */

/* Makes ep hot: every poll checks it from now on. */
void local_ep_heat(struct local_ep *ep);
/* Removes ep from the hot ones without a change in shared memory. */
void local_ep_forget(struct local_ep *ep);
/* Makes ep cold: asks for the bell. False: there is something to do, and ep stays hot. */
bool local_ep_cool(struct local_ep *ep);
/* Whether the answer of ep may wait for those of others: the peer needs nothing from us before. */
bool local_ep_patient(const struct local_ep *ep);
/* Whether the peer did something, or we can continue. */
bool local_ep_runnable(struct local_ep *ep);
/* Takes one turn: receives what came, sends what is posted. */
void local_ep_turn(struct local_ep *ep);
/* After publishing: wakes the peer if it sleeps, now or at the release. */
void local_ep_bell(struct local_ep *ep);
/* As local_ep_bell(), always now. */
void local_ep_ring(struct local_ep *ep);
/* Puts ep on the list cq->done if it has completions. */
void local_ep_done(struct local_ep *ep);

/* ---- connecting (local_connect.c) ---- */

int local_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
		 unsigned int len);
int local_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		  unsigned int len, uint64_t deadline);
/* The socket has data in state HELLO. */
void local_connect_answer(struct local_ep *ep);

/* ---- the acceptor's bell and group (local_called.c) ---- */

/* Creates the bell. -errno. */
int local_called_enter(struct local_ep *ep);
/* Takes over the group that came with CONNECT, if any. -errno. */
int local_called_join(struct local_ep *ep, struct local_fds *fds);
void local_called_leave(struct local_ep *ep);

/* ---- the connector's process (local_life.c) ---- */

/*
 * Ends the connection when the connector's process ends, even if a child has the socket. Best
 * effort.
 */
void local_life_watch(struct local_ep *ep);
void local_life_leave(struct local_ep *ep);

/* ---- descriptors that an acceptor passes (local_pass.c) ---- */

int local_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n);
int local_ep_take(struct tp_ep *ep, int *fd, unsigned int n);
/* Reads what came after the hello: bells and descriptors. False: too many; ep was broken. */
bool local_pass_read(struct local_ep *ep);
/*
 * local_pass_leave() closes descriptors that were not taken, as local_drop(). local_pass_abandon()
 * closes them directly, in a child after fork(): the parent holds them too.
 */
void local_pass_leave(struct local_ep *ep);
void local_pass_abandon(struct local_ep *ep);

/* ---- sending and receiving ---- */

int local_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
int local_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/*
 * Sends answers and requests until one must wait. bulk: also copies from or to the peer's memory,
 * up to a burst.
 */
void local_tx(struct local_ep *ep, bool bulk);
/* Consumes records from the ring, up to a burst. False: the ep was broken. */
bool local_rx(struct local_ep *ep);

/* wr was moved or answered; reports in posting order. */
void local_send_done(struct local_ep *ep, struct local_swr *wr);
/* Completes the oldest outstanding receive. */
void local_recv_done(struct local_ep *ep, enum tp_opcode opcode, int status,
		     uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. Returns their number. */
int local_harvest(struct local_ep *ep, struct tp_wc *wc, int n);
/* Completes everything outstanding; see local_ep_break(). */
void local_requests_flush(struct local_ep *ep, int status, uint32_t id);

/* ---- direct access to memory (local_reach.c, local_admit.c) ---- */

/* If the peer may access our memory, tells it where the nonce is. */
void local_guest_admit(struct local_ep *ep);
/*
 * The connection ends: the peer starts no new access. True: an access may still be running; the
 * device keeps shared memory and socket until it ends.
 */
bool local_guest_leave(struct local_ep *ep);
/* Finds out, once, how to access the peer's memory. */
enum local_reach local_reach(struct local_ep *ep);
/*
 * Copies up to max bytes for the next request, and for later ones of the same kind. These then have
 * less or nothing left to move. Returns the bytes copied, > 0; -ECANCELED: the peer has left;
 * -EACCES: no such right; -EFAULT: memory is not mapped; -ESRCH: no such process; -EPERM: not
 * permitted any more.
 */
int64_t local_reach_copy(struct local_ep *ep, uint64_t max);

#endif
