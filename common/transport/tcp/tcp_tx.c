/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_tx.c - frames to be sent; small ones are reused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/tcp/tcp.h"

#define SMALL_ROOM 192u
#define SPARE_MAX 256u

static struct tcp_tx *tx_alloc(struct tcp_cq *cq, size_t room)
{
	struct tcp_tx *tx = STAILQ_FIRST(&cq->spare);

	if (room > SMALL_ROOM)
		return malloc(sizeof(*tx) + room);
	if (!tx)
		return malloc(sizeof(*tx) + SMALL_ROOM);
	STAILQ_REMOVE_HEAD(&cq->spare, link);
	cq->nspare--;
	return tx;
}

struct tcp_tx *tcp_tx_new(struct tcp_cq *cq, uint32_t head_len, uint32_t nsge)
{
	size_t room = nsge * sizeof(struct tp_sge) + head_len;
	struct tcp_tx *tx = tx_alloc(cq, room);

	if (!tx)
		return NULL;
	memset(tx, 0, sizeof(*tx));
	tx->small = room <= SMALL_ROOM;
	tx->head_len = head_len;
	tx->head = (uint8_t *)&tx->sge[nsge];
	return tx;
}

void tcp_tx_free(struct tcp_cq *cq, struct tcp_tx *tx)
{
	if (!tx->small || cq->nspare >= SPARE_MAX) {
		free(tx);
		return;
	}
	STAILQ_INSERT_HEAD(&cq->spare, tx, link);
	cq->nspare++;
}

void tcp_txs_free(struct tcp_cq *cq, struct tcp_txs *txs)
{
	struct tcp_tx *tx;

	while ((tx = STAILQ_FIRST(txs))) {
		STAILQ_REMOVE_HEAD(txs, link);
		tcp_tx_free(cq, tx);
	}
}

int tcp_tx_small(struct tcp_ep *ep, const struct tcp_frame *frame,
		 const void *payload, uint32_t len)
{
	struct tcp_tx *tx = tcp_tx_new(ep->cq, TCP_HEAD_LEN + len, 0);

	if (!tx)
		return -ENOMEM;
	tx->op = frame->op;
	tcp_frame_put(tx->head, frame);
	if (len)
		memcpy(tx->head + TCP_HEAD_LEN, payload, len);
	STAILQ_INSERT_TAIL(&ep->sq.out, tx, link);
	tcp_ep_dirty(ep);
	return 0;
}
