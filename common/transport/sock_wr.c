/* SPDX-License-Identifier: BSD-2-Clause */
/* sock_wr.c - work requests: their checks, their rings, and the checks of registered memory. */
#include <errno.h>
#include <stdlib.h>

#include "common/transport/sock.h"

#define SEND_WR_DEFAULT 256u
#define RECV_WR_DEFAULT 64u
#define WR_MAX 65536u

int sock_ep_sizes(struct sock_cq *cq, const struct tp_ep_attr *attr,
		  uint32_t *nsend, uint32_t *nrecv)
{
	*nsend = attr && attr->max_send_wr ? attr->max_send_wr
					   : SEND_WR_DEFAULT;
	*nrecv = attr && attr->max_recv_wr ? attr->max_recv_wr
					   : RECV_WR_DEFAULT;
	if (*nsend > WR_MAX || *nrecv > WR_MAX)
		return -EINVAL;
	return *nsend + *nrecv > cq->room ? -ENOBUFS : 0;
}

static uint32_t ring_mask(uint32_t max)
{
	uint32_t size = 1;

	while (size < max)
		size *= 2;
	return size - 1;
}

static uint32_t len_max(enum tp_opcode opcode)
{
	return opcode == TP_SEND ? TP_SEND_MAX : TP_LEN_MAX;
}

/* Returns the access right that the pieces of a request need. */
static unsigned int access_of(const struct tp_send_wr *wr)
{
	return wr->opcode == TP_READ || sock_wr_is_atomic(wr) ? TP_LOCAL_WRITE
							      : 0;
}

static const char *shape_flaw(const struct tp_send_wr *wr)
{
	uint64_t len = 0;
	unsigned int i;

	if ((unsigned int)wr->opcode > TP_CMP_SWAP)
		return "opcode";
	if (wr->nsge > TP_SGE_MAX)
		return "too many pieces";
	for (i = 0; i < wr->nsge; i++)
		len += wr->sgl[i].len;
	if (len > len_max(wr->opcode))
		return "too long";
	if (sock_wr_is_atomic(wr) &&
	    (wr->nsge != 1 || len != 8 || wr->remote_addr % 8))
		return "an atomic is 8 aligned bytes in one piece";
	return NULL;
}

/* Returns the rule that the request breaks; NULL: none. */
static const char *wr_flaw(struct tp_dev *dev, const struct tp_send_wr *wr,
			   sock_covers covers)
{
	const char *why = shape_flaw(wr);
	unsigned int i;

	for (i = 0; !why && i < wr->nsge; i++) {
		const struct tp_sge *sge = &wr->sgl[i];

		if (wr->opcode == TP_SEND && sge->lkey == TP_LKEY_NONE)
			continue;
		if (!covers(dev, sge, access_of(wr)))
			why = "lkey does not cover its piece";
	}
	return why;
}

int sock_wr_check(const struct tp_ep *ep, const char *peer,
		  const struct tp_send_wr *wr, uint32_t room,
		  sock_covers covers)
{
	const char *why;

	for (; wr; wr = wr->next) {
		why = wr_flaw(ep->dev, wr, covers);
		if (why) {
			log_error(ep->dev->log, "%s: bad send request: %s",
				  peer, why);
			return -EINVAL;
		}
		if (room-- == 0)
			return -ENOBUFS;
	}
	return 0;
}

void *sock_rings_open(struct sock_sendq *sq, size_t size, uint32_t nsend,
		      struct sock_recvq *rq, uint32_t nrecv)
{
	void *ring;

	sq->max = nsend;
	sq->mask = ring_mask(nsend);
	sq->next_id = 1;
	rq->max = nrecv;
	rq->mask = ring_mask(nrecv);
	rq->wr = malloc((rq->mask + 1) * sizeof(*rq->wr));
	ring = rq->wr ? malloc((sq->mask + 1) * size) : NULL;
	if (!ring) {
		free(rq->wr);
		rq->wr = NULL;
	}
	return ring;
}

void sock_rings_flush(struct sock_sendq *sq, void *ring, size_t size,
		      struct sock_recvq *rq, int status, uint32_t id)
{
	for (; sq->done != sq->tail; sq->done++, sq->report++) {
		struct sock_swr *wr = sock_swr_at(sq, ring, size, sq->done);

		wr->status = -ECANCELED;
		if (id && wr->id == id) {
			wr->status = (int16_t)status;
			id = 0;
		}
	}
	while (rq->done != rq->tail)
		sock_recvq_complete(rq, TP_RECV, -ECANCELED, 0, 0);
}

int sock_recvq_not_ready(struct sock_recvq *rq, const struct log *log,
			 const char *peer)
{
	if (rq->rnr++ == 0)
		log_warn(log,
			 "%s: a message found no posted receive; the sender has "
			 "fewer credits than it thinks",
			 peer);
	rq->paused = true;
	return -EAGAIN;
}

void sock_recvq_report(const struct sock_recvq *rq, const struct log *log,
		       const char *peer)
{
	if (rq->rnr)
		log_info(log, "%s: not ready to receive: %llu times", peer,
			 (unsigned long long)rq->rnr);
}

void sock_recvq_complete(struct sock_recvq *rq, enum tp_opcode opcode,
			 int status, uint32_t len, uint32_t imm)
{
	struct sock_rwr *wr = &rq->wr[rq->done++ & rq->mask];

	wr->opcode = (uint8_t)opcode;
	wr->status = (int16_t)status;
	wr->len = len;
	wr->imm = imm;
}

int sock_recvq_take(struct sock_recvq *rq, struct tp_ep *ep, struct tp_wc *wc,
		    int n)
{
	int got = 0;

	while (got < n && rq->head != rq->done) {
		const struct sock_rwr *wr = &rq->wr[rq->head++ & rq->mask];

		wc[got++] = (struct tp_wc){
			.wr_id = wr->wr_id,
			.status = wr->status,
			.opcode = wr->opcode,
			.byte_len = wr->len,
			.imm = wr->imm,
			.ep = ep,
		};
	}
	return got;
}

#define KNOWN_ACCESS                                                           \
	(TP_LOCAL_WRITE | TP_VOLATILE | TP_LENT | TP_OWNED | SOCK_REMOTE_ACCESS)

static int check_volatile(const struct tp_dev *dev, unsigned int access,
			  bool (*copies)(void))
{
	if (access & SOCK_REMOTE_ACCESS)
		return -EINVAL;
	if (copies())
		return 0;
	log_debug(dev->log,
		  "%s: process_vm_writev() is not permitted here: files are not "
		  "received directly into their mappings",
		  dev->ops->name);
	return -EOPNOTSUPP;
}

int sock_mr_check(const struct tp_dev *dev, const void *addr, size_t len,
		  unsigned int *access, bool (*copies)(void))
{
	if (len == 0 || (uintptr_t)addr > UINTPTR_MAX - len ||
	    *access & ~KNOWN_ACCESS)
		return -EINVAL;
	if (*access & (TP_REMOTE_WRITE | TP_REMOTE_ATOMIC))
		*access |= TP_LOCAL_WRITE;
	return *access & TP_VOLATILE ? check_volatile(dev, *access, copies) : 0;
}
