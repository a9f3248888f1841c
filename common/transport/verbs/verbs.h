/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs.h - the inside of the verbs provider: libibverbs and librdmacm.
 *
 * Progress.  A cq polls its hardware queue first.  Everything rarer
 * (connections, asynchronous events, deadlines, doorbells) comes through one
 * epoll set, looked at when there is nothing else to do or from time to time.
 *
 * Requests.  A ring per direction remembers what the caller posted; the
 * hardware's work requests are numbered, and a completion retires all up to
 * its number.  One request may need several work requests (more pieces or
 * bytes than the device takes in one).
 *
 * Connections.  The queue pair is moved through its states here, not by
 * librdmacm: so it lives in this device's own context, and timers and service
 * level are ours to set.
 *
 * The end.  Breaking moves the queue pair to its error state; what was posted
 * then comes back flushed.  Only an empty ring, or a destroyed queue pair,
 * gives memory back.  A queue pair that took from the shared receive queue stays
 * a while in its error state: what it had taken comes back meanwhile, and a
 * device may forget completions of a pair that is destroyed.
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

#define VB_FRESH 32u /* ended keys that are not given again */

struct vb_dev {
	struct tp_dev dev;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	uint8_t port;
	uint8_t sl; /* 0: what the connection manager says */
	uint8_t tos; /* 0: the system's */
	int bulk_sl, bulk_tos; /* of endpoints for bulk data; -1: as above */
	bool several; /* there are others: only its own address, and no patience */
	char want_gid[RDMA_GID_MAX]; /* "": the best one */
	struct ibv_gid_entry gid;
	struct sockaddr_storage sa; /* of the gid; family 0: none */
	unsigned int max_sge;
	_Atomic uint32_t inline_try; /* what the device took last */
	atomic_bool no_windows; /* it has turned out */
	unsigned int dead_peer_ms;
	unsigned int handshake_ms;
	uint64_t rnr_before;
	bool abandoned;
	/*
	 * Around each connection manager call that may concern an id which
	 * changes threads, and around asynchronous events.
	 */
	pthread_mutex_t lock;
	LIST_HEAD(, vb_cq) cqs;
	LIST_HEAD(, vb_mr) mrs;
	uint32_t ended[VB_FRESH]; /* rkeys; under lock */
	unsigned int nended;
};

#define VB_HELD 16u

struct vb_cq {
	struct tp_cq cq;
	LIST_ENTRY(vb_cq) link; /* of the device; under its lock */
	struct ibv_cq *ib;
	struct ibv_comp_channel *chan;
	struct rdma_event_channel *cm;
	int epfd, wakefd, timerfd;
	unsigned int room; /* of the caller's depth */
	unsigned int used; /* entries that the endpoints may need */
	bool armed;
	unsigned int busy; /* polls since the last look */
	uint64_t look_at;
	uint64_t timer_at; /* CLOCK_NEVER: none */
	atomic_bool poked; /* an asynchronous event came */
	atomic_int trouble; /* what it means for all endpoints, or 0 */
	struct ibv_wc *held; /* taken while arming, or before a pair's end */
	unsigned int held_at, held_n, held_size;
	struct vb_ep **slot; /* by the low bits of their key */
	unsigned int nslots;
	uint32_t generation;
	struct vb_srq *srq; /* NULL: none */
	struct vb_ep *by_qp; /* those that use it */
	struct vb_bounces bounces;
	TAILQ_HEAD(vb_eps, vb_ep) eps;
	TAILQ_HEAD(, vb_ep) leaving; /* the peer left: break when drained */
	TAILQ_HEAD(, vb_ep) flushing; /* the rest of their rings is due */
	struct tp_pendings events;
	TAILQ_HEAD(, vb_bye) byes;
};

/* A receive of a shared queue. */
struct vb_place {
	struct vb_recv recv;
	bool posted;
	unsigned int next; /* free one */
};

struct vb_srq {
	struct tp_srq srq;
	struct vb_cq *cq;
	struct ibv_srq *ib;
	struct vb_place *place;
	unsigned int max, wrs; /* places; what the caller asked for */
	unsigned int free; /* max: none */
	atomic_bool is_low; /* an asynchronous event said so */
	struct tp_pending low;
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

/* verbs_dev.c, verbs_port.c */
int vb_dev_open(const struct tp_dev_attr *attr, struct tp_dev **dev);
void vb_dev_close(struct tp_dev *dev);
/* Fills port, port_attr, gid, sa from ctx; -ENODEV: no port is up. */
int vb_port_choose(struct vb_dev *d, unsigned int want);
/* Asks the device. */
bool vb_port_is_up(const struct vb_dev *d);
void vb_port_report(const struct vb_dev *d);
/* Reads them again; false if the chosen GID is gone. */
bool vb_port_again(struct vb_dev *d);
/* Receiver-not-ready answers that the port has counted since it is up. */
uint64_t vb_rnr_count(const struct vb_dev *d);

struct vb_mr {
	struct tp_mr mr;
	LIST_ENTRY(vb_mr) link;
	bool writable;
	struct ibv_mr *ib;
	int window_access; /* of TP_OWNED, where the device has windows; else 0 */
	struct ibv_mw *mw; /* bound by an endpoint; or NULL */
	LIST_ENTRY(vb_mr) of_ep;
};

/* verbs_mr.c */
int vb_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **mr);
void vb_mr_dereg(struct tp_mr *mr);
/* ibv_reg_mr(), and why it failed. */
struct ibv_mr *vb_pin(struct vb_dev *d, void *addr, size_t len, int access);

/* verbs_window.c */
bool vb_has_windows(const struct vb_dev *d);
int vb_mr_only(struct tp_mr *mr, struct tp_ep *ep);
void vb_window_end(struct vb_mr *mr);
/* All that were bound by the ep; before its queue pair goes. */
void vb_windows_end(struct vb_ep *ep);

/* Whether a receive may land there: for a failure's cause only. */
bool vb_may_receive(struct vb_dev *d, const struct tp_sge *sge);

/* verbs_bounce.c */
void vb_bounces_init(struct vb_bounces *b);
void vb_bounces_close(struct vb_bounces *b);
/* Registered memory of at least len bytes, NULL: none to be had. */
struct vb_bounce *vb_bounce_get(struct vb_cq *cq, size_t len);
void vb_bounce_put(struct vb_cq *cq, struct vb_bounce *b);

/* verbs_addr.c */
/*
 * The socket address of addr.  A loopback address stands for the device's own:
 * *local says so.  -EHOSTUNREACH: no such host.
 */
int vb_resolve(const struct vb_dev *d, const struct log *log,
	       const struct addr *addr, struct sockaddr_storage *sa,
	       bool *local);
/* The device's own address. */
void vb_own(const struct vb_dev *d, uint16_t port, struct sockaddr_storage *sa);
bool vb_is_own(const struct vb_dev *d, const struct sockaddr *sa);
/* "verbs HOST:PORT"; local: an own address is shown as 127.0.0.1. */
void vb_peer_name(const struct vb_dev *d, const struct sockaddr *sa, bool local,
		  char *buf, size_t len);

/* verbs_cq.c, verbs_sleep.c */
int vb_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void vb_cq_close(struct tp_cq *cq);
void vb_cq_abandon(struct tp_cq *cq);
int vb_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int vb_cq_event(struct tp_cq *cq, struct tp_event *ev);
int vb_cq_wait(struct tp_cq *cq, uint64_t deadline);
void vb_cq_wake(struct tp_cq *cq);
int vb_cq_fd(struct tp_cq *cq);
int vb_cq_arm(struct tp_cq *cq);
/* Makes room for an ep's completions; -ENOBUFS. */
int vb_cq_grow(struct vb_cq *cq, unsigned int entries);
/* Sleeps at most timeout_ms, handles all but the wake; true: woken. */
bool vb_look(struct vb_cq *cq, int timeout_ms);
int vb_sources_open(struct vb_cq *cq);
void vb_sources_close(struct vb_cq *cq);

/* verbs_wc.c */
/* Up to n completions out of the hardware queue. */
int vb_harvest(struct vb_cq *cq, struct tp_wc *wc, int n);
/* Up to n that broken endpoints still owe. */
int vb_flush(struct vb_cq *cq, struct tp_wc *wc, int n);
bool vb_hold(struct vb_cq *cq);
/* Keeps all that is in the hardware queue, before a queue pair is destroyed. */
void vb_stash(struct vb_cq *cq);

/* verbs_srq.c */
int vb_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		struct tp_srq **srq);
void vb_srq_close(struct tp_srq *srq);
int vb_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr);
int vb_srq_limit(struct tp_srq *srq, unsigned int limit);
/* Takes the receive with this number out; NULL: it is not posted. */
const struct vb_recv *vb_srq_take(struct vb_srq *s, uint32_t number);
/* An asynchronous event may have come. */
void vb_srq_look(struct vb_srq *s);

/* verbs_async.c */
void vb_async(struct vb_cq *cq);
void vb_poked(struct vb_cq *cq);

/* verbs_timer.c */
void vb_timer(struct vb_cq *cq, uint64_t at);
void vb_timers_run(struct vb_cq *cq);

/* verbs_cm.c */
void vb_cm_events(struct vb_cq *cq);

/* verbs_bye.c */
/* Takes queue pair and id away from an ep that is closed. */
void vb_leave(struct vb_ep *ep);
void vb_bye_end(struct vb_bye *bye);

/* verbs_listen.c */
int vb_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	      struct tp_listener **listener);
void vb_listener_addr(const struct tp_listener *l, struct addr *addr);
void vb_unlisten(struct tp_listener *listener);
void vb_request(struct vb_cq *cq, struct rdma_cm_event *event);
void vb_req_free(struct vb_req *req);
const void *vb_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *vb_req_peer(const struct tp_conn_req *req);
void vb_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

/* verbs_connect.c */
int vb_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	      unsigned int len);
int vb_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline);
void vb_connect_event(struct vb_ep *ep, struct rdma_cm_event *event);
void vb_established(struct vb_ep *ep);
void vb_frame_fill(struct vb_frame *f, const void *priv, unsigned int len);
/* False: not one of ours. */
bool vb_frame_read(const struct rdma_conn_param *param,
		   struct tp_private *priv);

/* verbs_qp.c */
int vb_qp_create(struct vb_ep *ep);
/* Ready to receive and to send, as the connection manager agreed. */
int vb_qp_ready(struct vb_ep *ep);
void vb_qp_error(struct vb_ep *ep);

/* verbs_ep.c */
int vb_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
	       struct tp_ep **ep);
void vb_ep_close(struct tp_ep *ep);
const char *vb_ep_peer(const struct tp_ep *ep);
/* Ends the ep: flush and TP_EV_DISCONNECTED with status follow. */
void vb_break(struct vb_ep *ep, int status);
/* The same with TP_EV_REJECTED. */
void vb_rejected(struct vb_ep *ep);
/* Hands the ep to vb_flush() once the hardware has nothing of it. */
void vb_flush_check(struct vb_ep *ep);
void vb_qp_destroy(struct vb_ep *ep);
/* Forgets the oldest request. */
void vb_send_retire(struct vb_ep *ep);

/* verbs_post.c, verbs_hw.c */
int vb_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
int vb_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
/* Hands a receive of the ring to the queue pair. */
int vb_recv_hw(struct vb_ep *ep, const struct vb_recv *r, uint64_t number);
/* Requests that waited for room in the send queue go on. */
void vb_push(struct vb_ep *ep);
/* The next request of the ring, as far as there is room; 0, -ENOMEM. */
int vb_send_hw(struct vb_ep *ep, const struct tp_send_wr *wr,
	       struct vb_batch *batch);
void vb_batch_flush(struct vb_ep *ep, struct vb_batch *batch);
void vb_heartbeat(struct vb_ep *ep);
/* At once; -ENOBUFS: no room, or the one before is under way. */
int vb_bind_hw(struct vb_ep *ep, struct ibv_mw *mw,
	       const struct ibv_mw_bind_info *info, uint32_t rkey);
void vb_waiting_free(struct vb_ep *ep);

#endif
