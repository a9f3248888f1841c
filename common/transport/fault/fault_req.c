/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_req.c - outstanding requests, and changes of their data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault_priv.h"

struct fault_req *fault_req_new(const struct tp_send_wr *wr)
{
	struct fault_req *req;
	size_t bytes = wr->nsge * sizeof(req->sgl[0]);

	req = calloc(1, sizeof(*req) + bytes);
	if (!req)
		return NULL;
	req->wr_id = wr->wr_id;
	req->opcode = wr->opcode;
	req->wr = *wr;
	req->wr.next = NULL;
	req->wr.wr_id = (uintptr_t)req;
	req->wr.sgl = req->sgl;
	if (bytes)
		memcpy(req->sgl, wr->sgl, bytes);
	return req;
}

struct fault_req *fault_req_new_recv(const struct tp_recv_wr *wr)
{
	const struct tp_send_wr as_send = {
		.wr_id = wr->wr_id,
		.opcode = TP_RECV,
		.sgl = &wr->sge,
		.nsge = 1,
	};

	return fault_req_new(&as_send);
}

void fault_req_free(struct fault_req *req)
{
	if (req->bounce_mr)
		tp_mr_dereg(req->bounce_mr);
	free(req->bounce);
	free(req);
}

uint64_t fault_req_len(const struct fault_req *req)
{
	uint64_t len = 0;
	unsigned int i;

	for (i = 0; i < req->wr.nsge; i++)
		len += req->sgl[i].len;
	return len;
}

int fault_req_bounce(struct fault_req *req, struct tp_dev *inner, uint64_t at)
{
	uint64_t len = fault_req_len(req);
	unsigned int i;
	uint8_t *p;
	int rc;

	if (!len)
		return 0;
	p = malloc(len);
	if (!p)
		return -ENOMEM;
	rc = tp_mr_reg(inner, p, len, 0, &req->bounce_mr);
	if (rc) {
		free(p);
		return rc;
	}
	req->bounce = p;
	for (i = 0; i < req->wr.nsge; p += req->sgl[i++].len)
		memcpy(p, req->sgl[i].addr, req->sgl[i].len);
	p = req->bounce;
	p[at < len ? at : len - 1] ^= 0xff;
	req->sgl[0] = (struct tp_sge){ p, (uint32_t)len, req->bounce_mr->lkey };
	req->wr.nsge = 1;
	return 0;
}

void fault_req_spoil(struct fault_req *req, uint64_t at, uint64_t len)
{
	unsigned int i;

	if (!len)
		return;
	if (at >= len)
		at = len - 1;
	for (i = 0; i < req->wr.nsge; at -= req->sgl[i++].len) {
		if (at < req->sgl[i].len) {
			((uint8_t *)req->sgl[i].addr)[at] ^= 0xff;
			return;
		}
	}
}
