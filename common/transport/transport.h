/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transport.h - the interface of all transport providers, with the terms and meaning of verbs.
 *
 * A device registers memory. A completion queue (cq) is a progress context. A cq and all endpoints
 * made on it belong to one thread at a time. An endpoint (ep) is a reliable connection. One process
 * may open several devices; this interface has no global state.
 *
 * Providers: verbs, tcp (any host), local (this host), fault (wraps another provider).
 * tests/contract is the specification: every provider passes it unchanged.
 *
 * Threads. Any thread may call tp_mr_reg(), tp_mr_dereg(), tp_dev_registered() and tp_cq_wake().
 * The caller serialises everything else per cq: calls on the cq, its endpoints and its listeners. A
 * struct tp_conn_req may be passed to another thread and accepted on that thread's cq.
 *
 * Functions that can fail return 0 or -errno; the comments list the errors with a special meaning.
 * -EOPNOTSUPP: the provider does not have this operation.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

/* Tables with comments in columns are laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/addr.h"
#include "common/util/log.h"
#include "common/transport/rdma_opt.h"

#define TP_PRIVATE_MAX	48u	/* bytes of private data (rdma_cm: 56) */
#define TP_SGE_MAX	260u	/* gather entries of one work request */
#define TP_SEND_MAX	(4u << 20) /* bytes of one SEND */
#define TP_LEN_MAX	(1u << 30) /* bytes of one WRITE, WRITE_IMM or READ */

struct tp_dev;
struct tp_cq;
struct tp_ep;
struct tp_srq;
struct tp_listener;
struct tp_conn_req;

/*
 * Access rights of registered memory. Local read is implied. TP_REMOTE_WRITE and TP_REMOTE_ATOMIC
 * imply TP_LOCAL_WRITE.
 *
 * TP_VOLATILE, alone or with TP_LOCAL_WRITE: pages may disappear and return while the memory is
 * registered, as in a mapped file that is truncated. Only the kernel accesses such memory for the
 * provider. A missing page therefore fails the request (-EFAULT, or the whole connection) and
 * raises no signal. Each access uses the pages present at that time. A provider that cannot do this
 * (one that pins memory) returns -EOPNOTSUPP.
 *
 * TP_LENT, with remote rights: a peer may stall for long in the middle of an access, and
 * tp_mr_dereg() does not wait for it. A provider whose peers access memory with their own CPU does
 * not let them access this memory.
 *
 * TP_OWNED, with remote rights: the memory is for tp_mr_only(). A provider may reject any remote
 * access before that call.
 */
#define TP_LOCAL_WRITE	 0x1u	/* receives and RDMA Reads land here */
#define TP_REMOTE_READ	 0x2u
#define TP_REMOTE_WRITE	 0x4u
#define TP_REMOTE_ATOMIC 0x8u
#define TP_VOLATILE	 0x10u
#define TP_LENT		 0x20u
#define TP_OWNED	 0x40u

/*
 * Registered memory. The caller owns the memory and must keep it mapped until tp_mr_dereg()
 * returns. After that no peer accesses it, not even with a transfer in flight. An access with the
 * old rkey fails with -EACCES at the accessing side and breaks only that connection. tp_mr_dereg()
 * waits without a bound for a local peer that is stopped during an access. A provider avoids the
 * keys of recently ended registrations (verbs: if the device offers others), but may reuse older
 * ones. Ranges may overlap.
 */
struct tp_mr {
	struct tp_dev *dev;
	void *addr;
	size_t len;
	uint32_t lkey;
	uint32_t rkey;
};

/*
 * The lkey of memory that is not registered. tcp and local permit it in the gather list of a SEND,
 * because their CPU copies the data anyway; so small inline data needs no registration. Other
 * providers return -EINVAL. tp_mr_reg() never returns this key.
 */
#define TP_LKEY_NONE	0u

struct tp_sge {
	void *addr;
	uint32_t len;
	uint32_t lkey;
};

enum tp_opcode {
	TP_SEND,
	TP_WRITE,		/* RDMA Write */
	TP_WRITE_IMM,		/* RDMA Write; consumes a receive at the peer */
	TP_READ,		/* RDMA Read */
	TP_FETCH_ADD,		/* 64-bit, 8-byte aligned remote address */
	TP_CMP_SWAP,
	TP_RECV,		/* completions only */
	TP_RECV_IMM,		/* completions only: the peer's TP_WRITE_IMM */
};

#define TP_SIGNALED	0x1u	/* completes into the cq even on success */

/*
 * A rejected access (wrong or stale rkey, out of range, missing right) changes nothing in the
 * remote memory. One-sided operations of length 0 ignore rkey and remote_addr. Atomics are atomic
 * among all endpoints of the target's device; operand and result are in host order. The peer sees
 * the operations of one ep in posting order: the data of a WRITE is in place when a later SEND or
 * WRITE_IMM completes its receive. A gather list may contain entries of length 0.
 *
 * A send work request. The caller owns sgl and the memory that it names. The memory must not change
 * until the request completes. An unsignaled request is complete when a later signaled one on the
 * same ep completes. The caller may reuse the struct and the sgl array as soon as tp_post_send()
 * returns.
 */
struct tp_send_wr {
	struct tp_send_wr *next;	/* the whole chain is posted and flushed together */
	uint64_t wr_id;
	enum tp_opcode opcode;
	unsigned int flags;		/* TP_SIGNALED */
	const struct tp_sge *sgl;	/* gather list; for READ and atomics: where the result is
					 * placed (atomics: 8 bytes) */
	unsigned int nsge;
	uint32_t imm;			/* WRITE_IMM */
	uint64_t remote_addr;		/* for one-sided operations */
	uint32_t rkey;
	uint64_t compare_add;		/* FETCH_ADD: addend; CMP_SWAP: compare */
	uint64_t swap;			/* CMP_SWAP */
};

/* A receive buffer, posted in advance and consumed in order. Ownership is as for send requests. */
struct tp_recv_wr {
	uint64_t wr_id;
	struct tp_sge sge;
};

/*
 * A completion. Every receive and every signaled send request completes once. An unsignaled send
 * request completes only if it fails. The send requests of an ep complete in posting order, and so
 * do its receives. Sends and receives are not ordered with each other: the answer to a message may
 * complete before the message itself. wr_id, opcode and ep are valid with every status.
 *
 * status:
 * - 0: success
 * - -ECANCELED: flushed after the ep broke or was disconnected
 * - -EACCES: remote access rejected
 * - -EMSGSIZE: the message is longer than the receive (reported at both ends)
 * - -EFAULT: an lkey does not cover its piece
 * - -ECONNRESET, -ETIMEDOUT: the peer is gone
 *
 * Any error breaks the ep. The remaining requests are flushed, and TP_EV_DISCONNECTED with that
 * error follows on this side. The peer's side reports the same error if its provider knows it, else
 * -ECONNRESET.
 *
 * Success of a READ or atomic: the result is in place. Success of a SEND, WRITE or WRITE_IMM: the
 * caller may reuse the memory, but the peer may not have the data yet (iWARP, tcp). A rejection may
 * then follow, only as the status of TP_EV_DISCONNECTED.
 */
struct tp_wc {
	uint64_t wr_id;
	int status;
	enum tp_opcode opcode;
	uint32_t byte_len;	/* RECV, RECV_IMM (bytes written), READ */
	uint32_t imm;		/* RECV_IMM */
	struct tp_ep *ep;	/* NULL: the ep is closed; see tp_srq_open() */
	struct tp_srq *srq;	/* the queue that the receive came from, or NULL: the ep's own */
};

/*
 * Connection events. They are ordered with each other, but not with completions. A receive may
 * complete before ESTABLISHED is reported; it implies ESTABLISHED (tp_post_send() works). Flushed
 * requests may complete after DISCONNECTED. REJECTED or DISCONNECTED is the last event of an ep;
 * the caller then closes the ep.
 */
enum tp_event_type {
	TP_EV_CONNECT_REQUEST,	/* on the listener's cq: accept or reject req */
	TP_EV_ESTABLISHED,	/* both sides; priv: the acceptor's data */
	TP_EV_REJECTED,		/* connector; priv: the acceptor's data */
	TP_EV_DISCONNECTED,	/* status 0: the peer closed its ep or its process ended; else
				 * the cause. No listener: -ECONNREFUSED */
	TP_EV_SRQ_LIMIT,	/* srq has fewer receives left than tp_srq_limit() set */
};
struct tp_event {
	enum tp_event_type type;
	int status;
	struct tp_ep *ep;		/* not for CONNECT_REQUEST, SRQ_LIMIT */
	struct tp_srq *srq;		/* SRQ_LIMIT */
	struct tp_listener *listener;	/* CONNECT_REQUEST */
	struct tp_conn_req *req;	/* CONNECT_REQUEST: owned by the receiver of the event */
	uint8_t priv[TP_PRIVATE_MAX];
	unsigned int priv_len;
};

struct tp_ep_attr {
	/*
	 * A receive is outstanding until its completion is polled. A send request is outstanding
	 * until its own completion, or that of a later signaled request, is polled.
	 */
	unsigned int max_send_wr;	/* outstanding send requests, 0: 256 */
	unsigned int max_recv_wr;	/* outstanding receives, 0: 64 */
	struct tp_srq *srq;		/* on the same cq: the ep uses the receives of srq and
					 * has none of its own */
	void *context;			/* returned by tp_ep_context() */
	bool group;			/* a hint: the caller sends requests on several such eps
					 * together (tp_cq_hold()), and then waits for all the
					 * answers (tp_ep_join()) */
	bool bulk;			/* for bulk data: uses the device's traffic class for
					 * bulk data, if it has one (TP_CLASSES) */
};

struct tp_dev_attr {
	const struct log *log;		/* must outlive the device; NULL: no logging */
	unsigned int dead_peer_ms;	/* a peer silent for this long is gone, 0: 30000 */
	unsigned int handshake_ms;	/* limit for a peer's connect handshake, 0: 5000 */
	unsigned int server_uid;	/* local: also trust servers of this user, not only those
					 * of root and of our own user; a connect to any
					 * other server fails with -EACCES */
	bool probe;			/* local: log no warning about an untrusted server, because
					 * the caller only wants the status */
	const struct rdma_opt *rdma;	/* for RDMA devices; NULL: system defaults; read during
					 * the open only */
	const char *where;		/* "FILE:LINE" of the setting that requests the device,
					 * or NULL */
	unsigned int nth;		/* index among the devices that rdma names, from 0;
					 * -ENOENT: there are fewer */
};

/*
 * Opens the provider that serves the URI scheme name: "tcp" or "local", or "fault+tcp" for the
 * fault provider around tcp (see fault.h). -EPROTONOSUPPORT: no such provider; -ENODEV: the host
 * has no device for it.
 */
int tp_dev_open(const char *name, const struct tp_dev_attr *attr,
		struct tp_dev **dev);
/* Returns whether this build has the provider of the scheme. Does not check the host. */
bool tp_scheme_ok(const char *scheme);
/* The caller must close all objects of the device first. */
void tp_dev_close(struct tp_dev *dev);
/* "tcp", for logs and pvfs-ping. */
const char *tp_dev_name(const struct tp_dev *dev);
/*
 * Returns the name of the device, such as "mlx5_1", if rdma names several (tp_dev_attr.nth);
 * otherwise "". If there are several devices, the connections of a device break immediately when
 * its port goes down, so that the caller can use another one.
 */
const char *tp_dev_unit(const struct tp_dev *dev);
/*
 * Returns true if a registration pins memory. Pinning is slow, so callers should keep the
 * registration of memory that they reuse (pin.h). It also keeps the pages, so the memory may be
 * unmapped before tp_mr_dereg(). Returns false if a registration is only a table entry.
 */
bool tp_dev_pins(const struct tp_dev *dev);
/*
 * How the device serves its endpoints as targets of one-sided operations. TP_ALONE: an adapter, or
 * the kernel in its place, executes them; no process wakes up. TP_ATOMICS: supports atomics.
 * TP_CLASSES: endpoints for bulk data use a network class of their own, as configured.
 */
#define TP_ALONE	0x1u
#define TP_ATOMICS	0x2u
#define TP_CLASSES	0x4u
unsigned int tp_dev_serves(const struct tp_dev *dev);
/* The current number of registrations, and their memory in bytes. */
void tp_dev_registered(const struct tp_dev *dev, unsigned int *mrs,
		       size_t *bytes);

/*
 * Registers len bytes at addr. The caller ends the registration with tp_mr_dereg(). -ENOMEM: the
 * table is full, or the memlock limit is reached; the log says which. -EINVAL: len is 0, access has
 * unknown bits, or TP_VOLATILE with remote rights. -EOPNOTSUPP: the provider does not support
 * TP_VOLATILE.
 */
int tp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **mr);
void tp_mr_dereg(struct tp_mr *mr);
/*
 * Reserves memory that was registered with TP_OWNED for the peer of ep, until the memory is
 * deregistered or ep is closed. Accesses over other connections are rejected like those with a
 * wrong key. Call it before sending the key to anyone, and send the key over ep only. The call may
 * change the key. Over verbs this is a memory window, which the adapter opens before it executes
 * what ep sends next. -EOPNOTSUPP: the adapter has no such windows, and the memory stays open to
 * all peers. -ENOTCONN, -ENOBUFS, -ENOMEM: no peer can access the memory.
 */
int tp_mr_only(struct tp_mr *mr, struct tp_ep *ep);

/*
 * depth is the number of completions that the cq can hold. It limits the sum of max_send_wr and
 * max_recv_wr of all endpoints of the cq. The provider must not allocate memory for all of depth:
 * a server passes 2^30.
 */
int tp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void tp_cq_close(struct tp_cq *cq);
/*
 * In a child after fork(), for the parent's cq: closes the child's descriptors of the cq and of its
 * established connections, but not those of listeners. This does not affect the parent or the
 * peers. Afterwards the child must not call anything on the cq or its objects. Their memory is not
 * freed.
 */
void tp_cq_abandon(struct tp_cq *cq);

/*
 * Sends and receives data, then fills wc with at most n completions and returns their number; never
 * an error. A provider may delay posted requests until this call, so requests that were posted
 * between two polls are sent together.
 */
int tp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
/*
 * Returns 1 and fills *ev, or returns 0: no event. Connections make progress only in tp_cq_poll().
 */
int tp_cq_event(struct tp_cq *cq, struct tp_event *ev);
/*
 * Flushes posted requests. Then sleeps until the cq may have work, until tp_cq_wake(), or until the
 * deadline (clock_now(), ns). Does not sleep if a completion or an event is available, and may
 * return early. Returns 0, or -ETIMEDOUT: the deadline has passed.
 */
int tp_cq_wait(struct tp_cq *cq, uint64_t deadline);
/*
 * Ends the present tp_cq_wait(), or the next one if none is in progress, even if tp_cq_poll() is
 * called in between. Any thread or signal handler may call it.
 */
void tp_cq_wake(struct tp_cq *cq);
/*
 * For a caller with its own event loop. tp_cq_fd() returns a descriptor for poll(2). Before each
 * sleep, the caller calls tp_cq_arm(), which flushes posted requests. If tp_cq_arm() returns 1,
 * there is a completion or an event, and the caller must not sleep. If it returns 0, the descriptor
 * becomes readable when there is work, or after tp_cq_wake(). It may also become readable without
 * work, but does not stay so.
 */
int tp_cq_fd(struct tp_cq *cq);
int tp_cq_arm(struct tp_cq *cq);
/*
 * A hint for requests to several peers. Between tp_cq_hold() and tp_cq_release(), the provider may
 * delay waking the peers, so that it can wake them together at the release. The caller must not
 * wait in between. The calls do not nest.
 */
void tp_cq_hold(struct tp_cq *cq);
void tp_cq_release(struct tp_cq *cq);

/* If addr->port is 0, the system chooses a port; tp_listener_addr() returns it. */
int tp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	      struct tp_listener **listener);
void tp_listener_addr(const struct tp_listener *listener, struct addr *addr);
/* Rejects requests that were not reported yet. Reported requests stay valid. */
void tp_unlisten(struct tp_listener *listener);

/*
 * tp_req_private() returns the connector's private data, of *len bytes. tp_req_peer() returns the
 * connector's address as text: "NAME HOST:PORT" with a numeric host (IPv6 in brackets), or for a
 * program on this host "NAME pid PID uid UID ...", as the kernel reports it. NAME is the transport.
 * Both are valid as long as req.
 */
const void *tp_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *tp_req_peer(const struct tp_conn_req *req);
/*
 * The identity of a peer on this host, as the kernel reports it; the peer cannot choose it. The
 * functions that fill it return 0; -EOPNOTSUPP: the provider cannot know it; -ENOTCONN: there is no
 * peer yet.
 */
struct tp_identity {
	uint32_t uid, gid;	/* effective ids when the peer connected (or listened) */
	int32_t pid;		/* 0: not visible in our pid namespace */
	uint32_t ngroups;	/* all supplementary groups; the array lives as long as */
	const uint32_t *groups;	/* the object that was queried */
};
int tp_req_identity(const struct tp_conn_req *req, struct tp_identity *id);
/*
 * A process keeps some descriptors free (process_limits.h); half of them are a reserve.
 * tp_req_scarce() returns true if only the reserve was left when req arrived. If the caller accepts
 * req then, the connection uses the reserve. While descriptors are scarce, a listener permits fewer
 * half-open requests. When the reserve is used up, connects wait in the backlog.
 */
#define TP_SPARE	512u	/* descriptors that a process with listeners keeps free, but at
				 * most an eighth of all */
#define TP_EACH		5u	/* descriptors of one connection */
bool tp_req_scarce(const struct tp_conn_req *req);
/* Consumes req. len is at most TP_PRIVATE_MAX. */
void tp_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

/*
 * Connecting. The caller creates an endpoint with tp_ep_open(), posts its receives, and then calls
 * either tp_accept() or tp_connect(), once. Both return immediately. TP_EV_ESTABLISHED, REJECTED or
 * DISCONNECTED follows. DISCONNECTED means that the connector of req has gone or, with -ETIMEDOUT,
 * that the connection was not established by the deadline. tp_accept() takes over req, even if it
 * fails. tp_connect() and tp_listen() block only if the host is a name, for as long as the resolver
 * takes.
 *
 * Errors: tp_ep_open(): -ENOBUFS: the depth of the cq is used up. tp_accept(), tp_connect():
 * -EINVAL: the ep was already started, or len is above TP_PRIVATE_MAX. tp_connect(), tp_listen():
 * -EHOSTUNREACH: the host has no address.
 */
int tp_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
	       struct tp_ep **ep);
int tp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	      unsigned int len);
int tp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline);
void tp_ep_hush(struct tp_ep *ep); /* do not log an unknown host in its connect */
/*
 * Frees the endpoint and drops its outstanding requests; those that were not sent yet are lost.
 * After the return, none of its completions or events is reported. The peer gets DISCONNECTED.
 */
void tp_ep_close(struct tp_ep *ep);
void *tp_ep_context(const struct tp_ep *ep);
/* "tcp 127.0.0.1:7000", for logs; lives as long as the ep. */
const char *tp_ep_peer(const struct tp_ep *ep);
/*
 * Returns the ms since the peer last sent something, if nothing is in flight to it. Returns 0 if
 * something is in flight, or if the transport is not a byte stream, whose position could be lost.
 */
unsigned int tp_ep_quiet_ms(const struct tp_ep *ep);

/* Fills *id with the identity of the peer of ep; valid as long as the ep. See tp_req_identity(). */
int tp_ep_identity(const struct tp_ep *ep, struct tp_identity *id);
/*
 * Sends n descriptors to the peer on this host, which gets them from tp_ep_take(), at the latest
 * when a message arrives that is posted later. The caller still owns its descriptors. Only the side
 * that accepted the connection (the server) may call it. Returns 0; -EOPNOTSUPP: the provider
 * cannot send descriptors, or this side connected; -ENOTCONN: the ep is broken; -EAGAIN: the peer
 * has not taken earlier descriptors, so the caller must try again later.
 */
#define TP_PASS_MAX	32u	/* descriptors that wait to be taken */
int tp_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n);
/*
 * Takes up to n descriptors that the peer sent, oldest first. The caller owns them; they are
 * close-on-exec. Returns their number, or -EOPNOTSUPP.
 */
int tp_ep_take(struct tp_ep *ep, int *fd, unsigned int n);
/*
 * Returns the bytes of payload up to which a SEND is the fastest way. A larger payload arrives
 * sooner if the peer fetches it with a READ. UINT32_MAX: this depends only on the costs of
 * registration and of round trips.
 */
uint32_t tp_ep_carry_max(const struct tp_ep *ep);
/*
 * A hint for a caller that needs the answers of several peers, and calls this for each of their
 * endpoints. The next tp_cq_wait() or tp_cq_arm() ignores an arrival on these endpoints until
 * something has arrived on each of them. An endpoint that breaks, or an arrival on an endpoint that
 * was not joined, ends the wait as usual.
 */
void tp_ep_join(struct tp_ep *ep);

/*
 * A shared receive queue: any endpoint made with it may consume its receives. Memory is then
 * bounded by the messages in flight, not by the number of connections. One per cq; close it after
 * its endpoints.
 *
 * A message that finds no receive waits at its sender, which retries while the connection lives.
 * Every consumed receive completes once, with srq set:
 * - with success, and the ep that the message came over
 * - with an error, also if that ep broke in the middle of the message
 * - with -ECANCELED and no ep, if the ep was closed meanwhile
 *
 * Other receives stay posted until tp_srq_close() drops them.
 *
 * max_wr: receives that may be posted at a time, part of the cq's depth; a device may support
 * fewer. -EOPNOTSUPP: the provider has no such queue; -EBUSY: the cq already has one; -ENOBUFS: the
 * cq's depth is used up; -ENOMEM.
 */
int tp_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		struct tp_srq **srq);
void tp_srq_close(struct tp_srq *srq);
void *tp_srq_context(const struct tp_srq *srq);
/* tp_post_recv() into the shared queue.  -ENOBUFS: the queue is full. */
int tp_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr);
/*
 * TP_EV_SRQ_LIMIT is reported once when fewer than limit receives are left. Call this again to get
 * the next report.
 */
int tp_srq_limit(struct tp_srq *srq, unsigned int limit);

/*
 * Posts a receive. -ENOBUFS: max_recv_wr receives are outstanding; -ENOTCONN: the ep is broken;
 * -EINVAL: the lkey does not permit writing the whole buffer (some providers report -EFAULT in a
 * completion instead).
 */
int tp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/*
 * Posts all requests of the chain wr. Consecutive READs, or WRITEs, of a chain may become one
 * transfer. After an error, none is posted:
 * - -ENOBUFS: more than max_send_wr requests would be outstanding.
 * - -ENOTCONN: the ep is not established, or broken.
 * - -EINVAL: a bad opcode, length or nsge; an atomic that is not 8 bytes in one piece at an aligned
 *   remote address; or an lkey that does not cover its piece (some providers report -EFAULT in a
 *   completion instead).
 */
int tp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);

#endif
