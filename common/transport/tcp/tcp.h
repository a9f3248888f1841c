/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp.h - the inside of the tcp provider: verbs meaning over a socket.
 *
 * Progress.  A cq owns an epoll set of edge-triggered sources.  An edge makes
 * its endpoint "ready" (to be read, on cq->ready) until a short read; posting
 * makes it "dirty" (to be flushed, on cq->dirty) until all is sent or the
 * socket is full.  What completes puts it on cq->done, from where
 * tp_cq_poll() harvests.  Completions live in the rings of the requests, so
 * that no queue can overflow.
 *
 * Remote access to memory.  See tcp_mr.c: an access takes a use of the
 * registration for the duration of one system call at most.
 */
#ifndef TCP_H
#define TCP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "clock.h"
#include "provider.h"
#include "tcp_frame.h"

#define TCP_IOV_MAX 1024 /* of one system call (kernel: UIO_MAXIOV) */
#define TCP_STAGE 8192u /* bytes read ahead, per endpoint */
#define TCP_BURST (1u << 20) /* bytes an ep may move in one turn */
#define TCP_EVENTS 64 /* of one epoll_wait() */
#define TCP_HALF_OPEN 128u /* handshakes under way, per listener */
#define TCP_PEER_LEN 80

#define container_of(ptr, type, member)                                        \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* ---- memory (tcp_mr.c) ---- */

struct tcp_mr {
	struct tp_mr mr;
	_Atomic uint32_t key; /* 0: not registered */
	_Atomic uint32_t uses; /* accesses under way */
	uint32_t access;
	uint32_t next; /* index of the next free one */
} __attribute__((aligned(64)));

#define TCP_MR_CHUNK 256u
#define TCP_MR_MAX 65536u

struct tcp_mrs {
	pthread_mutex_t lock; /* next_free, last_free, made */
	uint32_t next_free, last_free; /* a queue; TCP_MR_MAX: empty */
	uint32_t made;
	_Atomic(struct tcp_mr *) chunk[TCP_MR_MAX / TCP_MR_CHUNK];
};

struct tcp_dev {
	struct tp_dev dev;
	unsigned int dead_peer_ms;
	unsigned int handshake_ms;
	struct tcp_mrs mrs;
};

int tcp_mrs_init(struct tcp_mrs *mrs);
void tcp_mrs_destroy(struct tcp_mrs *mrs);
int tcp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	       struct tp_mr **mr);
void tcp_mr_dereg(struct tp_mr *mr);
/* True: key names memory that covers [addr, addr + len) with these rights.
 * len 0 is always true. */
bool tcp_mr_covers(struct tcp_dev *dev, uint32_t key, uint64_t addr,
		   uint64_t len, unsigned int access);
/*
 * Takes a use of the memory behind each of n pieces, which was checked with
 * tcp_mr_covers(): it stays registered until tcp_unhold().  held has room for
 * n.  Returns how many uses were taken, or -EACCES (none): deregistered
 * meanwhile.
 */
int tcp_hold(struct tcp_dev *dev, const struct tp_sge *sge, unsigned int n,
	     struct tcp_mr **held);
void tcp_unhold(struct tcp_mr **held, int n);

/* ---- a position in a list of pieces (tcp_cursor.c) ---- */

struct tcp_cursor {
	const struct tp_sge *sge;
	unsigned int n; /* pieces from sge on */
	uint32_t off; /* into the first */
	uint64_t left; /* bytes to the end */
};
void tcp_cursor_set(struct tcp_cursor *c, const struct tp_sge *sge,
		    unsigned int n, uint64_t len);
/* Fills at most max entries with at most *bytes, which becomes what they
 * cover; returns how many. */
unsigned int tcp_cursor_iov(const struct tcp_cursor *c, struct iovec *iov,
			    unsigned int max, uint64_t *bytes);
/* n is at most left. */
void tcp_cursor_move(struct tcp_cursor *c, uint64_t n);
/* Appends a piece, joined with the last where it continues it; lens > 0. */
unsigned int tcp_sge_add(struct tp_sge *sge, unsigned int n,
			 const struct tp_sge *piece);

/* ---- progress (tcp_cq.c, tcp_timer.c) ---- */

/* Something in the epoll set. */
struct tcp_src {
	void (*ready)(struct tcp_src *src, uint32_t events);
};

struct tcp_timer {
	TAILQ_ENTRY(tcp_timer) link;
	uint64_t at; /* 0: not set */
	void (*fire)(struct tcp_timer *timer);
};

/* A pending connection event. */
struct tcp_event {
	TAILQ_ENTRY(tcp_event) link;
	enum tp_event_type type;
	bool queued;
	int status;
	struct tcp_ep *ep; /* or */
	struct tcp_req *req;
};

struct tcp_ep;
struct tcp_req;
struct tcp_tx;
TAILQ_HEAD(tcp_eps, tcp_ep);
STAILQ_HEAD(tcp_txs, tcp_tx);

struct tcp_cq {
	struct tp_cq cq;
	unsigned int room; /* of depth, not yet promised to eps */
	int epfd, wakefd, timerfd;
	atomic_bool woken; /* tp_cq_wake() not yet seen by a wait */
	atomic_bool asleep; /* a waker has to write to wakefd */
	unsigned int lazy; /* polls that need not look at the epoll
					 * set, because a wait just did */
	struct tcp_src wake_src, timer_src;
	struct tcp_eps dirty, ready, done;
	TAILQ_HEAD(, tcp_event) events;
	TAILQ_HEAD(tcp_timers, tcp_timer) timers;
	TAILQ_HEAD(, tcp_listener) listeners; /* that have more to accept */
	int nsaved; /* edges that a wait brought */
	struct epoll_event saved[TCP_EVENTS];
	struct tcp_eps up; /* connected: looked at by pulse */
	struct tcp_timer pulse;
	struct tcp_txs spare; /* small frames, for reuse */
	unsigned int nspare;
	/* scratch of one call */
	struct iovec iov[TCP_IOV_MAX];
	struct tcp_mr *held[TCP_IOV_MAX];
};

int tcp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void tcp_cq_close(struct tp_cq *cq);
void tcp_cq_abandon(struct tp_cq *cq);
int tcp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int tcp_cq_event(struct tp_cq *cq, struct tp_event *ev);
int tcp_cq_wait(struct tp_cq *cq, uint64_t deadline);
void tcp_cq_wake(struct tp_cq *cq);
int tcp_cq_fd(struct tp_cq *cq);
int tcp_cq_arm(struct tp_cq *cq);

/* Adds fd, edge-triggered.  -errno. */
int tcp_cq_add(struct tcp_cq *cq, int fd, struct tcp_src *src, uint32_t events);
void tcp_cq_mod(struct tcp_cq *cq, int fd, struct tcp_src *src,
		uint32_t events);
/* Also forgets the edges that were not handled yet. */
void tcp_cq_del(struct tcp_cq *cq, int fd, struct tcp_src *src);
void tcp_event_queue(struct tcp_cq *cq, struct tcp_event *ev,
		     enum tp_event_type type, int status);
void tcp_event_drop(struct tcp_cq *cq, struct tcp_event *ev);

int tcp_timers_open(struct tcp_cq *cq);
void tcp_timers_close(struct tcp_cq *cq);
void tcp_timer_set(struct tcp_cq *cq, struct tcp_timer *timer, uint64_t at);
void tcp_timer_clear(struct tcp_cq *cq, struct tcp_timer *timer);

/* ---- sockets (tcp_sock.c) ---- */

struct addrinfo;
/* Numeric first; a name may block in the resolver.  -EHOSTUNREACH. */
int tcp_resolve(const struct tp_dev *dev, const struct addr *addr, bool passive,
		struct addrinfo **list);
void tcp_sock_tune(const struct tcp_dev *dev, int fd);
void tcp_sock_name(const struct sockaddr *sa, char *buf, size_t len);
/* Its close() will be an error for the peer, not an orderly end. */
void tcp_sock_reset_on_close(int fd);
/* Sends one frame with a hello, best effort. */
void tcp_sock_hello(int fd, enum tcp_op op, const void *priv, unsigned int len);

/* ---- connections waiting to be accepted (tcp_listen.c, tcp_req.c) ---- */

TAILQ_HEAD(tcp_reqs, tcp_req);

struct tcp_listener {
	struct tp_listener listener;
	struct tcp_src src;
	struct tcp_cq *cq;
	int fd;
	struct addr addr;
	bool more; /* on cq->listeners */
	bool starved; /* of descriptors; said so once */
	TAILQ_ENTRY(tcp_listener) more_link;
	struct tcp_timer retry;
	unsigned int nhalf, nqueued;
	struct tcp_reqs half; /* hello awaited; oldest first */
	struct tcp_reqs queued; /* events not yet taken */
};

struct tcp_req {
	struct tp_conn_req req;
	struct tcp_src src;
	struct tcp_listener *listener; /* NULL once the event was taken */
	TAILQ_ENTRY(tcp_req) link;
	struct tcp_timer timer;
	struct tcp_event ev;
	int fd;
	unsigned int have;
	uint8_t buf[TCP_HEAD_LEN + TCP_SMALL_MAX];
	struct tcp_hello hello;
	char peer[TCP_PEER_LEN];
};

int tcp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	       struct tp_listener **listener);
void tcp_listener_addr(const struct tp_listener *listener, struct addr *addr);
void tcp_unlisten(struct tp_listener *listener);
/* One turn of accepting. */
void tcp_listener_more(struct tcp_listener *l);
void tcp_listener_wait(struct tcp_listener *l);
void tcp_listener_resume(struct tcp_listener *l);

/* Takes fd over. */
void tcp_req_new(struct tcp_listener *l, int fd, const struct sockaddr *sa);
/* From half open, with nothing said to the peer. */
void tcp_req_drop(struct tcp_req *req);
/* The event was taken: the listener forgets req. */
void tcp_req_taken(struct tcp_req *req);
void tcp_req_free(struct tcp_req *req);
const void *tcp_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *tcp_req_peer(const struct tp_conn_req *req);
void tcp_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

/* ---- endpoints (tcp_ep.c, tcp_connect.c) ---- */

enum tcp_state {
	TCP_EP_IDLE,
	TCP_EP_CONNECTING, /* the socket is */
	TCP_EP_HELLO, /* CONNECT sent, answer awaited */
	TCP_EP_UP,
	TCP_EP_BROKEN,
};

/* A posted send request. */
struct tcp_swr {
	uint64_t wr_id;
	uint32_t len;
	uint32_t id; /* of the frame that carries it */
	int16_t status;
	uint8_t opcode;
	bool signaled;
	bool done;
};

/* A posted receive. */
struct tcp_rwr {
	uint64_t wr_id;
	struct tp_sge sge;
	uint32_t len, imm; /* received */
	int16_t status;
	uint8_t opcode;
};

/*
 * Rings of requests: [head, done) completed and not yet polled, [done, tail)
 * outstanding; indices only grow, mask has the power of two.
 */
struct tcp_sendq {
	struct tcp_swr *wr;
	uint32_t max, mask;
	uint32_t head, done, tail;
	uint32_t report; /* of [head, done): to be polled */
	uint32_t next_id;
	struct tcp_txs wait; /* posted, not committed */
	struct tcp_txs out; /* committed: sent in this order */
	struct tcp_txs reads; /* sent, answer awaited */
	unsigned int nreads;
	unsigned int nanswers; /* to the peer's, in out */
	bool full; /* the socket: wait for EPOLLOUT */
};

struct tcp_recvq {
	struct tcp_rwr *wr;
	uint32_t max, mask;
	uint32_t head, done, tail;
	uint64_t rnr; /* times that none was posted */
	bool paused; /* until one is */
};

/* Where the receive state machine stands. */
struct tcp_rx {
	uint8_t *stage; /* TCP_STAGE bytes; [at, end) are valid */
	uint32_t at, end;
	bool readable; /* since the last edge */
	bool hup; /* no more edges: read to the end */
	bool error; /* the socket has one */
	bool landing; /* in the payload of frame */
	struct tcp_frame frame;
	struct tcp_cursor land;
	struct tp_sge *seg; /* targets of a WRITE; grows to
					 * TCP_SEG_MAX */
	unsigned int seg_cap;
};

struct tcp_ep {
	struct tp_ep ep;
	struct tcp_src src;
	struct tcp_cq *cq;
	enum tcp_state state;
	int fd;
	uint32_t mask; /* in the epoll set */
	bool dirty, ready, done; /* on which lists of the cq */
	bool up;
	TAILQ_ENTRY(tcp_ep) dirty_link, ready_link, done_link, up_link;
	int lost; /* why sending failed: read the rest,
					 * then break */
	struct tcp_rx rx;
	struct tcp_recvq rq;
	struct tcp_sendq sq;
	struct tcp_timer timer; /* connect deadline */
	struct addrinfo *addrs, *addr_next;
	struct tcp_event started, ended;
	unsigned int priv_len;
	uint8_t priv[TP_PRIVATE_MAX];
	char peer[TCP_PEER_LEN];
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
int tcp_rx_refuse(struct tcp_ep *ep, int status, const char *why);
/* The same with a log line; the oldest send request gets status. */
void tcp_ep_lost(struct tcp_ep *ep, int status);
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

/* Is the peer's host still there (tcp_pulse.c)? */
struct tcp_info;
void tcp_pulse_init(struct tcp_cq *cq);
void tcp_pulse_join(struct tcp_ep *ep);
void tcp_pulse_leave(struct tcp_ep *ep);
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
	struct tcp_cursor data;
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
