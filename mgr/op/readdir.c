/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readdir.c - READDIR and READDIRPLUS: entries are written to the client's memory by RDMA Write,
 * from a few registered buffers. A slow client keeps its buffer for long. So a reader gets another
 * buffer only if it has fewer than are free: the first reader gets at most half of them, each
 * further one at most half of the rest (at least one), until none is free. Its other requests wait.
 * A reader is a user. For root it is a session, because root of each host has the same uid. The
 * wait counts as one for a third party, because the clients that use the buffers may be slow.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/hash_table.h"
#include "mgr/op/mgr_ops.h"

#define BUF_SIZE (64u << 10)
#define BUFS 16u

struct dir_buffer {
	struct rpc_bulk bulk;
	struct mgr *mgr;
	struct dir_reader *reader; /* that has it */
	struct wire_mem mem;
	uint8_t *data;
	SLIST_ENTRY(dir_buffer) link;
};

/* Exists while it has buffers, or requests that wait for one. */
struct dir_reader {
	UT_hash_handle hh;
	struct run_owner key; /* session 0, unless uid is 0 */
	struct dir_buffers *all;
	unsigned int has;
	struct park waiting;
	TAILQ_ENTRY(dir_reader) turn; /* in turns, if requests wait */
};

struct dir_buffers {
	struct dir_buffer buf[BUFS];
	uint8_t *block;
	struct rail_mem block_mem;
	SLIST_HEAD(, dir_buffer) free;
	unsigned int nfree;
	struct dir_reader *readers;
	TAILQ_HEAD(, dir_reader) turns;
};

/* ---- readers ---- */

/* The clients that use the buffers receive the data slowly or not at all. */
static void on_late(struct park *park, struct request *req);

static struct dir_reader *reader_add(struct dir_buffers *bufs,
				     const struct run_owner *key)
{
	struct dir_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	memcpy(&reader->key, key, sizeof(*key)); /* with its padding */
	reader->all = bufs;
	park_init(&reader->waiting, RPC_BUFFER, on_late);
	HASH_ADD(hh, bufs->readers, key, sizeof(reader->key), reader);
	if (reader->hh.tbl)
		return reader;
	free(reader);
	return NULL;
}

/* NULL: no memory. */
static struct dir_reader *reader_of(const struct request *req)
{
	struct dir_buffers *bufs = req->mgr->dir_buffers;
	const struct run_owner owner = request_owner(req);
	struct run_owner key;
	struct dir_reader *reader;

	memset(&key, 0, sizeof(key)); /* the padding is hashed, too */
	key.uid = owner.uid;
	key.session = owner.uid ? 0 : owner.session;
	HASH_FIND(hh, bufs->readers, &key, sizeof(key), reader);
	return reader ? reader : reader_add(bufs, &key);
}

static void reader_forget_if_idle(struct dir_reader *reader)
{
	if (reader->has || !park_empty(&reader->waiting))
		return;
	HASH_DEL(reader->all->readers, reader);
	free(reader);
}

static bool may_have_another(const struct dir_reader *reader)
{
	return reader->has < reader->all->nfree;
}

static void reader_wait(struct dir_reader *reader, struct request *req)
{
	if (park_empty(&reader->waiting))
		TAILQ_INSERT_TAIL(&reader->all->turns, reader, turn);
	park_wait(&reader->waiting, req);
}

/* A request waits no longer. */
static void reader_end_wait(struct dir_reader *reader)
{
	if (!park_empty(&reader->waiting))
		return;
	TAILQ_REMOVE(&reader->all->turns, reader, turn);
	reader_forget_if_idle(reader);
}

static void on_late(struct park *park, struct request *req)
{
	struct dir_reader *reader = container_of(park, struct dir_reader,
						 waiting);

	answer_late(req, "one of the buffers for directories");
	reader_end_wait(reader);
}

/* ---- buffers ---- */

static struct dir_buffer *get_buf(struct dir_reader *reader)
{
	struct dir_buffers *bufs = reader->all;
	struct dir_buffer *buf = SLIST_FIRST(&bufs->free);

	SLIST_REMOVE_HEAD(&bufs->free, link);
	bufs->nfree--;
	reader->has++;
	buf->reader = reader;
	return buf;
}

static void put_buf(struct dir_buffer *buf)
{
	struct dir_buffers *bufs = buf->mgr->dir_buffers;

	SLIST_INSERT_HEAD(&bufs->free, buf, link);
	bufs->nfree++;
	buf->reader->has--;
	reader_forget_if_idle(buf->reader);
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
	struct dir_reader *reader = reader_of(op->req);

	if (!reader)
		return -ENOMEM;
	if (may_have_another(reader))
		return fill_and_send(op, get_buf(reader));
	reader_wait(reader, op->req);
	return OP_LATER;
}

/* ---- requests that wait run when buffers are free ---- */

/*
 * The next reader that may have a buffer; NULL: none.  If a buffer is free, the readers that may
 * not have it have others, so there are at most BUFS of them.
 */
static struct dir_reader *next_reader(struct dir_buffers *bufs)
{
	struct dir_reader *reader;

	for (unsigned int n = 0; bufs->nfree && n <= BUFS; n++) {
		reader = TAILQ_FIRST(&bufs->turns);
		if (!reader)
			return NULL;
		TAILQ_REMOVE(&bufs->turns, reader, turn);
		TAILQ_INSERT_TAIL(&bufs->turns, reader, turn);
		if (may_have_another(reader))
			return reader;
	}
	return NULL;
}

static void run_next(struct dir_reader *reader)
{
	struct request *req = park_take(&reader->waiting);

	reader_end_wait(reader);
	request_run(req);
}

bool dir_buffers_run(struct mgr *mgr)
{
	uint64_t before = ns_work(&mgr->ns);
	struct dir_reader *reader;

	for (unsigned int n = 0; (reader = next_reader(mgr->dir_buffers));
	     n++) {
		if (n + ns_work(&mgr->ns) - before >= NS_TURN_STEPS)
			return true;
		run_next(reader);
	}
	return false;
}

int dir_buffers_open(struct mgr *mgr)
{
	struct dir_buffers *bufs = calloc(1, sizeof(*bufs));

	if (!bufs)
		return -ENOMEM;
	mgr->dir_buffers = bufs;
	SLIST_INIT(&bufs->free);
	TAILQ_INIT(&bufs->turns);
	bufs->block = aligned_alloc(4096, BUFS * BUF_SIZE);
	if (!bufs->block)
		return -ENOMEM;
	for (unsigned int i = 0; i < BUFS; i++) {
		bufs->buf[i].mgr = mgr;
		bufs->buf[i].data = bufs->block + i * BUF_SIZE;
		SLIST_INSERT_HEAD(&bufs->free, &bufs->buf[i], link);
	}
	bufs->nfree = BUFS;
	rail_mem_init(&bufs->block_mem, bufs->block, BUFS * BUF_SIZE, 0);
	return rail_mem_reg_all(&bufs->block_mem, rpc_ctx_rails(mgr->ctx));
}

void dir_buffers_close(struct mgr *mgr)
{
	struct dir_buffers *bufs = mgr->dir_buffers;
	struct dir_reader *reader, *next;

	if (!bufs)
		return;
	HASH_ITER(hh, bufs->readers, reader, next) {
		HASH_DEL(bufs->readers, reader);
		free(reader);
	}
	rail_mem_fini(&bufs->block_mem);
	free(bufs->block);
	free(bufs);
	mgr->dir_buffers = NULL;
}
