/* SPDX-License-Identifier: BSD-2-Clause */
/* sock_wr.c - work requests: what may be posted, and the ring of receives. */
#include <errno.h>
#include <stdlib.h>

#include "sock.h"

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

uint32_t sock_ring_mask(uint32_t max)
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

unsigned int sock_wr_access(const struct tp_send_wr *wr)
{
	return wr->opcode == TP_READ || sock_wr_is_atomic(wr) ? TP_LOCAL_WRITE
							      : 0;
}

const char *sock_wr_flaw(const struct tp_send_wr *wr)
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

int sock_recvq_open(struct sock_recvq *rq, uint32_t max)
{
	rq->max = max;
	rq->mask = sock_ring_mask(max);
	rq->wr = malloc((rq->mask + 1) * sizeof(*rq->wr));
	return rq->wr ? 0 : -ENOMEM;
}

int sock_recvq_not_ready(struct sock_recvq *rq, const struct log *log,
			 const char *peer)
{
	if (rq->rnr++ == 0)
		log_warn(log,
			 "%s: a message and no posted receive; the sender has "
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

void sock_recvq_done(struct sock_recvq *rq, enum tp_opcode opcode, int status,
		     uint32_t len, uint32_t imm)
{
	struct sock_rwr *wr = &rq->wr[rq->done++ & rq->mask];

	wr->opcode = (uint8_t)opcode;
	wr->status = (int16_t)status;
	wr->len = len;
	wr->imm = imm;
}

int sock_recvq_harvest(struct sock_recvq *rq, struct tp_ep *ep,
		       struct tp_wc *wc, int n)
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
