/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_ep.h - endpoints: their queues of requests, sending and receiving. */
#ifndef TCP_EP_H
#define TCP_EP_H

#include "common/transport/tcp/tcp_conn.h"
#include "common/transport/tcp/tcp_cq.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/tcp/tcp_mem.h"

#define TCP_STAGE 8192u /* bytes read ahead, per endpoint */
#define TCP_BURST (1u << 20) /* bytes that an ep may move in one turn */

enum tcp_state {
	TCP_EP_IDLE,
	TCP_EP_CONNECTING, /* connect() is in progress */
	TCP_EP_HELLO, /* CONNECT sent, waiting for the answer */
	TCP_EP_UP,
	TCP_EP_BROKEN,
};

struct tcp_sendq {
	struct sock_swr *wr; /* id: of the frame that carries the request */
	struct sock_sendq q;
	struct tcp_txs wait; /* posted, not committed */
	struct tcp_txs out; /* committed: sent in this order */
	struct tcp_txs reads; /* sent, waiting for the answer */
	unsigned int nreads;
	unsigned int nanswers; /* answers to the peer's requests, in out */
	bool full; /* the socket is full: wait for EPOLLOUT */
};

struct tcp_seal; /* tcp_seal.h */

/* State of the receive state machine. */
struct tcp_rx {
	uint8_t *stage; /* TCP_STAGE bytes; [at, end) are valid */
	uint32_t at, end;
	bool readable; /* may have data: an edge came */
	bool hup; /* no more edges: read to the end of file */
	bool error; /* the socket reported an error */
	bool landing; /* reading the payload of frame */
	struct tcp_frame frame;
	struct tp_cursor land;
	struct tp_sge *seg; /* targets of a WRITE; grows to
					 * TCP_SEG_MAX */
	unsigned int seg_cap;
};

struct tcp_ep {
	struct tp_ep ep;
	struct sock_src src;
	struct tcp_cq *cq;
	enum tcp_state state;
	int fd;
	uint32_t mask; /* events in the epoll set */
	bool dirty, ready, done; /* is on these lists of the cq */
	TAILQ_ENTRY(tcp_ep) dirty_link, ready_link, done_link, open_link;
	struct tcp_pulse {
		bool asks; /* this end accepted: it may send PULSE */
		bool heard; /* something arrived since the last beat */
		bool asked; /* PULSE sent, no ECHO yet */
		unsigned int quiet; /* consecutive beats without any arrival */
	} pulse;
	int lost; /* why sending failed: read the rest, then break */
	struct tcp_rx rx;
	struct tcp_seal *seal; /* NULL: frames are not sealed */
	struct sock_recvq rq;
	struct tcp_sendq sq;
	struct sock_timer timer; /* connect deadline */
	struct addrinfo *addrs, *addr_next;
	struct tp_pending started, ended;
	struct tp_private priv; /* ours, then the peer's */
	char peer[SOCK_PEER_LEN];
};

int tcp_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		struct tp_ep **ep);
void tcp_ep_close(struct tp_ep *ep);
const char *tcp_ep_peer(const struct tp_ep *ep);
/*
 * Ends the connection: every outstanding request completes, and DISCONNECTED with status is queued.
 * id: the send request of that id gets status, the others -ECANCELED (0: all others). Does not log.
 */
void tcp_ep_break(struct tcp_ep *ep, int status, uint32_t id);
/*
 * As tcp_ep_break(), with a log line. First sends the peer a NAK with its request id (0: none) as
 * the cause.
 */
void tcp_ep_refuse(struct tcp_ep *ep, int status, uint32_t id, const char *why);
/*
 * tcp_not_pvfs(): breaks ep because the answer to the hello is not from our server; returns
 * -EPROTOTYPE. tcp_rx_refuse(): as tcp_ep_refuse(), because of the frame being received; returns
 * status.
 */
int tcp_not_pvfs(struct tcp_ep *ep);
int tcp_rx_refuse(struct tcp_ep *ep, int status, const char *why);
/* As tcp_ep_break(), with a log line; the oldest send request gets status. */
void tcp_ep_lost(struct tcp_ep *ep, int status);
void tcp_ep_lost_for(struct tcp_ep *ep, int status, const char *why);
void tcp_ep_dirty(struct tcp_ep *ep);
void tcp_ep_ready(struct tcp_ep *ep);
void tcp_ep_done(struct tcp_ep *ep);
void tcp_ep_mask(struct tcp_ep *ep, uint32_t mask);
/* Adds the socket to the cq. -errno. */
int tcp_ep_attach(struct tcp_ep *ep, int fd, uint32_t mask);
/* Removes the socket from the cq and closes it, if there is one. */
void tcp_ep_detach(struct tcp_ep *ep);

int tcp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	       unsigned int len);
int tcp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		unsigned int len, uint64_t deadline);
/* Called when the socket becomes writable or fails in state CONNECTING. */
void tcp_connect_step(struct tcp_ep *ep);
/* Handles ACCEPT or REJECT in state HELLO. */
int tcp_connect_answer(struct tcp_ep *ep, const struct tcp_frame *frame,
		       const uint8_t *payload);

/* Checks that the peer's host and program are alive (tcp_pulse.c). */
struct tcp_info;
void tcp_pulse_init(struct tcp_cq *cq);
void tcp_pulse_join(struct tcp_ep *ep);
void tcp_pulse_leave(struct tcp_ep *ep);
/* Called when something was sent: restarts the checks if they were suspended. */
void tcp_pulse_wake(struct tcp_cq *cq);
/* A PULSE or ECHO came. 0, or the ep was broken. */
int tcp_pulse_answer(struct tcp_ep *ep);
int tcp_pulse_echo(struct tcp_ep *ep);
unsigned int tcp_ep_quiet_ms(const struct tp_ep *ep);
/* Something was sent, and nothing came back for longer than dead_ms. */
bool tcp_pulse_gone(const struct tcp_info *info, unsigned int dead_ms);

/* ---- sending (tcp_post.c, tcp_send.c) ---- */

/*
 * A frame to be sent, with the requests that it carries: a head, then pieces. For a READ or atomic
 * the pieces are where the answer is placed.
 */
struct tcp_tx {
	STAILQ_ENTRY(tcp_tx) link;
	uint32_t first, nwr; /* the send requests; nwr 0: none */
	uint32_t id;
	uint32_t len; /* of the payload */
	uint16_t op;
	bool asks; /* READ or atomic: the pieces receive the answer */
	bool answers; /* an answer: the pieces are memory that the peer named by rkey */
	bool small; /* of the size that is reused */
	uint32_t head_len, head_sent;
	uint32_t nsge;
	struct tp_cursor data;
	uint8_t *head; /* stored after sge */
	struct tp_sge sge[];
};

/* Allocates a frame with a head of head_len and nsge pieces. NULL: no memory. */
struct tcp_tx *tcp_tx_new(struct tcp_cq *cq, uint32_t head_len, uint32_t nsge);
void tcp_tx_free(struct tcp_cq *cq, struct tcp_tx *tx);
void tcp_txs_free(struct tcp_cq *cq, struct tcp_txs *txs);
/* Queues a frame that has only a head and a small payload. -ENOMEM. */
int tcp_tx_small(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const void *payload, uint32_t len);

int tcp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
int tcp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/* Completes n requests from first on with success; reports in posting order. */
void tcp_sends_done(struct tcp_ep *ep, uint32_t first, uint32_t n);
/* Completes the oldest outstanding receive. */
void tcp_recv_done(struct tcp_ep *ep, enum tp_opcode opcode, int status,
		   uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. Returns their number. */
int tcp_harvest(struct tcp_ep *ep, struct tp_wc *wc, int n);

/* Sends queued frames until the socket is full or the turn is over. */
void tcp_flush(struct tcp_ep *ep);
/*
 * The next part of sq.out to send. The pieces are in cq->iov; cq->held lists the registrations that
 * are held until tcp_unhold().
 */
struct tcp_gather {
	uint64_t max, bytes, data;
	unsigned int niov;
	int nheld;
};
/* Gathers at most max bytes. False: memory that the peer reads was deregistered; ep is broken. */
bool tcp_gather(struct tcp_ep *ep, uint64_t max, struct tcp_gather *g);
/* Removes n sent bytes from sq.out. */
void tcp_sent(struct tcp_ep *ep, uint64_t n);
/*
 * Handles the result of a send: n of the wanted bytes, or -1 and errno. True: the socket may accept
 * more now.
 */
bool tcp_send_ended(struct tcp_ep *ep, ssize_t n, uint64_t wanted);

/* ---- receiving (tcp_recv.c, tcp_rma.c) ---- */

/* Reads for one turn. */
void tcp_recv(struct tcp_ep *ep);
/*
 * Handles a frame whose head, segments and small payload start at p. 0: the cursor rx.land is set
 * for its data; -EAGAIN: retry later (no receive posted); other: the ep was broken.
 */
int tcp_frame_begin(struct tcp_ep *ep, const struct tcp_frame *frame,
		    const uint8_t *p);
/* All data of the frame is in place. */
void tcp_frame_end(struct tcp_ep *ep);
/* One-sided operations of the peer. Results as tcp_frame_begin(). */
int tcp_rma_write(struct tcp_ep *ep, const struct tcp_frame *frame,
		  const uint8_t *p);
int tcp_rma_read(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const uint8_t *p);
int tcp_rma_atomic(struct tcp_ep *ep, const struct tcp_frame *frame,
		   const uint8_t *p);

#endif
