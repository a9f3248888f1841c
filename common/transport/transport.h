/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transport.h - the seam: verbs words, verbs meaning.
 *
 * A device registers memory.  A completion queue (cq) is a progress context:
 * it belongs to one thread at a time, as do all endpoints made on it.  An
 * endpoint (ep) is a reliable connection.  Two devices live side by side in
 * one process; nothing here is global.
 *
 * Providers: verbs, tcp (any host), local (this host), fault (wraps another).
 * tests/contract is the specification: every provider passes it unchanged.
 *
 * Threads.  tp_mr_reg(), tp_mr_dereg(), tp_dev_registered() and tp_cq_wake()
 * may be called from any thread.  Everything else on a cq, its endpoints and
 * its listeners needs the caller's own serialisation, per cq.  A struct tp_conn_req may be handed
 * to another thread and accepted on that thread's cq.
 *
 * Errors are negative errno.  An operation that a provider does not have
 * answers -EOPNOTSUPP.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

/* Tables, their comments in columns: laid out by hand. */
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
 * Access rights of registered memory.  Local read is implied, and
 * TP_REMOTE_WRITE and TP_REMOTE_ATOMIC imply TP_LOCAL_WRITE.
 *
 * TP_VOLATILE, with TP_LOCAL_WRITE alone or nothing: pages of the memory may
 * go and come back while it is registered, like those of a mapped file that
 * is truncated.  The provider lets only the kernel touch it, so that a missing
 * page fails the request (-EFAULT, or the connection with it) and raises no
 * signal, and sees at each access the pages that are there then.  A provider
 * that cannot (one that pins memory) answers -EOPNOTSUPP.
 *
 * TP_LENT, with remote rights: a peer may stand still for long in the middle of an
 * access, and tp_mr_dereg() does not wait for it.  A provider whose peers reach
 * into memory with their own processor does not let them here.
 *
 * TP_OWNED, with remote rights: the memory is for tp_mr_only(); what a peer does there
 * before that may be refused.
 */
#define TP_LOCAL_WRITE	 0x1u	/* receives and RDMA Reads land here */
#define TP_REMOTE_READ	 0x2u
#define TP_REMOTE_WRITE	 0x4u
#define TP_REMOTE_ATOMIC 0x8u
#define TP_VOLATILE	 0x10u
#define TP_LENT		 0x20u
#define TP_OWNED	 0x40u

/*
 * Registered memory.  The memory stays the caller's and must stay mapped
 * until tp_mr_dereg() returned: from then on no peer touches it, not even
 * with a transfer that was under way, and an access by its rkey fails with
 * -EACCES on the accessing side and breaks only that connection.  It waits for a
 * peer (of local) that is stopped inside, without a bound.  The keys are not given
 * again to the next registrations.  Ranges may overlap.
 */
struct tp_mr {
	struct tp_dev *dev;
	void *addr;
	size_t len;
	uint32_t lkey;
	uint32_t rkey;
};

/*
 * The lkey of memory that is not registered.  Allowed in the gather list of a
 * SEND where the provider's sends are copied by the CPU anyway (tcp, local):
 * small inline data then needs no registration.  Others answer -EINVAL.
 * tp_mr_reg() never returns it.
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
 * A refused access (wrong or stale rkey, outside of the memory, a missing
 * right) leaves all of the remote memory untouched.  One-sided operations of
 * length 0 look at neither rkey nor remote_addr.  Atomics are atomic among
 * all endpoints of the target's device; operand and result are in host order.
 * The peer sees the operations of one ep in the order of posting: what a WRITE
 * placed is there when a later SEND or WRITE_IMM completes its receive.
 * Entries of length 0 are allowed in a gather list.
 *
 * A send work request.  sgl and the memory it names stay the caller's and
 * unchanged until the request completes (for an unsignaled one: until a
 * later signaled one on the same ep completes); the struct itself and the
 * sgl array may be reused as soon as tp_post_send() returns.
 */
struct tp_send_wr {
	struct tp_send_wr *next;	/* a chain is posted and flushed at once */
	uint64_t wr_id;
	enum tp_opcode opcode;
	unsigned int flags;		/* TP_SIGNALED */
	const struct tp_sge *sgl;	/* gather list; for READ and atomics where
					 * the result lands (atomics: 8 bytes) */
	unsigned int nsge;
	uint32_t imm;			/* WRITE_IMM */
	uint64_t remote_addr;		/* one-sided operations */
	uint32_t rkey;
	uint64_t compare_add;		/* FETCH_ADD: addend; CMP_SWAP: compare */
	uint64_t swap;			/* CMP_SWAP */
};

/* A receive buffer, posted in advance, consumed in order.  Ownership as above. */
struct tp_recv_wr {
	uint64_t wr_id;
	struct tp_sge sge;
};

/*
 * A completion.  Every receive and every signaled send request completes
 * once; an unsignaled one only when it fails.  The send requests of an ep
 * complete in the order of posting, and so do its receives; between the two
 * there is no order: the answer to a message may come before the message's own
 * completion.  wr_id, opcode and ep are valid with every status.
 *
 * status: 0; -ECANCELED: flushed after the ep broke or was disconnected;
 * -EACCES: remote access refused; -EMSGSIZE: message longer than the receive
 * (at both ends); -EFAULT: an lkey that does not cover its piece;
 * -ECONNRESET, -ETIMEDOUT: the peer is gone.  Any error breaks the ep: the
 * rest of its requests is flushed and TP_EV_DISCONNECTED with that error
 * follows on this side, and with an error on the peer's (the same one if its
 * provider knows it, else -ECONNRESET).
 *
 * Success of a READ or atomic: the result is in place.  Success of a SEND,
 * WRITE or WRITE_IMM: its memory is the caller's again; the peer may not have
 * it yet (iWARP, tcp), so that a refusal may come after it, as the status of
 * TP_EV_DISCONNECTED alone.
 */
struct tp_wc {
	uint64_t wr_id;
	int status;
	enum tp_opcode opcode;
	uint32_t byte_len;	/* RECV, RECV_IMM (bytes written), READ */
	uint32_t imm;		/* RECV_IMM */
	struct tp_ep *ep;	/* NULL: closed; see tp_srq_open() */
	struct tp_srq *srq;	/* whose receive it is, or NULL: the ep's own */
};

/*
 * Connection events, in order with each other but not with completions: a
 * receive may complete before ESTABLISHED is seen (which it implies:
 * tp_post_send() works), and flushed requests may complete after
 * DISCONNECTED.  REJECTED and DISCONNECTED are an ep's last event; close it.
 */
enum tp_event_type {
	TP_EV_CONNECT_REQUEST,	/* listener's cq: accept or reject req */
	TP_EV_ESTABLISHED,	/* both sides; priv: the acceptor's data */
	TP_EV_REJECTED,		/* connector; priv: the acceptor's data */
	TP_EV_DISCONNECTED,	/* status: 0: the peer closed its ep (or its
				 * process ended); else why it broke.
				 * Nobody listens: -ECONNREFUSED */
	TP_EV_SRQ_LIMIT,	/* srq has few receives left: tp_srq_limit() */
};
struct tp_event {
	enum tp_event_type type;
	int status;
	struct tp_ep *ep;		/* not for CONNECT_REQUEST, SRQ_LIMIT */
	struct tp_srq *srq;		/* SRQ_LIMIT */
	struct tp_listener *listener;	/* CONNECT_REQUEST */
	struct tp_conn_req *req;	/* CONNECT_REQUEST: now the receiver's */
	uint8_t priv[TP_PRIVATE_MAX];
	unsigned int priv_len;
};

struct tp_ep_attr {
	/*
	 * A receive is outstanding until its completion was polled; a send
	 * request until its own or a later signaled one's was.
	 */
	unsigned int max_send_wr;	/* outstanding send requests, 0: 256 */
	unsigned int max_recv_wr;	/* outstanding receives, 0: 64 */
	struct tp_srq *srq;		/* of the same cq: it takes its receives from
					 * there and has none of its own */
	void *context;			/* tp_ep_context() */
	bool group;			/* one of several that this cq asks at the
					 * same time (tp_cq_hold()) and waits for
					 * together (tp_ep_join()) */
	bool bulk;			/* for bulk data: of the class that the device
					 * has for that, if it has one (TP_CLASSES) */
};

struct tp_dev_attr {
	const struct log *log;		/* outlives the device; NULL: silent */
	unsigned int dead_peer_ms;	/* silence after which a peer is gone, 0: 30000 */
	unsigned int handshake_ms;	/* bound on a peer's connect handshake, 0: 5000 */
	unsigned int server_uid;	/* local: a server of this user is believed,
					 * too, besides root's and one's own; others
					 * end a connect with -EACCES */
	bool probe;			/* local: and without a warning, because
					 * the status is all that is asked for */
	const struct rdma_opt *rdma;	/* of RDMA devices; NULL: as the system
					 * chooses; read during the open only */
	const char *where;		/* "FILE:LINE" that asks for it, or NULL */
	unsigned int nth;		/* of several devices that rdma names, from 0;
					 * -ENOENT: there are fewer */
};

/*
 * Opens the provider that serves the URI scheme name ("tcp", "local";
 * "fault+tcp" is the fault provider around it, see fault.h).
 * -EPROTONOSUPPORT: no such provider; -ENODEV: nothing to run it on.
 */
int tp_dev_open(const char *name, const struct tp_dev_attr *attr,
		struct tp_dev **dev);
/* Whether this build has the provider of a scheme; says nothing of the host. */
bool tp_scheme_ok(const char *scheme);
/* All of the device's objects must be closed. */
void tp_dev_close(struct tp_dev *dev);
/* "tcp", for logs and pvfs-ping. */
const char *tp_dev_name(const struct tp_dev *dev);
/*
 * "mlx5_1": which of the several that were asked for (nth); "": one alone.  Connections
 * of such a device break at once when its port goes down, since there are others.
 */
const char *tp_dev_unit(const struct tp_dev *dev);
/*
 * Whether registering pins memory and takes a while, so that it should be done
 * once for memory that is used again (pin.h); otherwise it is an entry in a
 * table.  Registered memory may then be unmapped before tp_mr_dereg(): the
 * registration keeps the pages that were there.
 */
bool tp_dev_pins(const struct tp_dev *dev);
/*
 * How its endpoints are served as the target of one-sided operations.  TP_ALONE: by an
 * adapter (or the kernel in its place), so that no process wakes up for them.
 * TP_ATOMICS: it has atomics.  TP_CLASSES: its endpoints for bulk data have a class of
 * their own on the network, since that was asked for.
 */
#define TP_ALONE	0x1u
#define TP_ATOMICS	0x2u
#define TP_CLASSES	0x4u
unsigned int tp_dev_serves(const struct tp_dev *dev);
/* How many registrations there are now, and of how much memory. */
void tp_dev_registered(const struct tp_dev *dev, unsigned int *mrs,
		       size_t *bytes);

/*
 * -ENOMEM: table full or memlock (the log says which limit); -EINVAL: no
 * bytes, unknown access bits, or TP_VOLATILE with remote ones; -EOPNOTSUPP:
 * TP_VOLATILE.
 */
int tp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **mr);
void tp_mr_dereg(struct tp_mr *mr);
/*
 * From now on the memory, registered with TP_OWNED, is for the peer of ep alone, until it
 * is deregistered or ep closed: other connections are refused as with a wrong key.
 * Before anybody is told the key, which may be another one then, and by ep alone: over
 * verbs that is a memory window, which the adapter opens before what ep sends next.
 * -EOPNOTSUPP: it stays open to all, for the adapter has no such windows; -ENOTCONN,
 * -ENOBUFS, -ENOMEM: nobody has it.
 */
int tp_mr_only(struct tp_mr *mr, struct tp_ep *ep);

/*
 * depth: completions it can hold; a bound on the sum of max_send_wr and
 * max_recv_wr of its endpoints.  A large one should cost memory only as it is
 * used: a server asks for 2^30.
 */
int tp_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void tp_cq_close(struct tp_cq *cq);
/*
 * In a child after fork(), the parent's cq: closes its descriptors and those
 * of its established connections (a listener's stays), without a word to the peers and without disturbing the
 * parent's copies.  Nothing else may be called on the cq and on what was made
 * on it; the memory stays.
 */
void tp_cq_abandon(struct tp_cq *cq);

/*
 * Moves data, then returns up to n completions (0: none, never an error).
 * Posted requests are handed to the wire here at the latest: requests posted
 * between two polls leave together.
 */
int tp_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
/* 1: *ev filled; 0: none.  tp_cq_poll() is what moves connections forward. */
int tp_cq_event(struct tp_cq *cq, struct tp_event *ev);
/*
 * Sleeps until the cq may have work, tp_cq_wake() was called, or the absolute
 * monotonic deadline (ns; see clock.h) passed.  0, or -ETIMEDOUT.  Flushes
 * posted requests first; never sleeps while a completion or an event can be
 * had.  May return early.
 */
int tp_cq_wait(struct tp_cq *cq, uint64_t deadline);
/*
 * From any thread or signal handler: the present wait returns, else the next
 * one at once (polls in between do not use it up).
 */
void tp_cq_wake(struct tp_cq *cq);
/*
 * For other event loops: a pollable descriptor.  tp_cq_arm() flushes, then
 * answers 1 if there is work now (a completion, an event: do not sleep), or 0:
 * then the descriptor becomes readable when tp_cq_poll() finds work or after
 * tp_cq_wake().  It may be readable without cause, but not for ever.
 */
int tp_cq_fd(struct tp_cq *cq);
int tp_cq_arm(struct tp_cq *cq);
/*
 * What is posted between the two need not be told to peers before the release,
 * which follows without a wait: so that several that sleep may be woken as one.
 * A hint; does not nest.
 */
void tp_cq_hold(struct tp_cq *cq);
void tp_cq_release(struct tp_cq *cq);

/* addr->port 0 chooses one; tp_listener_addr() tells which. */
int tp_listen(struct tp_cq *cq, const struct addr *addr, int backlog,
	      struct tp_listener **listener);
void tp_listener_addr(const struct tp_listener *listener, struct addr *addr);
/* Requests not yet reported are refused; reported ones stay valid. */
void tp_unlisten(struct tp_listener *listener);

/*
 * The connector's private data and a printable address; live with req.  The
 * address is "NAME HOST:PORT", host numeric, an IPv6 one in brackets; or, of
 * a program on this host, "NAME pid PID uid UID ...", as the kernel tells it.
 */
const void *tp_req_private(const struct tp_conn_req *req, unsigned int *len);
const char *tp_req_peer(const struct tp_conn_req *req);
/*
 * Who the other end is, as its kernel says and it cannot choose: for a peer on
 * this host.  0; -EOPNOTSUPP: the provider cannot know; -ENOTCONN: no peer
 * yet.
 */
struct tp_identity {
	uint32_t uid, gid;	/* effective, when it connected (or listened) */
	int32_t pid;		/* 0: not visible from here */
	uint32_t ngroups;	/* supplementary ones, all of them, which live as long */
	const uint32_t *groups;	/* as what was asked */
};
int tp_req_identity(const struct tp_conn_req *req, struct tp_identity *id);
/* Consumes req.  len is at most TP_PRIVATE_MAX. */
void tp_reject(struct tp_conn_req *req, const void *priv, unsigned int len);

/*
 * An endpoint is made idle, given its receives, then started by exactly one
 * of tp_accept() (consumes req, also on error) or tp_connect().  Both return
 * at once; TP_EV_ESTABLISHED, REJECTED or DISCONNECTED follows (the latter
 * also when the connector of req has left).  A connect that is not
 * established by the deadline is DISCONNECTED with -ETIMEDOUT.  Only a host
 * that is a name, not a numeric address, may block in tp_connect() and
 * tp_listen(), for as long as the resolver does; -EHOSTUNREACH: no such host.
 *
 * tp_ep_open(): -ENOBUFS: the cq's depth is used up.  tp_accept(),
 * tp_connect(): -EINVAL: ep already started, or len above TP_PRIVATE_MAX.
 */
int tp_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
	       struct tp_ep **ep);
int tp_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
	      unsigned int len);
int tp_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
	       unsigned int len, uint64_t deadline);
void tp_ep_hush(struct tp_ep *ep); /* its connect logs no unknown host */
/*
 * Frees the endpoint.  Its outstanding requests are dropped and none of its
 * completions or events is reported after the return; the peer sees
 * DISCONNECTED.  What was posted and not yet on the wire is lost.
 */
void tp_ep_close(struct tp_ep *ep);
void *tp_ep_context(const struct tp_ep *ep);
/* "tcp 127.0.0.1:7000", for logs; lives with the ep. */
const char *tp_ep_peer(const struct tp_ep *ep);

/* As tp_req_identity(); lives as long as the ep. */
int tp_ep_identity(const struct tp_ep *ep, struct tp_identity *id);
/*
 * A server on the peer's host gives it n descriptors, which it takes, all that were
 * given before the message that tells of them.  They stay the caller's.  The server is
 * who accepted.  0; -EOPNOTSUPP: not over this provider, or it did not accept;
 * -ENOTCONN; -EAGAIN: the peer has not taken what it was given, later.
 */
#define TP_PASS_MAX	32u	/* descriptors that wait to be taken */
int tp_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n);
/*
 * What the peer gave and was not taken, oldest first, up to n: the caller's now,
 * close-on-exec.  How many, or -EOPNOTSUPP.
 */
int tp_ep_take(struct tp_ep *ep, int *fd, unsigned int n);
/*
 * The most bytes of payload that a SEND should carry here; what is longer
 * arrives sooner when the peer fetches it with a READ.  UINT32_MAX: it never
 * does by itself, registration and round trips decide.
 */
uint32_t tp_ep_carry_max(const struct tp_ep *ep);
/*
 * The next tp_cq_wait() or tp_cq_arm() need not end for what comes over ep
 * before something came over each endpoint that was joined for it; the end of
 * ep, and what comes over others, ends it all the same.  A hint, for who has
 * nothing to do before the last of several peers answered: where each would
 * have to wake us up, only that one does.
 */
void tp_ep_join(struct tp_ep *ep);

/*
 * A shared receive queue: receives that any endpoint made with it may consume,
 * so that their memory is bounded by what comes at a time, not by who is
 * connected.  One a cq; close it after its endpoints.
 *
 * A message that finds no receive waits at its sender, which tries again for as
 * long as the connection lives.  Every receive that was consumed completes once,
 * with srq set: well, and with the ep that it came over; or with an error, also
 * where that ep broke in its middle; or with -ECANCELED and no ep, if that was
 * closed meanwhile.  The others stay posted until tp_srq_close() drops them.
 *
 * max_wr: receives that may be posted at a time, part of the cq's depth; a
 * device may hold less.  -EOPNOTSUPP: the provider has none; -EBUSY: the cq has
 * one; -ENOBUFS: the cq's depth is used up; -ENOMEM.
 */
int tp_srq_open(struct tp_cq *cq, unsigned int max_wr, void *context,
		struct tp_srq **srq);
void tp_srq_close(struct tp_srq *srq);
void *tp_srq_context(const struct tp_srq *srq);
/* As tp_post_recv(); -ENOBUFS: more than it holds. */
int tp_srq_post_recv(struct tp_srq *srq, const struct tp_recv_wr *wr);
/*
 * TP_EV_SRQ_LIMIT comes once when fewer than limit receives are left, and not
 * again until this is called again.
 */
int tp_srq_limit(struct tp_srq *srq, unsigned int limit);

/*
 * -ENOBUFS: more than max_recv_wr; -ENOTCONN: the ep is broken; -EINVAL: the
 * lkey does not cover the buffer for writing (or -EFAULT, in a completion).
 */
int tp_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/*
 * Posts a chain, all or nothing.  -ENOBUFS: more than max_send_wr;
 * -ENOTCONN: not established or broken; -EINVAL: opcode, length, nsge, an
 * atomic that is not 8 bytes in one piece at an aligned remote address, or an
 * lkey that does not cover its piece (or -EFAULT, in a completion).  Within
 * one chain a run of READs, or of WRITEs, may travel as one transfer.
 */
int tp_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);

#endif
