/* SPDX-License-Identifier: BSD-2-Clause */
/* local_ep.h - endpoints: their queues of requests and their two directions. */
#ifndef LOCAL_EP_H
#define LOCAL_EP_H

#include "common/transport/cursor.h"
#include "common/transport/local/meet/local_conn.h"
#include "common/transport/local/local_cq.h"
#include "common/transport/local/memory/local_guest.h"
#include "common/transport/local/shared/local_ring.h"

#define LOCAL_BURST (1u << 20) /* bytes an ep may move in one turn */
#define LOCAL_ASKS 64u /* READs and atomics through the ring at once */
#define LOCAL_FEW 2u /* gather entries kept in the request itself */

enum local_state {
	LOCAL_EP_IDLE,
	LOCAL_EP_CONNECTING, /* the listener's queue is full: later */
	LOCAL_EP_HELLO, /* CONNECT sent, answer awaited */
	LOCAL_EP_UP,
	LOCAL_EP_BROKEN,
};

/* The operations in the ring. */
enum local_op {
	LOCAL_OP_SEND = 1,
	LOCAL_OP_WRITE,
	LOCAL_OP_WRITE_IMM,
	LOCAL_OP_IMM, /* of a WRITE_IMM whose data is in place */
	LOCAL_OP_MORE, /* payload of the message begun before */
	LOCAL_OP_READ,
	LOCAL_OP_READ_DATA,
	LOCAL_OP_FETCH_ADD, /* payload: two operands */
	LOCAL_OP_CMP_SWAP,
	LOCAL_OP_OLD, /* payload: what was there */
	LOCAL_OP_END
};

/* How one-sided operations get at the peer's memory. */
enum local_reach {
	LOCAL_REACH_UNKNOWN,
	LOCAL_REACH_VM, /* we copy */
	LOCAL_REACH_RING, /* the peer does */
};

/* A posted send request. */
struct local_swr {
	struct sock_swr r;
	uint64_t remote;
	uint64_t operand[2];
	uint32_t rkey, imm;
	bool begun; /* of what goes through the ring: its first record */
	bool asked; /* waits for an answer */
	struct tp_cursor data; /* what is still to be moved */
	struct tp_sge few[LOCAL_FEW];
	struct tp_sge *more; /* instead of few */
};

/*
 * [q.done, next) are on their way, [next, q.tail) wait.  What is in [q.done, next)
 * waits for an answer, or for one that was posted before it and does.
 */
struct local_sendq {
	struct local_swr *wr;
	struct sock_sendq q;
	uint32_t next;
	uint32_t asks; /* answers awaited */
	bool stuck; /* until the peer does something */
};

/* An answer owed to the peer. */
struct local_answer {
	uint64_t addr, old;
	uint32_t rkey, id, len, sent;
	bool is_read;
};

/* The message of which more records are to come. */
struct local_rx {
	uint16_t op;
	uint32_t left, total, imm, id, rkey;
	uint64_t addr; /* of what comes next */
};

struct local_ep {
	struct tp_ep ep;
	struct sock_src src;
	struct local_cq *cq;
	enum local_state state;
	int fd;
	enum local_of side; /* of the shared memory */
	bool hot, is_done; /* on which lists of the cq */
	bool eof; /* the socket ended */
	bool group; /* tp_ep_attr.group */
	bool joined; /* tp_ep_join() */
	bool owed; /* on the list of the cq */
	bool relies; /* the peer moves its data through the ring: on us */
	unsigned int idle; /* polls without anything */
	unsigned int bells; /* heard since the socket was emptied */
	TAILQ_ENTRY(local_ep)
	hot_link, done_link, open_link, owed_link;
	struct local_shm shm;
	struct local_out out;
	struct local_in in;
	struct local_rx rx;
	struct sock_recvq rq;
	struct local_sendq sq;
	/* of the acceptor: an eventfd that the connector writes to; and of the
	 * group that it belongs to for the connector, gong and page */
	int bell;
	struct local_gong gong;
	struct sock_src bell_src;
	struct local_page *page;
	int passed[TP_PASS_MAX]; /* given by the acceptor, not taken yet */
	unsigned int npassed;
	int life; /* of the acceptor: pidfd of the connector's process */
	struct sock_src life_src;
	struct local_answer answer[LOCAL_ASKS]; /* a queue */
	uint32_t answer_head, answer_tail;
	/* reaching */
	enum local_reach reach;
	struct tp_identity id; /* of the peer; without groups, who connected */
	uint32_t *groups; /* id.groups */
	const struct local_entry *table; /* the peer's, or NULL */
	struct local_guest *guest; /* NULL: may not reach into us */
	bool own; /* of our user, when it connected */
	uint8_t nonce[LOCAL_NONCE]; /* the peer looks here */
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
 * Ends the connection: every outstanding request completes, DISCONNECTED
 * (status) is queued.  id: of the send request that caused it gets status,
 * the others -ECANCELED (0: none).  No log.
 */
void local_ep_break(struct local_ep *ep, int status, uint32_t id);
/*
 * The same with a log line, after telling the peer that its request cause
 * (0: none) is the reason.
 */
void local_ep_refuse(struct local_ep *ep, int status, uint32_t cause,
		     const char *why);
/* The peer's process is gone: wr, if any, failed because of it. */
void local_ep_lost(struct local_ep *ep, uint32_t id);
/* -errno; the socket joins the cq. */
int local_ep_attach(struct local_ep *ep, int fd);

/* ---- hot and cold (local_heat.c) ---- */

/* Looked at by every poll from now on. */
void local_ep_heat(struct local_ep *ep);
/* Not any more: no change to what the peer knows. */
void local_ep_forget(struct local_ep *ep);
/* Asks for the bell.  False: there is something to do; still hot. */
bool local_ep_cool(struct local_ep *ep);
/* Its answer may wait for those of others: it needs nothing from us before. */
bool local_ep_patient(const struct local_ep *ep);
/* There is something that the peer did, or that we can do. */
bool local_ep_runnable(struct local_ep *ep);
/* One turn: takes what came, moves what is posted. */
void local_ep_turn(struct local_ep *ep);
/* After publishing: wakes the peer if it sleeps, now or at the release. */
void local_ep_bell(struct local_ep *ep);
/* The same now. */
void local_ep_ring(struct local_ep *ep);
/* If there is something to be polled. */
void local_ep_done(struct local_ep *ep);

/* ---- connecting (local_connect.c) ---- */

int local_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
		 unsigned int len);
int local_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		  unsigned int len, uint64_t deadline);
/* The socket has something in state HELLO. */
void local_connect_answer(struct local_ep *ep);

/* ---- being called (local_called.c) ---- */

/* Makes the bell.  -errno. */
int local_called_enter(struct local_ep *ep);
/* Takes over the group that came with CONNECT, if any.  -errno. */
int local_called_join(struct local_ep *ep, struct local_fds *fds);
void local_called_leave(struct local_ep *ep);

/* ---- the connector's process (local_life.c) ---- */

/* Its end is the connection's, whoever else has the socket.  Best effort. */
void local_life_watch(struct local_ep *ep);
void local_life_leave(struct local_ep *ep);

/* ---- descriptors that an acceptor gives (local_pass.c) ---- */

int local_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n);
int local_ep_take(struct tp_ep *ep, int *fd, unsigned int n);
/* Reads what came behind the hello: bells, and these.  False: too many, ep was broken. */
bool local_pass_read(struct local_ep *ep);
/* Closes what was not taken; in a child after fork(), where others have it, too. */
void local_pass_leave(struct local_ep *ep);
void local_pass_abandon(struct local_ep *ep);

/* ---- sending and receiving ---- */

int local_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
int local_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/*
 * Moves answers and requests on until one must wait; bulk: also what copies
 * from or to the peer's memory, up to a burst.
 */
void local_tx(struct local_ep *ep, bool bulk);
/* Takes what is in the ring, up to a burst.  False: the ep was broken. */
bool local_rx(struct local_ep *ep);

/* wr was moved, or answered; reports in order. */
void local_send_done(struct local_ep *ep, struct local_swr *wr);
/* Completes the oldest outstanding receive. */
void local_recv_done(struct local_ep *ep, enum tp_opcode opcode, int status,
		     uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. */
int local_harvest(struct local_ep *ep, struct tp_wc *wc, int n);
/* Everything outstanding completes; see local_ep_break(). */
void local_requests_flush(struct local_ep *ep, int status, uint32_t id);

/* ---- reaching into the peer (local_reach.c, local_admit.c) ---- */

/* May the peer do it to us?  Then it is told where the nonce is. */
void local_guest_admit(struct local_ep *ep);
/*
 * The connection ends: the peer goes in no more.  True: it may still be inside,
 * and shared memory and socket are kept by the device until it left.
 */
bool local_guest_leave(struct local_ep *ep);
/* Finds out, once, how the peer's memory is reached. */
enum local_reach local_reach(struct local_ep *ep);
/*
 * Copies up to max bytes of what is left of the next request, and of those of
 * its kind behind it: their turn then finds less or nothing left to move.
 * Returns how many, > 0; -ECANCELED: the peer has left; -EACCES: no such right; -EFAULT: memory that is not
 * there; -ESRCH: no such process; -EPERM: not permitted any more.
 */
int64_t local_reach_copy(struct local_ep *ep, uint64_t max);

#endif
