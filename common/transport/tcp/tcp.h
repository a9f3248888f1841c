/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.h - private header of the tcp provider, which implements transport.h over sockets.
 *
 * Progress. A cq owns an epoll set of edge-triggered sources. After an edge, the endpoint is on
 * cq->ready and is read, until a read returns less than requested. After a post, the endpoint is on
 * cq->dirty and is flushed, until all is sent or the socket is full. An endpoint with completions
 * is on cq->done, from which tp_cq_poll() collects them. The rings of the requests store the
 * completions, so no queue can overflow.
 *
 * Remote access to memory: see tcp_mr.c. An access holds the registration for at most one system
 * call.
 *
 * Use goes from the end of this list to its start:
 *
 *   frame, mr, sock         the format, registered memory, options of sockets
 *   active, tx              the lists of the cq, completions; frames to be sent
 *   ep, seal                how connections end
 *   send, pulse             what is sent
 *   connect, ops, recv      what arrives
 *   listen, cq, dev         the accepting side, the loop, the table of operations
 *
 * The caller serialises all calls per cq (transport.h); only tcp_mr.c takes a lock or is called
 * from other threads.
 */
#ifndef TCP_H
#define TCP_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "common/transport/sock.h"
#include "common/transport/tcp/seal/records.h"
#include "common/transport/tcp/tcp_frame.h"
#include "common/transport/tcp/tcp_mem.h"
#include "common/util/clock.h"
#include "common/util/container.h"

#define TCP_IOV_MAX 1024 /* entries per system call (kernel: UIO_MAXIOV) */

struct tcp_ep;
struct tcp_tx;
TAILQ_HEAD(tcp_eps, tcp_ep);
STAILQ_HEAD(tcp_txs, tcp_tx);

struct tcp_cq {
	struct sock_cq sock;
	/* polls that may skip the epoll set, because a wait just checked it */
	unsigned int lazy;
	struct tcp_eps dirty, ready, done;
	struct tcp_eps open; /* endpoints that have a socket */
	struct sock_timer pulse;
	struct tcp_txs spare; /* small frames for reuse */
	unsigned int nspare;
	/* scratch space of one call */
	struct iovec iov[TCP_IOV_MAX];
	struct tcp_mr *held[TCP_IOV_MAX];
};

/*
 * A frame to be sent, for one or more requests: a head, then pieces of memory. For a READ or
 * atomic, the pieces are the memory that receives the answer.
 */
struct tcp_tx {
	STAILQ_ENTRY(tcp_tx) link;
	/* the send requests that this frame carries; nwr is 0 if it carries none */
	uint32_t first, nwr;
	uint32_t id;
	uint32_t len; /* bytes of the payload */
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

/*
 * A sealed connection. In each direction, a frame SEALED is the last unsealed one. The bytes of all
 * later frames are sent in records (records.h); a frame may span several records.
 */
struct tcp_seal {
	struct sealer *sealer;
	const struct tcp_tx *mark; /* our SEALED, until it was sent */
	bool in_on; /* the peer's SEALED was received */
	struct records_in in;
	struct records_window first; /* empty: nothing is opened yet */
	struct records_out out;
};

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
	/* requests; the id of each is that of the frame that carries it */
	struct sock_swr *wr;
	struct sock_sendq q;
	/* posted frames, until tcp_flush() moves them to `out` */
	struct tcp_txs wait;
	struct tcp_txs out; /* frames that may be sent, in this order */
	/* frames that were sent and wait for their answers */
	struct tcp_txs reads;
	unsigned int nreads;
	/* answers to the peer's requests that are in `out` */
	unsigned int nanswers;
	bool full; /* the socket is full: wait for EPOLLOUT */
};

/* State of the receive state machine. */
struct tcp_rx {
	uint8_t *stage; /* TCP_STAGE bytes; [at, end) are valid */
	uint32_t at, end;
	bool readable; /* an edge of epoll came, so there may be data */
	bool hup; /* epoll reports no more edges: read to the end of file */
	bool error; /* the socket reported an error */
	bool landing; /* the payload of `frame` is being received */
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
	/* -errno of a failed send.  The ep breaks only after all received data was read */
	int lost;
	/* bytes of the check in each frame; 0: frames have no check */
	uint32_t check_len;
	struct tcp_rx rx;
	struct tcp_seal *seal; /* NULL: frames are not sealed */
	struct sock_recvq rq;
	struct tcp_sendq sq;
	struct sock_timer timer; /* connect deadline */
	struct addrinfo *addrs, *addr_next;
	struct tp_pending started, ended;
	/* private data of the connect: first ours, then the peer's */
	struct tp_private priv;
	char peer[SOCK_PEER_LEN];
};

static inline struct tcp_dev *tcp_ep_dev(const struct tcp_ep *ep)
{
	return container_of(ep->ep.dev, struct tcp_dev, dev);
}

/* Return whether the bytes that ep sends, or receives, are records. */
static inline bool tcp_sends_records(const struct tcp_ep *ep)
{
	return ep->seal && !ep->seal->mark;
}
static inline bool tcp_receives_records(const struct tcp_ep *ep)
{
	return ep->seal && ep->seal->in_on;
}

/* ---- sockets and their congestion control (tcp_sock.c) ---- */

struct addrinfo;
/* Resolves addr; blocks if it is not numeric. Returns 0; -EHOSTUNREACH: the host has no address. */
int tcp_resolve(const struct log *log, const struct addr *addr, bool passive,
		struct addrinfo **list);
void tcp_sock_tune(const struct tcp_dev *dev, int fd);
void tcp_sock_name(const struct sockaddr *sa, char *buf, size_t len);
/*
 * Makes a later close() reset the connection, so the peer sees an error instead of an orderly end.
 */
void tcp_sock_reset_on_close(int fd);
/* Sends one frame with a hello, best effort. */
void tcp_sock_hello(int fd, enum tcp_op op, const void *priv, unsigned int len);
void tcp_pace_init(struct tcp_dev *dev);
/*
 * Prevents that the kernel paces fd, which makes connections within a host slow.  Call it before fd
 * connects or listens.  When fd is connected, tcp_pace_connected() permits pacing again, unless the
 * peer is on this host.
 */
void tcp_pace_begin(struct tcp_dev *dev, int fd);
void tcp_pace_connected(struct tcp_dev *dev, int fd);

/* ---- lists of the cq, completions (tcp_active.c) ---- */

/* Flushes ep in the next poll, unless the socket is full. */
void tcp_ep_mark_dirty(struct tcp_ep *ep);
/* Reads from ep in the next poll. */
void tcp_ep_mark_ready(struct tcp_ep *ep);
/* Puts ep on the list cq->done if it has completions. */
void tcp_ep_list_completions(struct tcp_ep *ep);
void tcp_ep_set_mask(struct tcp_ep *ep, uint32_t mask);
/* Completes n requests from first on with success; reports in posting order. */
void tcp_sends_complete(struct tcp_ep *ep, uint32_t first, uint32_t n);
/* Completes the oldest outstanding receive. */
void tcp_recv_complete(struct tcp_ep *ep, enum tp_opcode opcode, int status,
		       uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. Returns their number. */
int tcp_completions_take(struct tcp_ep *ep, struct tp_wc *wc, int n);
/* Called when something was sent: resumes the checks of peers (tcp_pulse.c). */
void tcp_pulse_resume(struct tcp_cq *cq);

/* ---- frames to be sent (tcp_tx.c) ---- */

/* Allocates a frame with a head of head_len and nsge pieces. NULL: no memory. */
struct tcp_tx *tcp_tx_new(struct tcp_cq *cq, uint32_t head_len, uint32_t nsge);
void tcp_tx_free(struct tcp_cq *cq, struct tcp_tx *tx);
void tcp_txs_free(struct tcp_cq *cq, struct tcp_txs *txs);
/* The bytes of tx after the head and the check. */
static inline uint8_t *tcp_tx_rest(const struct tcp_ep *ep, struct tcp_tx *tx)
{
	return tx->head + TCP_HEAD_LEN + ep->check_len;
}
/* Completes the check of a frame that is otherwise complete. */
void tcp_tx_check(struct tcp_ep *ep, struct tcp_tx *tx);
/* Queues a frame that has only a head and a small payload. -ENOMEM. */
int tcp_tx_small(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const void *payload, uint32_t len);
int tcp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
int tcp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);

/* ---- endpoints (tcp_ep.c) ---- */

int tcp_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		struct tp_ep **ep);
/* Closes the socket without sending a BYE or NAK, and frees ep. */
void tcp_ep_free(struct tcp_ep *ep);
/* Removes the socket from the cq and closes it, if there is one. */
void tcp_ep_detach(struct tcp_ep *ep);
/*
 * Ends the connection without a log line. Completes the send request id (0: none) with status, and
 * all other outstanding requests with -ECANCELED. Queues DISCONNECTED with status.
 */
void tcp_ep_break(struct tcp_ep *ep, int status, uint32_t id);
/*
 * Called when the peer violates a rule: sends it a NAK with its request id (0: none) as the cause,
 * logs why, and calls tcp_ep_break().
 */
void tcp_ep_refuse(struct tcp_ep *ep, int status, uint32_t id, const char *why);
/* Breaks ep because the answer to the hello is not from our server; returns -EPROTOTYPE. */
int tcp_ep_not_pvfs(struct tcp_ep *ep);
/* Calls tcp_ep_refuse(), with the frame that is being received as the cause.  Returns status. */
int tcp_rx_refuse(struct tcp_ep *ep, int status, const char *why);
/* Called when the connection is lost: logs it, and breaks ep.  The oldest send gets status. */
void tcp_ep_lost(struct tcp_ep *ep, int status);
void tcp_ep_lost_because(struct tcp_ep *ep, int status, const char *why);

/* ---- sealing (tcp_seal.c) ---- */

int tcp_ep_seal(struct tp_ep *ep, struct sealer *sealer, unsigned int behind);
/*
 * Called when a frame SEALED begins.  Returns 0; -EAGAIN: wait for tcp_ep_seal(); another -errno:
 * the ep was broken.
 */
int tcp_seal_start(struct tcp_ep *ep);
/* Called when the frame SEALED is complete: from now on the socket delivers records. */
void tcp_seal_complete(struct tcp_ep *ep);
/* Ends the connection because of received data; returns -EBADMSG. */
int tcp_seal_break(struct tcp_ep *ep, enum tp_flaw flaw);
/*
 * Called when the peer has ended the connection: counts TP_FLAW_CUT if a record or frame was
 * incomplete.
 */
void tcp_seal_check_end(struct tcp_ep *ep);

/* ---- sending (tcp_send.c) ---- */

/* Sends queued frames until the socket is full or the turn is over. */
void tcp_flush(struct tcp_ep *ep);

/* ---- checks that the peer's host and program are alive (tcp_pulse.c) ---- */

#define TCP_PULSE_BEATS 4u /* checks per dead_peer_ms */

struct tcp_info;
void tcp_pulse_init(struct tcp_cq *cq);
/* Handle a PULSE, or an ECHO.  Return 0, or -errno if that broke the ep. */
int tcp_pulse_answer(struct tcp_ep *ep);
int tcp_pulse_handle_echo(struct tcp_ep *ep);
unsigned int tcp_ep_quiet_ms(const struct tp_ep *ep);
/* Returns true if data was sent and the peer has not acknowledged anything for dead_ms. */
bool tcp_pulse_gone(const struct tcp_info *info, unsigned int dead_ms);

/* ---- begin and end of connections (tcp_connect.c) ---- */

int tcp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	       unsigned int len);
int tcp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		unsigned int len, uint64_t deadline);
void tcp_ep_close(struct tp_ep *ep);
/* Adds the socket to the cq. -errno. */
int tcp_ep_attach(struct tcp_ep *ep, int fd, uint32_t mask);
/* Handles ACCEPT or REJECT in state HELLO. */
int tcp_connect_answer(struct tcp_ep *ep, const struct tcp_frame *frame,
		       const uint8_t *payload);

/* ---- receiving (tcp_recv.c) and the operations (tcp_ops.c) ---- */

/* Reads from the socket for one turn. */
void tcp_recv(struct tcp_ep *ep);
/*
 * Handles the begin of a frame; p points to its head, segments and small payload. Returns 0: the
 * cursor rx.land is set to the memory for its data; -EAGAIN: no receive is posted, or a frame
 * SEALED waits for tcp_ep_seal(), so the caller retries later; another -errno: the ep was broken.
 */
int tcp_frame_begin(struct tcp_ep *ep, const struct tcp_frame *frame,
		    const uint8_t *p);
/* Returns whether an end that seals rejects an unsealed frame of this op. */
bool tcp_must_be_sealed(const struct tcp_ep *ep, uint8_t op);
/* Called when all data of the frame is in memory. */
void tcp_frame_end(struct tcp_ep *ep);

/* ---- the accepting side (tcp_listen.c) ---- */

int tcp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	       struct tp_listener **listener);

/* ---- the progress context (tcp_cq.c) ---- */

int tcp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void tcp_cq_close(struct tp_cq *cq);
void tcp_cq_abandon(struct tp_cq *cq);
int tcp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int tcp_cq_wait(struct tp_cq *cq, uint64_t deadline);
int tcp_cq_arm(struct tp_cq *cq);

#endif
