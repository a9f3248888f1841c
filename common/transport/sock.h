/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock.h - what the tcp and the local provider share: the progress context
 * over an epoll set, with its timers and its waker (sock_cq.c, sock_timer.c),
 * the accepting side (sock_listen.c, sock_req.c), what may be registered
 * (sock_mr.c), and the rings of posted requests (sock_wr.c).
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
#include "common/transport/pending.h"
#include "common/transport/provider.h"

#define SOCK_EVENTS 64 /* of one epoll_wait() */
#define SOCK_HALF_OPEN 128u /* handshakes under way, per listener */
#define SOCK_PEER_LEN 320

/* Something in the epoll set. */
struct sock_src {
	void (*ready)(struct sock_src *src, uint32_t events);
};

struct sock_timer {
	TAILQ_ENTRY(sock_timer) link;
	uint64_t at; /* 0: not set */
	void (*fire)(struct sock_timer *timer);
};

struct sock_cq {
	struct tp_cq cq;
	unsigned int room; /* of depth, not yet promised to eps */
	int epfd, wakefd, timerfd;
	bool lost; /* the program has closed epfd: it is no use any more */
	atomic_bool woken; /* sock_cq_wake() not yet seen by a wait */
	atomic_bool asleep; /* a waker has to write to wakefd */
	struct sock_src wake_src, timer_src;
	struct tp_pendings events;
	TAILQ_HEAD(sock_timers, sock_timer) timers; /* first due first */
	TAILQ_HEAD(, sock_listener) listeners; /* that have more to accept */
	int nsaved; /* edges that a look brought */
	struct epoll_event saved[SOCK_EVENTS];
};

/* All zero but for the sock_cq, with which its size bytes begin.  -errno, logged. */
int sock_cq_new(struct tp_dev *dev, unsigned int depth, size_t size,
		struct sock_cq **cq);
/* Descriptors only: also right in the child of a fork(). */
void sock_cq_fini(struct sock_cq *cq);
/* Adds fd, edge-triggered.  -errno. */
int sock_cq_add(struct sock_cq *cq, int fd, struct sock_src *src,
		uint32_t events);
void sock_cq_mod(struct sock_cq *cq, int fd, struct sock_src *src,
		 uint32_t events);
/* Also forgets the edges that were not handled yet. */
void sock_cq_del(struct sock_cq *cq, int fd, struct sock_src *src);
/* What the epoll set has, if it is not lost. */
void sock_cq_look(struct sock_cq *cq, int timeout_ms);
/* Handles it, and lets listeners go on. */
void sock_cq_handle(struct sock_cq *cq);
/* Nothing is left to do.  0: an edge or a wake came; -ETIMEDOUT. */
int sock_cq_sleep(struct sock_cq *cq, uint64_t deadline);
/* The same without the sleep, which is another's: false if a wake came. */
bool sock_cq_may_sleep(struct sock_cq *cq);

static inline void sock_cq_edges(struct sock_cq *cq)
{
	if (cq->nsaved || !TAILQ_EMPTY(&cq->listeners))
		sock_cq_handle(cq);
}

/* An event, an edge, or something to accept. */
static inline bool sock_cq_has_work(const struct sock_cq *cq)
{
	return cq->nsaved || !TAILQ_EMPTY(&cq->events) ||
	       !TAILQ_EMPTY(&cq->listeners);
}

/* Whoever polls does not sleep.  True: it did, as far as was known. */
static inline bool sock_cq_awake(struct sock_cq *cq)
{
	if (!atomic_load_explicit(&cq->asleep, memory_order_relaxed))
		return false;
	atomic_store(&cq->asleep, false);
	return true;
}

/* Of the provider's table. */
int sock_cq_event(struct tp_cq *cq, struct tp_event *ev);
void sock_cq_wake(struct tp_cq *cq);
int sock_cq_fd(struct tp_cq *cq);

int sock_timers_open(struct sock_cq *cq);
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
	bool more; /* on cq->listeners */
	int failed; /* errno of accepting, or 0 */
	int said; /* the newest that was logged */
	uint64_t say_again;
	TAILQ_ENTRY(sock_listener) more_link;
	struct sock_timer retry;
	unsigned int nhalf, nqueued;
	struct sock_reqs half; /* hello awaited; oldest first */
	struct sock_reqs queued; /* events not yet taken */
};

/* A connection that came in and is not accepted yet. */
struct sock_req {
	struct tp_conn_req req;
	const struct sock_accept_ops *ops;
	struct sock_src src;
	struct sock_listener *listener; /* NULL once the event was taken */
	TAILQ_ENTRY(sock_req) link;
	struct sock_timer timer;
	struct tp_pending ev;
	int fd; /* -1: taken over */
	struct tp_private priv;
	char peer[SOCK_PEER_LEN];
};

struct sock_accept_ops {
	/* The listening socket and its port in *addr; -errno, logged. */
	int (*open)(struct tp_dev *dev, struct addr *addr, int backlog);
	/*
	 * Fills in peer and what is the provider's; NULL: no memory, and fd is
	 * closed.
	 */
	struct sock_req *(*req_new)(const struct sock_listener *l, int fd,
				    const struct sockaddr *sa);
	/*
	 * Reads the hello.  1: priv is there; 0: not yet; -errno, and why it is
	 * dropped in *why (NULL: not worth a word).
	 */
	int (*req_read)(struct sock_req *req, const char **why);
	/* Best effort. */
	void (*say_reject)(int fd, const void *priv, unsigned int len);
	/* Closes fd, unless it is -1. */
	void (*req_free)(struct sock_req *req);
	/* Closes the listening socket; NULL: by close(). */
	void (*unlisten)(struct tp_dev *dev, int fd);
	const char *late; /* why a hello may not come */
};

/* "; " and what to do about an error of bind() or listen(), or "". */
const char *sock_listen_fix(int rc);
int sock_listen(struct sock_cq *cq, const struct sock_accept_ops *ops,
		const struct addr *addr, int backlog, unsigned int handshake_ms,
		struct tp_listener **listener);
/* One turn of accepting. */
void sock_listener_more(struct sock_listener *l);
void sock_listener_resume(struct sock_listener *l);

/* Takes fd over. */
void sock_req_new(struct sock_listener *l, int fd, const struct sockaddr *sa);
/* From half open, with nothing said to the peer. */
void sock_req_drop(struct sock_req *req);
/* The event was taken: the listener forgets req. */
void sock_req_taken(struct sock_req *req);
/* Closes fd, if it was not taken over. */
void sock_req_free(struct sock_req *req);
/* 0 if the connector still waits; else why not. */
int sock_req_look(const struct sock_req *req);

/* Of the provider's table. */
void sock_listener_addr(const struct tp_listener *listener, struct addr *addr);
void sock_unlisten(struct tp_listener *listener);
const void *sock_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *sock_req_peer(const struct tp_conn_req *req);
void sock_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

/* ---- registered memory (sock_mr.c) ---- */

/*
 * Keys: generation << 16 | index.  What a slot has next: a stale key stays wrong
 * for a long time.
 */
static inline uint32_t sock_key_next(uint32_t key)
{
	uint32_t gen = key >> 16;

	return (gen >= 0xffff ? 1 : gen + 1) << 16 | (key & 0xffff);
}

#define SOCK_REMOTE_ACCESS (TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)

/*
 * What tp_mr_reg() was asked for; *access: with what it implies.  copies: whether
 * the kernel copies where pages may be gone.  -EINVAL, -EOPNOTSUPP.
 */
int sock_mr_check(const struct tp_dev *dev, const void *addr, size_t len,
		  unsigned int *access, bool (*copies)(void));

/* ---- work requests (sock_wr.c) ---- */

/* A posted send request: how what a provider keeps of it begins. */
struct sock_swr {
	uint64_t wr_id;
	uint32_t len;
	uint32_t id; /* by which the peer names it */
	int16_t status;
	uint8_t opcode;
	bool signaled, done;
};

/*
 * Their ring, of size bytes each: [head, done) completed and not yet polled,
 * [done, tail) outstanding; indices only grow, mask has the power of two.
 */
struct sock_sendq {
	uint32_t max, mask;
	uint32_t head, done, tail;
	uint32_t report; /* of [head, done): to be polled */
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

/* Those before end that are done are reported in the order of posting: a READ
 * holds back what follows it. */
static inline void sock_sends_done(struct sock_sendq *sq, void *ring,
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

/* Moves up to n completions of ep to wc. */
static inline int sock_sends_harvest(struct sock_sendq *sq, void *ring,
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
	uint32_t len, imm; /* received */
	int16_t status;
	uint8_t opcode;
};

/*
 * A ring: [head, done) completed and not yet polled, [done, tail) outstanding;
 * indices only grow, mask has the power of two.
 */
struct sock_recvq {
	struct sock_rwr *wr;
	uint32_t max, mask;
	uint32_t head, done, tail;
	uint64_t rnr; /* times that none was posted */
	bool paused; /* until one is */
};

/* What attr asks for.  -EINVAL; -ENOBUFS: no room in cq. */
int sock_ep_sizes(struct sock_cq *cq, const struct tp_ep_attr *attr,
		  uint32_t *nsend, uint32_t *nrecv);
static inline bool sock_wr_is_atomic(const struct tp_send_wr *wr)
{
	return wr->opcode == TP_FETCH_ADD || wr->opcode == TP_CMP_SWAP;
}

/* Whether the key of the piece gives access to all of it. */
typedef bool (*sock_covers)(struct tp_dev *dev, const struct tp_sge *sge,
			    unsigned int access);
/*
 * Whether the chain wr may be posted on ep, where room requests are free.
 * -EINVAL: it breaks a rule, logged; -ENOBUFS.
 */
int sock_wr_check(const struct tp_ep *ep, const char *peer,
		  const struct tp_send_wr *wr, uint32_t room,
		  sock_covers covers);

/*
 * Both rings, for what sock_ep_sizes() said: that of the send requests, of size
 * bytes each, and rq->wr, which end by free(); NULL: no memory, and none.
 */
void *sock_rings_open(struct sock_sendq *sq, size_t size, uint32_t nsend,
		      struct sock_recvq *rq, uint32_t nrecv);
/*
 * Everything outstanding completes, also what is done but stands behind a request
 * that is not; the first with that id (0: none) gets status, the others
 * -ECANCELED.
 */
void sock_rings_flush(struct sock_sendq *sq, void *ring, size_t size,
		      struct sock_recvq *rq, int status, uint32_t id);
/* -ENOBUFS, -EINVAL; 1: the queue was paused, and goes on. */
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
/* Verbs: receiver not ready.  Ours wait where they are: -EAGAIN. */
int sock_recvq_not_ready(struct sock_recvq *rq, const struct log *log,
			 const char *peer);
/* How often, if it was. */
void sock_recvq_report(const struct sock_recvq *rq, const struct log *log,
		       const char *peer);
/* Completes the oldest outstanding receive. */
void sock_recvq_done(struct sock_recvq *rq, enum tp_opcode opcode, int status,
		     uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. */
int sock_recvq_harvest(struct sock_recvq *rq, struct tp_ep *ep,
		       struct tp_wc *wc, int n);

#endif
