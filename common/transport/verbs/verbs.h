/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - private header of the verbs provider, on libibverbs and librdmacm. Use goes from the
 * end of this list to its start:
 *
 *   port, mr       what the device offers
 *   cq, srq, qp    the queues
 *   ep             a connection: opening, breaking, closing
 *   send, wc       requests on their way to the hardware and back
 *   listen, connect, async, progress
 *                  what happens to connections, and the loop that finds it
 *   dev            the table of operations
 *
 * The caller serialises all calls per cq (transport.h). Functions without a note on locks need no
 * lock of the device.
 *
 * Progress. A cq polls its hardware queue first. Everything rarer (connections, asynchronous
 * events, deadlines, doorbells) arrives through one epoll set. The cq checks the set when it is
 * idle, and from time to time when it is busy.
 *
 * Requests. Each endpoint has a ring of the caller's sends and one of its receives. A request
 * becomes one work request of the hardware, or several if it has more pieces or bytes than the
 * device accepts in one. The work requests are numbered, and a completion retires all requests up
 * to its number.
 *
 * Connections. This provider, not librdmacm, moves the queue pair through its states. So the queue
 * pair lives in this device's own context, and the provider sets its timers and service level.
 *
 * The end. When an endpoint breaks, the provider moves its queue pair to the error state, in which
 * posted requests complete as flushed. Memory may be reused only when the ring is empty or the
 * queue pair is destroyed. If the queue pair uses the shared receive queue, it stays in the error
 * state for a while, so that the receives that it took complete: a device may lose the completions
 * of a queue pair that is destroyed.
 */
#ifndef VERBS_H
#define VERBS_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/transport/provider.h"
#include "common/transport/verbs/verbs_ep.h"

#define VB_FRESH 32u /* recently ended rkeys that are not reused */

struct vb_dev {
	struct tp_dev dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	uint8_t port;
	uint8_t sl; /* 0: chosen by the connection manager */
	uint8_t tos; /* 0: the system default */
	int bulk_sl, bulk_tos; /* for bulk endpoints; -1: same as others */
	bool several; /* one of several devices: uses only its own address, and a shorter timeout */
	char want_gid[RDMA_GID_MAX]; /* "": the best GID */
	struct ibv_gid_entry gid;
	struct sockaddr_storage sa; /* address of the gid; family 0: none */
	unsigned int max_sge;
	/* inline bytes that the device accepted last */
	_Atomic uint32_t inline_try;
	atomic_bool no_windows; /* the device turned out to lack memory windows */
	unsigned int dead_peer_ms;
	unsigned int handshake_ms;
	uint64_t rnr_before;
	bool abandoned;
	/*
	 * Held during calls of the connection manager about an id that may move to another thread,
	 * and while asynchronous events are handled.
	 */
	pthread_mutex_t lock;
	LIST_HEAD(, vb_cq) cqs;
	LIST_HEAD(, vb_mr) mrs;
	uint32_t ended[VB_FRESH]; /* rkeys; under lock */
	unsigned int nended;
};

#define VB_FETCHED 16u

struct vb_cq {
	struct tp_cq cq;
	LIST_ENTRY(vb_cq) link; /* in dev->cqs; under its lock */
	struct ibv_cq *ib;
	struct ibv_comp_channel *chan;
	struct rdma_event_channel *cm;
	int epfd, wakefd, timerfd;
	unsigned int room; /* unused part of the caller's depth */
	unsigned int used; /* entries that the endpoints may need */
	bool armed;
	unsigned int busy; /* polls since the epoll set was last checked */
	uint64_t look_at; /* time of the next check */
	uint64_t timer_at; /* CLOCK_NEVER: none */
	atomic_bool poked; /* an asynchronous event came */
	atomic_int trouble; /* status that breaks all endpoints, or 0 */
	/* completions taken while arming, or before a queue pair is destroyed */
	struct ibv_wc *fetched;
	unsigned int fetched_at, fetched_n, fetched_size;
	struct vb_ep **slot; /* endpoints, indexed by the low bits of their key */
	unsigned int nslots;
	uint32_t generation;
	struct vb_srq *srq; /* NULL: none */
	struct vb_ep *by_qp; /* endpoints with srq, by queue pair number */
	struct vb_bounces bounces;
	TAILQ_HEAD(vb_eps, vb_ep) eps;
	/* endpoints whose peer has disconnected; they break when the completion queue is empty */
	TAILQ_HEAD(, vb_ep) leaving;
	/* broken endpoints whose flushed requests are not all reported */
	TAILQ_HEAD(, vb_ep) flushing;
	struct tp_pendings events;
	TAILQ_HEAD(, vb_remnant) remnants;
};

/* A receive of a shared queue. */
struct vb_place {
	struct vb_recv recv;
	bool posted;
	unsigned int next; /* the next free one */
};

struct vb_srq {
	struct tp_srq srq;
	struct vb_cq *cq;
	struct ibv_srq *ib;
	struct vb_place *place;
	unsigned int max, wrs; /* places; number that the caller requested */
	unsigned int free; /* first free place; max: none */
	atomic_bool is_low; /* set by an asynchronous event */
	struct tp_pending low;
};

struct vb_mr {
	struct tp_mr mr;
	LIST_ENTRY(vb_mr) link;
	bool writable;
	struct ibv_mr *ib;
	int window_access; /* remote rights of the window for TP_OWNED memory, if the device has
			    * windows; else 0 */
	struct ibv_mw *mw; /* the window that an endpoint bound, or NULL */
	LIST_ENTRY(vb_mr) of_ep;
};

/* The descriptors in the epoll set of a cq. */
enum vb_source {
	VB_SRC_DONE,
	VB_SRC_CM,
	VB_SRC_ASYNC,
	VB_SRC_TIMER,
	VB_SRC_WAKE,
	VB_SOURCES
};

static inline struct vb_dev *vb_dev(struct tp_dev *dev)
{
	return container_of(dev, struct vb_dev, dev);
}
static inline struct vb_cq *vb_cq(struct tp_cq *cq)
{
	return container_of(cq, struct vb_cq, cq);
}
static inline struct vb_ep *vb_ep(struct tp_ep *ep)
{
	return container_of(ep, struct vb_ep, ep);
}
static inline const struct log *vb_log(const struct vb_ep *ep)
{
	return ep->ep.dev->log;
}

/* ---- the device (verbs_dev.c) ---- */

int vb_dev_open(const struct tp_dev_attr *attr, struct tp_dev **dev);
void vb_dev_close(struct tp_dev *dev);

/* ---- the port and the addresses of a device (verbs_port.c) ---- */

/* Chooses a port and fills port, port_attr, gid and sa from ctx. -ENODEV: no port is up. */
int vb_port_choose(struct vb_dev *d, unsigned int want);
/* Queries the device. */
bool vb_port_is_up(const struct vb_dev *d);
void vb_port_report(const struct vb_dev *d);
/* Queries port_attr, gid and sa again. False: the chosen GID is gone. */
bool vb_port_requery(struct vb_dev *d);
/* Receiver-not-ready answers that the port counted since it came up. */
uint64_t vb_rnr_count(const struct vb_dev *d);
/*
 * Resolves addr to *sa. If addr is a loopback address, sets *sa to the device's own address, and
 * *local to true. Returns 0; -EHOSTUNREACH: the host has no address.
 */
int vb_resolve(const struct vb_dev *d, const struct log *log,
	       const struct addr *addr, struct sockaddr_storage *sa,
	       bool *local);
/* The device's own address. */
void vb_own_address(const struct vb_dev *d, uint16_t port,
		    struct sockaddr_storage *sa);
bool vb_is_own_address(const struct vb_dev *d, const struct sockaddr *sa);
/* "verbs HOST:PORT"; local: the device's own address is shown as 127.0.0.1. */
void vb_peer_name(const struct vb_dev *d, const struct sockaddr *sa, bool local,
		  char *buf, size_t len);

/* ---- registered memory (verbs_mr.c); any thread ---- */

int vb_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **mr);
void vb_mr_dereg(struct tp_mr *mr);
/* Calls ibv_reg_mr() and logs why it failed. */
struct ibv_mr *vb_mr_pin(struct vb_dev *d, void *addr, size_t len, int access);
/* Whether a receive may use this memory; only to find the cause of a failure. */
bool vb_mr_can_receive(struct vb_dev *d, const struct tp_sge *sge);
bool vb_dev_has_windows(const struct vb_dev *d);
/* The next two functions must run in the thread of the endpoint that bound the window. */
void vb_mr_end_window(struct vb_mr *mr);
/* Ends all windows of the ep. Call it before the queue pair is destroyed. */
void vb_ep_end_windows(struct vb_ep *ep);

void vb_bounces_init(struct vb_bounces *b);
void vb_bounces_close(struct vb_bounces *b);
/* Registered memory of at least len bytes, for vb_bounce_put(). NULL: no memory. */
struct vb_bounce *vb_bounce_get(struct vb_cq *cq, size_t len);
void vb_bounce_put(struct vb_cq *cq, struct vb_bounce *b);

/* ---- the completion queue (verbs_cq.c) ---- */

int vb_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void vb_cq_close(struct tp_cq *cq);
void vb_cq_abandon(struct tp_cq *cq);
int vb_cq_event(struct tp_cq *cq, struct tp_event *ev);
void vb_cq_wake(struct tp_cq *cq);
int vb_cq_fd(struct tp_cq *cq);
/* Enlarges the hardware queue for the completions of an ep. -ENOBUFS: the device has no room. */
int vb_cq_grow(struct vb_cq *cq, unsigned int entries);
/* Makes sure that fetched has completions. False: the hardware has none. */
bool vb_cq_fetch(struct vb_cq *cq);
/*
 * Called before a queue pair is destroyed: moves all completions from the hardware queue to
 * cq->fetched. Without memory, some receives of the queue pair are lost.
 */
void vb_cq_fetch_all(struct vb_cq *cq);
/* Runs the timers (verbs_progress.c) at that time, or earlier. */
void vb_cq_set_timer(struct vb_cq *cq, uint64_t at);
/* Runs the timers at that time, and not earlier. CLOCK_NEVER: never. */
void vb_cq_reset_timer(struct vb_cq *cq, uint64_t at);
/* Destroys the id and the queue pair, and frees rest. */
void vb_remnant_end(struct vb_remnant *rest);

/* ---- the shared receive queue (verbs_srq.c) ---- */

int vb_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		struct tp_srq **srq);
void vb_srq_close(struct tp_srq *srq);
int vb_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr);
int vb_srq_limit(struct tp_srq *srq, unsigned int limit);
/* Removes the receive with this number and returns it. NULL: it is not posted. */
const struct vb_recv *vb_srq_take(struct vb_srq *s, uint32_t number);
/* Queues TP_EV_SRQ_LIMIT if an asynchronous event reported the limit. */
void vb_srq_check_limit(struct vb_srq *s);

/* ---- the queue pair of an endpoint (verbs_qp.c) ---- */

int vb_qp_create(struct vb_ep *ep);
/* Moves the queue pair to the states that receive and send, with the agreed parameters. */
int vb_qp_ready(struct vb_ep *ep);
/* Moves the queue pair to its error state: posted requests complete as flushed. */
void vb_qp_error(struct vb_ep *ep);
void vb_qp_destroy(struct vb_ep *ep);
/* Posts a receive of the ring. */
int vb_qp_post_recv(struct vb_ep *ep, const struct vb_recv *r, uint64_t number);

/* ---- endpoints (verbs_ep.c) ---- */

int vb_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
	       struct tp_ep **ep);
void vb_ep_close(struct tp_ep *ep);
/* Breaks the ep: its requests are flushed, then TP_EV_DISCONNECTED with status follows. */
void vb_ep_break(struct vb_ep *ep, int status);
/* As vb_ep_break(), but the last event is TP_EV_REJECTED. */
void vb_ep_end_rejected(struct vb_ep *ep);
/* Called when the connection is established; a repeated call does nothing. */
void vb_ep_established(struct vb_ep *ep);
/* Queues a broken ep for vb_wc_take_flushed() once the hardware has completed its requests. */
void vb_ep_check_flushed(struct vb_ep *ep);
/* Drops the requests that wait for room in the send queue. */
void vb_ep_drop_waiting(struct vb_ep *ep);
/* Removes the oldest send request from the ring. */
static inline void vb_send_retire(struct vb_ep *ep)
{
	struct vb_send *s = &ep->sends[ep->send_retired % ep->send_size];

	ep->send_retired++;
	if (!s->ours)
		ep->send_user--;
	if (s->bounce)
		vb_bounce_put(ep->cq, s->bounce);
	s->bounce = NULL;
}

/* ---- posted requests (verbs_send.c) ---- */

int vb_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
int vb_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
int vb_mr_only(struct tp_mr *mr, struct tp_ep *ep);
/* Continues requests that waited for room in the send queue. */
void vb_send_continue(struct vb_ep *ep);
void vb_send_heartbeat(struct vb_ep *ep);

/* ---- completions (verbs_wc.c) ---- */

/* Converts up to n completions from the hardware queue. */
int vb_wc_take(struct vb_cq *cq, struct tp_wc *wc, int n);
/* Reports up to n flushed requests of broken endpoints. */
int vb_wc_take_flushed(struct vb_cq *cq, struct tp_wc *wc, int n);

/* ---- listeners and requests (verbs_listen.c) ---- */

int vb_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	      struct tp_listener **listener);
void vb_listener_addr(const struct tp_listener *l, struct addr *addr);
void vb_unlisten(struct tp_listener *listener);
/* Called when a connection request has arrived.  The caller holds the device's lock. */
void vb_listener_request(struct vb_cq *cq, struct rdma_cm_event *event);
/* Frees req, but not its id. */
void vb_req_free(struct vb_req *req);
void vb_reject(struct tp_conn_req *req, const void *priv, unsigned int len);
void vb_frame_fill(struct vb_frame *f, const void *priv, unsigned int len);
/*
 * Copies the other end's private data to *priv.  Returns false if it is not in the format of this
 * provider.
 */
bool vb_frame_read(const struct rdma_conn_param *param,
		   struct tp_private *priv);

/* ---- connection setup (verbs_connect.c) ---- */

int vb_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	      unsigned int len);
int vb_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline);
/* Handles all events of the connection manager. Takes the device's lock. */
void vb_cm_events(struct vb_cq *cq);

/* ---- asynchronous events of the device (verbs_async.c) ---- */

/* Stores the events in the objects concerned and wakes their threads. Takes the device's lock. */
void vb_async_events(struct vb_cq *cq);
/* Breaks the endpoints of cq for which an event is stored. */
void vb_async_apply(struct vb_cq *cq);

/* ---- the loop (verbs_progress.c) ---- */

int vb_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int vb_cq_wait(struct tp_cq *cq, uint64_t deadline);
int vb_cq_arm(struct tp_cq *cq);

#endif
