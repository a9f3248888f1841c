/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_ep.h - endpoints: their queues of requests and their two directions. */
#ifndef TCP_EP_H
#define TCP_EP_H

#include "common/transport/tcp/tcp_conn.h"
#include "common/transport/tcp/tcp_cq.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/tcp/tcp_mem.h"

#define TCP_STAGE 8192u /* bytes read ahead, per endpoint */
#define TCP_BURST (1u << 20) /* bytes an ep may move in one turn */

enum tcp_state {
	TCP_EP_IDLE,
	TCP_EP_CONNECTING, /* the socket is */
	TCP_EP_HELLO, /* CONNECT sent, answer awaited */
	TCP_EP_UP,
	TCP_EP_BROKEN,
};

struct tcp_sendq {
	struct sock_swr *wr; /* id: of the frame that carries it */
	struct sock_sendq q;
	struct tcp_txs wait; /* posted, not committed */
	struct tcp_txs out; /* committed: sent in this order */
	struct tcp_txs reads; /* sent, answer awaited */
	unsigned int nreads;
	unsigned int nanswers; /* to the peer's, in out */
	bool full; /* the socket: wait for EPOLLOUT */
};

struct tcp_seal; /* tcp_seal.h */

/* Where the receive state machine stands. */
struct tcp_rx {
	uint8_t *stage; /* TCP_STAGE bytes; [at, end) are valid */
	uint32_t at, end;
	bool readable; /* since the last edge */
	bool hup; /* no more edges: read to the end */
	bool error; /* the socket has one */
	bool landing; /* in the payload of frame */
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
	uint32_t mask; /* in the epoll set */
	bool dirty, ready, done; /* on which lists of the cq */
	TAILQ_ENTRY(tcp_ep) dirty_link, ready_link, done_link, open_link;
	struct tcp_pulse {
		bool asks; /* an acceptor's */
		bool heard; /* something, since the last beat */
		bool asked; /* and no echo yet */
		unsigned int quiet; /* beats without anything */
	} pulse;
	int lost; /* why sending failed: read the rest,
					 * then break */
	struct tcp_rx rx;
	struct tcp_seal *seal; /* NULL: frames are bare */
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
 * Ends the connection: every outstanding request completes, DISCONNECTED
 * (status) is queued.  id: of the send request that caused it gets status,
 * the others -ECANCELED (0: none).  No log.
 */
void tcp_ep_break(struct tcp_ep *ep, int status, uint32_t id);
/*
 * The same with a log line, after telling the peer that its request id (0:
 * none) is the cause.
 */
void tcp_ep_refuse(struct tcp_ep *ep, int status, uint32_t id, const char *why);
/* The same because of the frame being received; returns status. */
/* What answers the hello is no server of ours: -EPROTOTYPE. */
int tcp_not_pvfs(struct tcp_ep *ep);
int tcp_rx_refuse(struct tcp_ep *ep, int status, const char *why);
/* The same with a log line; the oldest send request gets status. */
void tcp_ep_lost(struct tcp_ep *ep, int status);
void tcp_ep_lost_for(struct tcp_ep *ep, int status, const char *why);
void tcp_ep_dirty(struct tcp_ep *ep);
void tcp_ep_ready(struct tcp_ep *ep);
void tcp_ep_done(struct tcp_ep *ep);
void tcp_ep_mask(struct tcp_ep *ep, uint32_t mask);
/* -errno; the socket joins the cq. */
int tcp_ep_attach(struct tcp_ep *ep, int fd, uint32_t mask);
/* Leaves the cq and closes the socket, if there is one. */
void tcp_ep_detach(struct tcp_ep *ep);

int tcp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	       unsigned int len);
int tcp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		unsigned int len, uint64_t deadline);
/* The socket became writable or failed while CONNECTING. */
void tcp_connect_step(struct tcp_ep *ep);
/* ACCEPT, REJECT in state HELLO. */
int tcp_connect_answer(struct tcp_ep *ep, const struct tcp_frame *frame,
		       const uint8_t *payload);

/* Are the peer's host and its program still there (tcp_pulse.c)? */
struct tcp_info;
void tcp_pulse_init(struct tcp_cq *cq);
void tcp_pulse_join(struct tcp_ep *ep);
void tcp_pulse_leave(struct tcp_ep *ep);
/* Something is sent: looks again, where it had ceased to. */
void tcp_pulse_wake(struct tcp_cq *cq);
/* PULSE, ECHO came.  0, or the ep was broken. */
int tcp_pulse_answer(struct tcp_ep *ep);
int tcp_pulse_echo(struct tcp_ep *ep);
/* Something was sent and nothing came back for longer than dead_ms. */
bool tcp_pulse_gone(const struct tcp_info *info, unsigned int dead_ms);

/* ---- sending (tcp_post.c, tcp_send.c) ---- */

/*
 * A frame to be sent, with the requests that it carries.  Gathered: head,
 * then pieces.  For a READ or atomic the pieces are where the answer lands.
 */
struct tcp_tx {
	STAILQ_ENTRY(tcp_tx) link;
	uint32_t first, nwr; /* send requests; nwr 0: none */
	uint32_t id;
	uint32_t len; /* payload */
	uint16_t op;
	bool asks; /* READ, atomic: pieces are for the answer */
	bool answers; /* pieces are what the peer named by rkey */
	bool small; /* of the size that is reused */
	uint32_t head_len, head_sent;
	uint32_t nsge;
	struct tp_cursor data;
	uint8_t *head; /* behind sge */
	struct tp_sge sge[];
};

/* Room for a head of head_len and nsge pieces.  NULL: no memory. */
struct tcp_tx *tcp_tx_new(struct tcp_cq *cq, uint32_t head_len, uint32_t nsge);
void tcp_tx_free(struct tcp_cq *cq, struct tcp_tx *tx);
void tcp_txs_free(struct tcp_cq *cq, struct tcp_txs *txs);
/* A frame of head and small payload alone; queued to be sent.  -ENOMEM. */
int tcp_tx_small(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const void *payload, uint32_t len);

int tcp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
int tcp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/* n requests from first on are done with success; reports in order. */
void tcp_sends_done(struct tcp_ep *ep, uint32_t first, uint32_t n);
/* Completes the oldest outstanding receive. */
void tcp_recv_done(struct tcp_ep *ep, enum tp_opcode opcode, int status,
		   uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. */
int tcp_harvest(struct tcp_ep *ep, struct tp_wc *wc, int n);

/* Sends what is queued until the socket is full or the turn is over. */
void tcp_flush(struct tcp_ep *ep);
/* What of sq.out leaves next: pieces in cq->iov, and in cq->held what stays registered
 * until tcp_unhold(). */
struct tcp_gather {
	uint64_t max, bytes, data;
	unsigned int niov;
	int nheld;
};
/* At most max bytes.  False: memory that the peer reads was deregistered; broken. */
bool tcp_gather(struct tcp_ep *ep, uint64_t max, struct tcp_gather *g);
/* So many bytes of sq.out have left. */
void tcp_sent(struct tcp_ep *ep, uint64_t n);
/* The socket took n of the wanted bytes, or -1 and errno.  True: it may take more now. */
bool tcp_send_ended(struct tcp_ep *ep, ssize_t n, uint64_t wanted);

/* ---- receiving (tcp_recv.c, tcp_rma.c) ---- */

/* One turn of reading. */
void tcp_recv(struct tcp_ep *ep);
/*
 * Acts on a frame whose head, segments and small payload start at p.  0: the
 * cursor rx.land is set for its data; -EAGAIN: later (no receive posted);
 * other: the ep was broken.
 */
int tcp_frame_begin(struct tcp_ep *ep, const struct tcp_frame *frame,
		    const uint8_t *p);
/* All of the frame's data has landed. */
void tcp_frame_end(struct tcp_ep *ep);
/* One-sided operations of the peer; the same results. */
int tcp_rma_write(struct tcp_ep *ep, const struct tcp_frame *frame,
		  const uint8_t *p);
int tcp_rma_read(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const uint8_t *p);
int tcp_rma_atomic(struct tcp_ep *ep, const struct tcp_frame *frame,
		   const uint8_t *p);

#endif
