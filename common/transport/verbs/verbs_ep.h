/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_ep.h - the objects of the verbs provider that belong to a connection. */
#ifndef VERBS_EP_H
#define VERBS_EP_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "common/transport/tp_pending.h"
#include "common/transport/provider.h"

#define VB_SGE 30u /* pieces of one work request, at most */
#define VB_BATCH 16u
#define VB_INLINE 220u /* uses less of mlx5's send queue than VB_SGE pieces */
#define VB_BOUNCE_MAX TP_SEND_MAX
#define VB_CLASSES 11u /* 4 KiB to 4 MiB */
#define VB_NAME 320u
#define VB_CLOSING_MS 2000u /* limit for a disconnect or a flush to complete */

/* The wr_id of a work request: key << 32 | direction | number. */
#define VB_MARK_RECV 0x80000000u
#define VB_MARK_SHARED 0x40000000u /* the number is a place in the vb_srq */
#define VB_NUMBER_MASK 0x3fffffffu
/* The first number is just below the wrap, so that wrong arithmetic fails soon in tests. */
#define VB_NUMBER_FIRST 0xffffffe0u
#define VB_SLOT_BITS 16
#define VB_SLOT_MASK ((1u << VB_SLOT_BITS) - 1)

struct vb_cq;
struct vb_dev;
struct vb_srq;
struct vb_mr;

/* The target of the context pointer of an rdma_cm_id. */
enum vb_kind { VB_EP, VB_REQ, VB_LISTENER, VB_REMNANT };
struct vb_tag {
	enum vb_kind kind;
};

/* Private data with its length, which InfiniBand messages do not preserve. */
struct vb_frame {
	uint8_t magic[2];
	uint8_t version;
	uint8_t len;
	uint8_t data[TP_PRIVATE_MAX];
};

/* Registered memory that sends are copied to, if necessary. */
struct vb_bounce {
	SLIST_ENTRY(vb_bounce) link;
	struct ibv_mr *mr;
	unsigned int class;
	uint8_t *mem;
};
struct vb_bounces {
	SLIST_HEAD(, vb_bounce) spare[VB_CLASSES];
	size_t bytes; /* in spare */
};

struct vb_listener {
	struct tp_listener listener;
	struct vb_tag tag;
	struct vb_cq *cq;
	struct rdma_cm_id *id;
	struct addr addr;
	bool local; /* listens at a loopback address: rejects other hosts */
};

struct vb_req {
	struct tp_conn_req req;
	struct vb_tag tag;
	struct vb_cq *cq; /* the listener's cq */
	struct rdma_cm_id *id;
	struct tp_pending event;
	bool dead; /* the connector is gone */
	/* outstanding RDMA Reads, both directions */
	uint8_t reads_in, reads_out;
	struct tp_private priv;
	char peer[VB_NAME];
};

/*
 * The rest of a closed endpoint, which waits for the peer's disconnect. If qp is set, it also
 * waits, until the deadline, for the receives that the queue pair took from the shared receive
 * queue.
 */
struct vb_remnant {
	TAILQ_ENTRY(vb_remnant) link;
	struct vb_tag tag;
	struct vb_cq *cq;
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	uint64_t deadline;
};

enum vb_state {
	VB_IDLE,
	VB_CONNECTING,
	VB_ACCEPTED, /* accepted by us; not confirmed by the connector */
	VB_OPEN,
	VB_BROKEN,
};

struct vb_recv {
	uint64_t wr_id;
	struct tp_sge sge;
};

struct vb_send {
	uint64_t wr_id;
	uint64_t end; /* number after its last work request */
	enum tp_opcode opcode;
	uint32_t len;
	bool signaled;
	bool ours; /* a heartbeat or a window, not the caller's */
	bool whole; /* all of it was posted to the hardware */
	struct vb_bounce *bounce;
};

/* Work requests to be posted together. */
struct vb_batch {
	unsigned int n, nsge;
	struct ibv_send_wr wr[VB_BATCH];
	struct ibv_sge sge[VB_BATCH * VB_SGE];
};

/* How far a request has been cut into work requests. */
struct vb_cut {
	unsigned int i; /* index of the piece */
	uint32_t off; /* offset in the piece */
	uint64_t done; /* bytes so far */
};

/* A request, or the rest of one, that waits for room in the send queue. */
struct vb_waiting {
	STAILQ_ENTRY(vb_waiting) link;
	struct tp_send_wr wr;
	struct vb_cut cut;
	uint64_t ring; /* its number in the ring of sends */
	struct tp_sge sgl[];
};

struct vb_ep {
	struct tp_ep ep;
	struct vb_tag tag;
	struct vb_cq *cq;
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	enum vb_state state;
	uint32_t key; /* slot and generation; part of every wr_id */
	unsigned int entries; /* reserved in the hardware completion queue */
	uint64_t deadline; /* for connecting or flushing; 0: none */
	uint64_t beat_at;
	uint64_t beat_mark; /* hw_posted at the last beat */
	atomic_int async; /* status from an asynchronous event */
	bool connected; /* a disconnect must be sent */
	bool gone; /* the peer disconnected */
	bool bulk; /* see tp_ep_attr */
	bool is_leaving, is_flushing;

	/*
	 * The ring of sends, indexed by number modulo size; (posted - retired) are outstanding. The
	 * size is not a power of two, so a number must never wrap.
	 */
	struct vb_send *sends;
	unsigned int max_send, send_size;
	uint64_t send_posted, send_retired;
	unsigned int send_user; /* those that belong to the caller */
	bool send_failed; /* the first failure was reported */
	uint64_t hw_posted, hw_done;
	unsigned int hw_size, hw_quiet;
	unsigned int max_inline, max_sge;
	uint64_t bound; /* send_posted after the last window */
	LIST_HEAD(, vb_mr) windows;
	STAILQ_HEAD(, vb_waiting) waiting;

	/* Receives. */
	struct vb_recv *recvs;
	unsigned int max_recv;
	struct vb_srq *srq; /* replaces the ring of receives, or NULL */
	uint32_t qp_num; /* with srq: identifies the ep of a receive */
	UT_hash_handle hh;
	uint64_t recv_posted, recv_retired;

	int status;
	struct tp_pending opened, ended;
	struct tp_private priv;
	struct vb_frame frame; /* private data to send when connecting */
	char peer[VB_NAME];
	TAILQ_ENTRY(vb_ep) link, leave_link, flush_link;
};

/* The wr_id of the ep's work request with this number, without its direction. */
static inline uint64_t vb_wr_id(const struct vb_ep *ep, uint64_t number)
{
	return (uint64_t)ep->key << 32 | (number & VB_NUMBER_MASK);
}

#endif
