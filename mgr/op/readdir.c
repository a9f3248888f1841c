/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readdir.c - READDIR and READDIRPLUS: entries are written to the client's memory by
 * RDMA Write, from a few registered buffers.  A request that finds no free buffer waits
 * for one.  The wait counts as one for a third party, because the clients that use the
 * buffers may be slow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/op/mgr_ops.h"

#define BUF_SIZE (64u << 10)
#define BUFS 16u

struct dir_buffer {
	struct rpc_bulk bulk;
	struct mgr *mgr;
	struct wire_mem mem;
	uint8_t *data;
	SLIST_ENTRY(dir_buffer) link;
};

struct dir_buffers {
	struct dir_buffer buf[BUFS];
	uint8_t *block;
	struct rail_mem block_mem;
	SLIST_HEAD(, dir_buffer) free;
	struct park waiting;
};

static void put_buf(struct dir_buffer *buf)
{
	SLIST_INSERT_HEAD(&buf->mgr->dir_buffers->free, buf, link);
}

/* After an error the connection is gone, and the request will run again. */
static void on_sent(struct rpc_bulk *bulk, int status)
{
	put_buf(bulk->arg);
}

static int send_buf(struct mgr_op *op, struct dir_buffer *buf, uint32_t len)
{
	const struct wire_readdir *body = op->rpc->msg.body;
	struct rail_sge local = { buf->data, len,
				  &op->mgr->dir_buffers->block_mem };

	buf->mem = body->mem;
	buf->bulk = (struct rpc_bulk){ .dir = RPC_PUT,
				       .mem = &buf->mem,
				       .nmem = 1,
				       .local = &local,
				       .nlocal = 1,
				       .len = len,
				       .done = on_sent,
				       .arg = buf };
	return rpc_bulk_start(op->rpc, &buf->bulk);
}

static int fill_and_send(struct mgr_op *op, struct dir_buffer *buf)
{
	const struct wire_readdir *body = op->rpc->msg.body;
	uint32_t cap = le32toh(body->mem.len);
	const struct ns_readdir_args args = {
		.dir = handle_from_wire(op->mgr->st, body->dir),
		.cookie = le64toh(body->cookie),
		.plus = op->rpc->op == WIRE_READDIRPLUS,
		.buf = buf->data,
		.cap = cap < BUF_SIZE ? cap : BUF_SIZE,
	};
	struct wire_readdir_rep rep;
	struct ns_listing list;
	int rc;

	rc = ns_readdir(&op->ns, &args, &list);
	if (!rc && list.bytes)
		rc = send_buf(op, buf, list.bytes);
	if (rc || !list.bytes)
		put_buf(buf);
	if (rc)
		return rc == -ENOTCONN ? OP_ABORT : rc;
	rep = (struct wire_readdir_rep){ .bytes = htole32(list.bytes),
					 .count = htole32(list.count),
					 .eof = htole32(list.eof) };
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}

int op_readdir(struct mgr_op *op)
{
	struct dir_buffers *bufs = op->mgr->dir_buffers;
	struct dir_buffer *buf = SLIST_FIRST(&bufs->free);

	if (!buf) {
		park_wait(&bufs->waiting, op->req);
		return OP_LATER;
	}
	SLIST_REMOVE_HEAD(&bufs->free, link);
	return fill_and_send(op, buf);
}

static bool is_one_free(const struct mgr *mgr)
{
	return !SLIST_EMPTY(&mgr->dir_buffers->free);
}

bool dir_buffers_run(struct mgr *mgr)
{
	return park_run(mgr, &mgr->dir_buffers->waiting, is_one_free);
}

/* The clients that use the buffers receive the data slowly or not at all. */
static void on_late(struct park *park, struct request *req)
{
	answer_late(req, "one of the buffers for directories");
}

int dir_buffers_open(struct mgr *mgr)
{
	struct dir_buffers *bufs = calloc(1, sizeof(*bufs));

	if (!bufs)
		return -ENOMEM;
	mgr->dir_buffers = bufs;
	SLIST_INIT(&bufs->free);
	park_init(&bufs->waiting, RPC_BUFFER, on_late);
	bufs->block = aligned_alloc(4096, BUFS * BUF_SIZE);
	if (!bufs->block)
		return -ENOMEM;
	for (unsigned int i = 0; i < BUFS; i++) {
		bufs->buf[i].mgr = mgr;
		bufs->buf[i].data = bufs->block + i * BUF_SIZE;
		SLIST_INSERT_HEAD(&bufs->free, &bufs->buf[i], link);
	}
	rail_mem_init(&bufs->block_mem, bufs->block, BUFS * BUF_SIZE, 0);
	return rail_mem_reg_all(&bufs->block_mem, rpc_ctx_rails(mgr->ctx));
}

void dir_buffers_close(struct mgr *mgr)
{
	struct dir_buffers *bufs = mgr->dir_buffers;

	if (!bufs)
		return;
	rail_mem_fini(&bufs->block_mem);
	free(bufs->block);
	free(bufs);
	mgr->dir_buffers = NULL;
}
