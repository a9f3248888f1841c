/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock.h - the common part of the tcp and local providers: the progress context, which is an epoll
 * set with timers and a waker (sock_cq.c); listeners, and the events of a context (sock_listen.c);
 * checks of registrations and requests, and the rings of posted requests (sock_wr.c).
 */
#ifndef SOCK_H
#define SOCK_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/transport/tp_pending.h"
#include "common/transport/provider.h"

#define SOCK_EVENTS 64 /* events per epoll_wait() */
/* maximum of handshakes in progress, per listener */
#define SOCK_HALF_OPEN 128u
#define SOCK_PEER_LEN 320

/* An event source in the epoll set. */
struct sock_src {
	void (*ready)(struct sock_src *src, uint32_t events);
};

struct sock_timer {
	TAILQ_ENTRY(sock_timer) link;
	/* the time when it fires, in ns (clock.h); 0 if it is not set */
	uint64_t at;
	void (*fire)(struct sock_timer *timer);
};

struct sock_cq {
	struct tp_cq cq;
	unsigned int room; /* part of depth that no ep has reserved */
	int epfd, wakefd, timerfd;
	bool lost; /* the program closed epfd; the cq is unusable */
	/* sock_cq_wake() was called and no wait has seen it yet */
	atomic_bool woken;
	atomic_bool asleep; /* a waker must write to wakefd */
	struct sock_src wake_src, timer_src;
	struct tp_pendings events;
	/* the earliest deadline first */
	TAILQ_HEAD(sock_timers, sock_timer) timers;
	/* listeners that have more connections to accept */
	TAILQ_HEAD(, sock_listener) listeners;
	int nsaved; /* epoll events fetched, not yet handled */
	struct epoll_event saved[SOCK_EVENTS];
};

/*
 * Allocates size zeroed bytes that begin with a struct sock_cq, and opens it. Returns 0 or -errno,
 * which is logged.
 */
int sock_cq_new(struct tp_dev *dev, unsigned int depth, size_t size,
		struct sock_cq **cq);
/* Closes descriptors only, so it is also correct in the child of a fork(). */
void sock_cq_fini(struct sock_cq *cq);
/* Adds fd to the epoll set, edge-triggered. Returns 0 or -errno. */
int sock_cq_add(struct sock_cq *cq, int fd, struct sock_src *src,
		uint32_t events);
void sock_cq_mod(struct sock_cq *cq, int fd, struct sock_src *src,
		 uint32_t events);
/* Also drops fetched events of src that were not handled yet. */
void sock_cq_del(struct sock_cq *cq, int fd, struct sock_src *src);
/* Fetches epoll events, waiting up to timeout_ms. Sets lost on failure. */
void sock_cq_fetch(struct sock_cq *cq, int timeout_ms);
/* Handles the fetched events and lets listeners continue to accept. */
void sock_cq_handle(struct sock_cq *cq);
/* Sleeps. Returns 0 after an event or sock_cq_wake(), and -ETIMEDOUT after the deadline. */
int sock_cq_sleep(struct sock_cq *cq, uint64_t deadline);
/*
 * Prepares the caller's own sleep. Returns false after sock_cq_wake(): the caller must not sleep.
 */
bool sock_cq_may_sleep(struct sock_cq *cq);

static inline void sock_cq_edges(struct sock_cq *cq)
{
	if (cq->nsaved || !TAILQ_EMPTY(&cq->listeners))
		sock_cq_handle(cq);
}

/* Returns whether there is an event, an epoll event to handle, or a connection to accept. */
static inline bool sock_cq_has_work(const struct sock_cq *cq)
{
	return cq->nsaved || !TAILQ_EMPTY(&cq->events) ||
	       !TAILQ_EMPTY(&cq->listeners);
}

/* Marks the cq as awake; called when polling. Returns true if it was marked asleep. */
static inline bool sock_cq_awake(struct sock_cq *cq)
{
	if (!atomic_load_explicit(&cq->asleep, memory_order_relaxed))
		return false;
	atomic_store(&cq->asleep, false);
	return true;
}

/* Operations of the provider's table. */
int sock_cq_event(struct tp_cq *cq, struct tp_event *ev);
void sock_cq_wake(struct tp_cq *cq);
int sock_cq_fd(struct tp_cq *cq);

void sock_timer_set(struct sock_cq *cq, struct sock_timer *timer, uint64_t at);
void sock_timer_clear(struct sock_cq *cq, struct sock_timer *timer);

/* ---- the accepting side ---- */

struct sock_req;
TAILQ_HEAD(sock_reqs, sock_req);

struct sock_listener {
	struct tp_listener listener;
	const struct sock_accept_ops *ops;
	struct sock_src src;
	struct sock_cq *cq;
	int fd;
	struct addr addr;
	unsigned int handshake_ms;
	bool more; /* is on cq->listeners */
	bool scarce; /* tp_req_scarce() at the last accept */
	int failed; /* errno of the last failed accept, or 0 */
	int said; /* the errno that was logged last */
	uint64_t say_again;
	TAILQ_ENTRY(sock_listener) more_link;
	struct sock_timer retry;
	unsigned int nhalf, nqueued;
	struct sock_reqs half; /* waiting for the hello; oldest first */
	struct sock_reqs queued; /* events that the caller has not taken */
};

/* An incoming connection that is not accepted yet. */
struct sock_req {
	struct tp_conn_req req;
	const struct sock_accept_ops *ops;
	struct sock_src src;
	struct sock_listener *listener; /* NULL after the event was taken */
	TAILQ_ENTRY(sock_req) link;
	struct sock_timer timer;
	struct tp_pending ev;
	int fd; /* -1 if an endpoint has taken it over */
	struct tp_private priv;
	uint32_t offers; /* features of the connector, in the format of the provider */
	char peer[SOCK_PEER_LEN];
};

struct sock_accept_ops {
	/* Opens the listening socket and sets its port in *addr. -errno, logged. */
	int (*open)(struct tp_dev *dev, struct addr *addr, int backlog);
	/*
	 * Allocates a request for the accepted socket fd, and sets peer and the provider's fields.
	 * Without memory, closes fd and returns NULL.
	 */
	struct sock_req *(*req_new)(const struct sock_listener *l, int fd,
				    const struct sockaddr *sa);
	/*
	 * Reads the hello of the connector. Returns 1 if it is complete, and priv is set; 0 if it
	 * is incomplete; or -errno: the caller then drops the request and logs *why, unless that is
	 * NULL.
	 */
	int (*req_read)(struct sock_req *req, const char **why);
	/* Sends a rejection, best effort. */
	void (*send_reject)(int fd, const void *priv, unsigned int len);
	/* Closes fd, unless it is -1. */
	void (*req_free)(struct sock_req *req);
	/* Closes the listening socket. If NULL, close() does this. */
	void (*unlisten)(struct tp_dev *dev, int fd);
	const char *late; /* text for a message: why a hello may be missing */
};

/* Message suffix: "; " and the remedy for an error of bind() or listen(), or "". */
const char *sock_listen_fix(int rc);
int sock_listen(struct sock_cq *cq, const struct sock_accept_ops *ops,
		const struct addr *addr, int backlog, unsigned int handshake_ms,
		struct tp_listener **listener);
/* Closes the descriptor of the request, unless it was taken over, and frees the request. */
void sock_req_free(struct sock_req *req);
/*
 * Returns 0 if the connector still waits, otherwise the -errno with which the connector
 * disconnected.
 */
int sock_req_check(const struct sock_req *req);

/* Operations of the provider's table. */
void sock_listener_addr(const struct tp_listener *listener, struct addr *addr);
void sock_unlisten(struct tp_listener *listener);
void sock_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

/* ---- registered memory and work requests (sock_wr.c) ---- */

/*
 * The next key of a table slot: generation << 16 | index. The generation makes a stale key invalid
 * for a long time.
 */
static inline uint32_t sock_key_next(uint32_t key)
{
	uint32_t gen = key >> 16;

	return (gen >= 0xffff ? 1 : gen + 1) << 16 | (key & 0xffff);
}

#define SOCK_REMOTE_ACCESS (TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)

/*
 * Checks the arguments of tp_mr_reg(), and adds the implied rights to *access. copies() returns
 * whether the provider can copy memory whose pages may be missing. Returns 0; -EINVAL if the
 * arguments are invalid; -EOPNOTSUPP with TP_VOLATILE if copies() returns false.
 */
int sock_mr_check(const struct tp_dev *dev, const void *addr, size_t len,
		  unsigned int *access, bool (*copies)(void));

/* A posted send request: the first member of what a provider stores for it. */
struct sock_swr {
	uint64_t wr_id;
	uint32_t len;
	uint32_t id; /* the peer refers to the request by this number */
	int16_t status;
	uint8_t opcode;
	bool signaled, done;
};

/*
 * A ring of send requests, each of size bytes. [head, done): completed, not yet polled. [done,
 * tail): outstanding. Indices only grow; mask is the ring's size, a power of two, minus 1.
 */
struct sock_sendq {
	uint32_t max, mask;
	uint32_t head, done, tail;
	/* number of those in [head, done) that will be polled */
	uint32_t report;
	uint32_t next_id;
};

static inline struct sock_swr *sock_swr_at(const struct sock_sendq *sq,
					   void *ring, size_t size, uint32_t i)
{
	return (void *)((char *)ring + (i & sq->mask) * size);
}

static inline uint32_t sock_next_id(struct sock_sendq *sq)
{
	uint32_t id = sq->next_id++;

	return id ? id : sq->next_id++;
}

/*
 * Completes the finished requests before index end, in posting order. A request after an unfinished
 * READ stays outstanding.
 */
static inline void sock_sends_complete(struct sock_sendq *sq, void *ring,
				       size_t size, uint32_t end)
{
	const struct sock_swr *wr;

	while (sq->done != end) {
		wr = sock_swr_at(sq, ring, size, sq->done);
		if (!wr->done)
			break;
		sq->done++;
		if (wr->signaled)
			sq->report++;
	}
}

/* Moves up to n completions of ep to wc. Returns their number. */
static inline int sock_sends_take(struct sock_sendq *sq, void *ring,
				  size_t size, struct tp_ep *ep,
				  struct tp_wc *wc, int n)
{
	int got = 0;

	while (got < n && sq->report) {
		const struct sock_swr *wr = sock_swr_at(sq, ring, size,
							sq->head++);

		if (!wr->signaled && !wr->status)
			continue;
		sq->report--;
		wc[got++] = (struct tp_wc){
			.wr_id = wr->wr_id,
			.status = wr->status,
			.opcode = wr->opcode,
			.byte_len = wr->opcode == TP_READ ? wr->len : 0,
			.ep = ep,
		};
	}
	return got;
}

/* A posted receive. */
struct sock_rwr {
	uint64_t wr_id;
	struct tp_sge sge;
	/* of the received message: its length and immediate */
	uint32_t len, imm;
	int16_t status;
	uint8_t opcode;
};

/*
 * A ring of receives. [head, done): completed, not yet polled. [done, tail): outstanding. Indices
 * only grow; mask is the ring's size, a power of two, minus 1.
 */
struct sock_recvq {
	struct sock_rwr *wr;
	uint32_t max, mask;
	uint32_t head, done, tail;
	uint64_t rnr; /* messages that found no posted receive */
	bool paused; /* the queue is paused until a receive is posted */
};

/*
 * Sets *nsend and *nrecv to the ring sizes in attr, or to the defaults. Returns 0; -EINVAL if a
 * size is too large; -ENOBUFS if the depth of cq has too little room.
 */
int sock_ep_sizes(struct sock_cq *cq, const struct tp_ep_attr *attr,
		  uint32_t *nsend, uint32_t *nrecv);
static inline bool sock_wr_is_atomic(const struct tp_send_wr *wr)
{
	return wr->opcode == TP_FETCH_ADD || wr->opcode == TP_CMP_SWAP;
}

/* Returns whether the lkey of the piece gives this access to the whole piece. */
typedef bool (*sock_covers)(struct tp_dev *dev, const struct tp_sge *sge,
			    unsigned int access);
/*
 * Checks whether the chain wr may be posted on ep. room is the number of requests that the send
 * queue of ep can still take. peer is for the log. Returns 0; -EINVAL if wr breaks a rule of
 * transport.h, which is logged; -ENOBUFS if wr has more than room requests.
 */
int sock_wr_check(const struct tp_ep *ep, const char *peer,
		  const struct tp_send_wr *wr, uint32_t room,
		  sock_covers covers);

/*
 * Allocates both rings with the sizes from sock_ep_sizes(). Returns the send ring, of size bytes
 * per entry; the receive ring is rq->wr. The caller frees both with free(). Returns NULL if there
 * is no memory; then neither exists.
 */
void *sock_rings_open(struct sock_sendq *sq, size_t size, uint32_t nsend,
		      struct sock_recvq *rq, uint32_t nrecv);
/*
 * Called when an ep breaks: completes all outstanding requests, and finished ones after an
 * unfinished READ. The first request with the given id gets status, and all others get -ECANCELED;
 * id 0 means that no request gets status.
 */
void sock_rings_flush(struct sock_sendq *sq, void *ring, size_t size,
		      struct sock_recvq *rq, int status, uint32_t id);
/*
 * Posts a receive. Returns 0; 1 if the queue was paused, and the caller must continue to read;
 * -ENOBUFS if the ring is full; -EINVAL if the lkey does not cover the buffer.
 */
static inline int sock_recvq_post(struct sock_recvq *rq, struct tp_dev *dev,
				  const struct tp_recv_wr *wr,
				  sock_covers covers)
{
	if (rq->tail - rq->head == rq->max)
		return -ENOBUFS;
	if (!covers(dev, &wr->sge, TP_LOCAL_WRITE))
		return -EINVAL;
	rq->wr[rq->tail++ & rq->mask] = (struct sock_rwr){ .wr_id = wr->wr_id,
							   .sge = wr->sge };
	if (!rq->paused)
		return 0;
	rq->paused = false;
	return 1;
}
/*
 * Called when a message finds no posted receive: pauses the queue and returns -EAGAIN. The message
 * waits in the socket or ring until a receive is posted.
 */
int sock_recvq_not_ready(struct sock_recvq *rq, const struct log *log,
			 const char *peer);
/* If messages have found no posted receive, logs how many. */
void sock_recvq_report(const struct sock_recvq *rq, const struct log *log,
		       const char *peer);
/* Completes the oldest outstanding receive. */
void sock_recvq_complete(struct sock_recvq *rq, enum tp_opcode opcode,
			 int status, uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. Returns their number. */
int sock_recvq_take(struct sock_recvq *rq, struct tp_ep *ep, struct tp_wc *wc,
		    int n);

#endif
