/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local.h - private header of the local provider, which implements transport.h between two
 * processes of one host.
 *
 * Messages go through a ring in shared memory (local_ring.h). The process that posts a one-sided
 * operation executes it with process_vm_readv() or process_vm_writev(), and checks the peer's table
 * of registrations (local_reach.c). If the kernel or the peer's owner forbids that, and for all
 * atomics, the operation goes through the ring and the peer's progress executes it (local_rx.c).
 *
 * Progress. Every poll checks the active endpoints. An endpoint that is not active is asleep, and
 * its peer can see that in shared memory. When the peer has something for it, the peer "rings the
 * bell": it writes to an eventfd (of an acceptor) or one byte to the socket (of a connector). The
 * epoll set of the cq reports this and makes the endpoint active. One wake-up may serve several
 * endpoints (local_group.h). When a cq sleeps, all its endpoints do. So two ends that are awake
 * need no system call, and idle connections cost nothing.
 *
 * Use goes from the end of this list to its start:
 *
 *   active, completions         the lists of the cq that an endpoint is on
 *   group_client, acceptor      what wakes either side
 *   reach                       direct access to memory
 *   ep                          opening, breaking, closing
 *   connect, rx, tx             what happens to connections
 *   cq, dev                     the loop, and the table of operations
 *
 * The caller serialises all calls per cq (transport.h); no function here takes a lock.
 */
#ifndef LOCAL_H
#define LOCAL_H

#include "common/transport/cursor.h"
#include "common/transport/local/meet/local_conn.h"
#include "common/transport/local/memory/local_dev.h"
#include "common/transport/local/shared/local_group.h"
#include "common/transport/local/shared/local_ring.h"
#include "common/transport/sock.h"
#include "common/util/clock.h"

#define LOCAL_IOV 288u /* >= TP_SGE_MAX */

struct local_ep;
TAILQ_HEAD(local_eps, local_ep);

struct local_cq {
	struct sock_cq sock;
	unsigned int polls; /* polls since the epoll set was last checked */
	struct local_eps open; /* endpoints that have a socket */
	struct local_eps active, done;
	unsigned int nactive;
	struct local_group_client {
		/* the wake-up socket of the group; created at the first connect */
		struct local_group_wakeup wakeup;
		unsigned int
			/* wake-ups that were sent since the socket was last emptied */
			unread;
		struct local_group_page *page;
		int page_fd;
		bool holds; /* between tp_cq_hold() and tp_cq_release() */
		bool joined; /* some endpoints are joined for the next sleep */
		/* endpoints with requests posted meanwhile: their peers are woken at the release */
		struct local_eps deferred;
		/* the server of the group that was woken and must wake the others */
		struct local_ep *relay;
		uint64_t relay_until; /* time at which we wake them instead; 0: not checked yet */
	} client;
};

#define LOCAL_BURST (1u << 20) /* bytes that an ep may move in one turn */
#define LOCAL_ASKS 64u /* outstanding READs and atomics through the ring */
#define LOCAL_FEW 2u /* gather entries stored in the request itself */

enum local_state {
	LOCAL_EP_IDLE,
	LOCAL_EP_CONNECTING, /* the listener's queue is full: retry later */
	LOCAL_EP_HELLO, /* CONNECT sent, waiting for the answer */
	LOCAL_EP_UP,
	LOCAL_EP_BROKEN,
};

/* The operations in the ring. */
enum local_op {
	LOCAL_OP_SEND = 1,
	LOCAL_OP_WRITE,
	LOCAL_OP_WRITE_IMM,
	LOCAL_OP_IMM, /* a WRITE_IMM whose data is in place */
	LOCAL_OP_MORE, /* more payload of the message that was begun */
	LOCAL_OP_READ,
	LOCAL_OP_READ_DATA,
	LOCAL_OP_FETCH_ADD, /* payload: the two operands */
	LOCAL_OP_CMP_SWAP,
	LOCAL_OP_OLD, /* payload: the old value */
	LOCAL_OP_END
};

/* How one-sided operations access the peer's memory. */
enum local_reach {
	LOCAL_REACH_UNKNOWN,
	LOCAL_REACH_VM, /* this side copies (direct access) */
	LOCAL_REACH_RING, /* the peer copies */
};

/* A posted send request. */
struct local_swr {
	struct sock_swr r;
	uint64_t remote;
	uint64_t operand[2];
	uint32_t rkey, imm;
	bool begun; /* its first record is in the ring */
	/* the request was sent through the ring, and waits for the answer */
	bool asked;
	struct tp_cursor data; /* what remains to be moved */
	struct tp_sge few[LOCAL_FEW];
	struct tp_sge *more; /* pieces, if there are more than fit into `few` */
};

/*
 * The requests [q.done, next) are in progress: each waits for its answer, or for that of an earlier
 * one. The requests [next, q.tail) are not started.
 */
struct local_sendq {
	struct local_swr *wr;
	struct sock_sendq q;
	uint32_t next;
	uint32_t asks; /* answers outstanding */
	bool stuck; /* no request can continue until the peer acts */
};

/* An answer that this side must still send to the peer. */
struct local_answer {
	uint64_t addr, old;
	uint32_t rkey, id, len, sent;
	bool is_read;
};

/* The message whose further records are still to come. */
struct local_rx {
	uint16_t op;
	uint32_t left, total, imm, id, rkey;
	uint64_t addr; /* where the next payload is written */
};

struct local_ep {
	struct tp_ep ep;
	struct sock_src src;
	struct local_cq *cq;
	enum local_state state;
	int fd;
	enum local_of side; /* this side of the shared memory */
	bool active, is_done; /* is on these lists of the cq */
	bool eof; /* the socket ended */
	bool group; /* tp_ep_attr.group */
	bool joined; /* tp_ep_join() */
	bool deferred; /* is on this list of the cq */
	/* the peer moves data through the ring, so it needs the progress of this side */
	bool peer_uses_ring;
	unsigned int idle; /* consecutive polls without work */
	/* wake-ups that arrived since the socket was last read empty */
	unsigned int bells;
	TAILQ_ENTRY(local_ep)
	active_link, done_link, open_link, deferred_link;
	struct local_shm shm;
	struct local_out out;
	struct local_in in;
	struct local_rx rx;
	struct sock_recvq rq;
	struct local_sendq sq;
	/*
	 * at the acceptor: the eventfd to which the connector writes; the wake-up socket and page
	 * of the connector's group
	 */
	int bell;
	struct local_group_wakeup wakeup;
	struct sock_src bell_src;
	struct local_group_page *page;
	/* descriptors from the acceptor that the caller has not taken yet */
	int passed[TP_PASS_MAX];
	unsigned int npassed;
	int process; /* acceptor: pidfd of the connector's process */
	struct sock_src process_src;
	struct local_answer answer[LOCAL_ASKS]; /* a queue */
	uint32_t answer_head, answer_tail;
	/* direct access */
	enum local_reach reach;
	/* of the peer; a connector does not know the groups */
	struct tp_identity id;
	uint32_t *groups; /* id.groups */
	const struct local_entry *table; /* the peer's table, or NULL */
	struct local_guest *guest; /* NULL: the peer may not access our memory */
	bool same_user; /* the peer had our user id when it connected */
	/* random bytes that the peer reads to test direct access */
	uint8_t nonce[LOCAL_NONCE];
	/* connecting */
	struct sock_timer timer, again;
	uint64_t deadline;
	struct local_name name[LOCAL_NAMES];
	int nnames, name_next;
	struct tp_pending started, ended;
	/* private data of the connect: first ours, then the peer's */
	struct tp_private priv;
	char peer[SOCK_PEER_LEN];
};

static inline struct local_ep *local_ep(struct tp_ep *ep)
{
	return container_of(ep, struct local_ep, ep);
}

static inline struct local_giver local_ep_giver(const struct local_ep *ep)
{
	return local_giver(ep->ep.dev, ep->id.uid);
}

/* ---- which endpoints are polled (local_active.c) ---- */

/* Makes ep active: every poll checks it from now on. Does nothing unless ep is UP. */
void local_ep_activate(struct local_ep *ep);
/* Removes ep from the active ones without a change in shared memory. */
void local_ep_deactivate(struct local_ep *ep);
/*
 * Marks ep as asleep in shared memory, so that the peer rings the bell, and makes ep inactive.
 * Returns false if there is something to do: ep stays active.
 */
bool local_ep_fall_asleep(struct local_ep *ep);
/* Returns whether ep may sleep until the other joined eps have answers: its peer needs no help. */
bool local_ep_answer_may_wait(const struct local_ep *ep);
/* Returns whether the peer has done something, or this side can continue. */
bool local_ep_has_work(struct local_ep *ep);
/* Called after records were published: wakes the peer if it sleeps. */
void local_ep_wake_peer(struct local_ep *ep);

/* ---- completions (local_completions.c) ---- */

/* Puts ep on the list cq->done if it has completions. */
void local_ep_list_completions(struct local_ep *ep);
/* Called when the data of wr was moved, or its answer arrived. Reports in posting order. */
void local_send_complete(struct local_ep *ep, struct local_swr *wr);
/* Completes the oldest outstanding receive. */
void local_recv_complete(struct local_ep *ep, enum tp_opcode opcode, int status,
			 uint32_t len, uint32_t imm);
/* Moves up to n completions of ep to wc. Returns their number. */
int local_completions_take(struct local_ep *ep, struct tp_wc *wc, int n);
/* Completes everything outstanding; see local_ep_break(). */
void local_completions_flush(struct local_ep *ep, int status, uint32_t id);

/* ---- the client of a group of servers (local_group_client.c) ---- */

void local_group_client_init(struct local_cq *cq);
/* Closes the descriptors and unmaps the page. */
void local_group_client_fini(struct local_cq *cq);
/*
 * Sets *wakeup and *page to the descriptors that CONNECT passes to a server of the group; the cq
 * still owns them. Returns false if there are none: then client and server wake each other without
 * the group.
 */
bool local_group_client_share(struct local_cq *cq, int *wakeup, int *page);
/* Called after records were published: wakes the peer, now or at tp_cq_release(). */
void local_ep_notify_peer(struct local_ep *ep);
void local_cq_hold(struct tp_cq *cq);
void local_cq_release(struct tp_cq *cq);
/* Call it when ep ends. */
void local_group_client_forget(struct local_ep *ep);
void local_group_client_join(struct local_ep *ep);
/* Makes the joined servers count down instead of waking us. False: there is something to do. */
bool local_group_client_start_count(struct local_cq *cq);
/* The cq is awake: the servers need not count any more. */
void local_group_client_end_count(struct local_cq *cq);
/* Ends the relay if the server that must wake the others has not done so for LOCAL_RELAY_MS. */
void local_group_client_check_relay(struct local_cq *cq);
/* If the relay server has not yet woken the other servers, wakes them from here. */
void local_group_client_end_relay(struct local_cq *cq);

/* ---- what an acceptor listens to (local_acceptor.c) ---- */

/* Creates the bell. -errno. */
int local_acceptor_open_bell(struct local_ep *ep);
/* Takes over the group that came with CONNECT, if any. -errno. */
int local_acceptor_join_group(struct local_ep *ep, struct local_fds *fds);
/* Closes the bell, of a connector too, and leaves the group. */
void local_acceptor_close_bells(struct local_ep *ep);
/*
 * From now on, ends the connection when the connector's process ends, even if a child of it still
 * has the socket. Does nothing if the kernel has no pidfd.
 */
void local_acceptor_watch_process(struct local_ep *ep);
void local_acceptor_unwatch_process(struct local_ep *ep);

/* ---- direct access to memory (local_reach.c) ---- */

/* If the peer may access our memory directly, tells it the address of the nonce, to test that. */
void local_reach_admit_peer(struct local_ep *ep);
/*
 * Called when the connection ends: the peer can start no new access. Returns true if an access may
 * still be running. Then the device owns the shared memory and the socket until it ends.
 */
bool local_reach_dismiss_peer(struct local_ep *ep);
/* Finds out, once, how to access the peer's memory. */
enum local_reach local_reach(struct local_ep *ep);
/*
 * Copies at most max bytes between our memory and the peer's, for the next request and for those of
 * the same kind after it; advances their data. Returns the bytes copied, above 0; -ECANCELED: the
 * peer has ended the connection; -EACCES: the key does not permit the access; -EFAULT: memory is
 * not mapped; -ESRCH: the peer's process has ended; -EPERM: the kernel no longer permits it.
 */
int64_t local_reach_copy(struct local_ep *ep, uint64_t max);

/* ---- endpoints (local_ep.c) ---- */

int local_ep_open(struct tp_cq *cq, const struct tp_ep_attr *attr,
		  struct tp_ep **ep);
void local_ep_close(struct tp_ep *ep);
int local_ep_identity(const struct tp_ep *ep, struct tp_identity *id);
uint32_t local_ep_carry_max(const struct tp_ep *ep);
void local_ep_join(struct tp_ep *ep);
int local_ep_pass(struct tp_ep *ep, const int *fd, unsigned int n);
int local_ep_take(struct tp_ep *ep, int *fd, unsigned int n);
/* Reads bells and descriptors from the socket. False: too many descriptors, and ep was broken. */
bool local_ep_receive_passed(struct local_ep *ep);
/*
 * Ends the connection without a log line. Completes the send request id (0: none) with status and
 * all other outstanding requests with -ECANCELED, and queues DISCONNECTED with status.
 */
void local_ep_break(struct local_ep *ep, int status, uint32_t id);
/*
 * Called when the peer violates a rule: tells the peer that its request cause (0: none) is the
 * reason, logs why, and calls local_ep_break().
 */
void local_ep_refuse(struct local_ep *ep, int status, uint32_t cause,
		     const char *why);
/* Called when the peer's process has ended; the send request id (0: none) failed because of it. */
void local_ep_lost(struct local_ep *ep, uint32_t id);

/* ---- connecting (local_connect.c) ---- */

int local_accept(struct tp_ep *ep, struct tp_conn_req *req, const void *priv,
		 unsigned int len);
int local_connect(struct tp_ep *ep, const struct addr *addr, const void *priv,
		  unsigned int len, uint64_t deadline);

/* ---- receiving (local_rx.c) and sending (local_tx.c) ---- */

int local_post_recv(struct tp_ep *ep, const struct tp_recv_wr *wr);
/* Consumes records from the ring, up to a burst. False: the ep was broken. */
bool local_rx(struct local_ep *ep);
int local_post_send(struct tp_ep *ep, const struct tp_send_wr *wr);
/*
 * Sends answers and requests until one must wait. bulk: also executes one-sided operations by
 * direct access, at most LOCAL_BURST bytes.
 */
void local_tx(struct local_ep *ep, bool bulk);

/* ---- the progress context (local_cq.c) ---- */

int local_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **cq);
void local_cq_close(struct tp_cq *cq);
void local_cq_abandon(struct tp_cq *cq);
int local_cq_poll(struct tp_cq *cq, struct tp_wc *wc, int n);
int local_cq_wait(struct tp_cq *cq, uint64_t deadline);
int local_cq_arm(struct tp_cq *cq);

#endif
