/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_rig_service.c - the service of the rig. */
#include "tests/unit/rpc_rig_service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A READ or WRITE whose data moves in two bulks, as at an iod. */
struct rig_op {
	LIST_ENTRY(rig_op) link;
	struct rig *rig;
	struct rpc_req *req; /* NULL: has its reply */
	uint64_t off, len;
	unsigned int left;
	int status;
	struct rpc_bulk bulk[2];
};
static LIST_HEAD(, rig_op) ops = LIST_HEAD_INITIALIZER(ops);

static void op_reply(struct rig_op *op)
{
	struct wire_io_rep rep = { .done = htole64(op->len),
				   .size = htole64(RIG_OBJECT) };
	struct rpc_req *req = op->req;

	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, op->off + op->len < RIG_OBJECT ? RPC_WHOLE : 0);
	op->req = NULL;
	rpc_reply_send(req);
}

static void op_finish(struct rig_op *op)
{
	if (op->left)
		return;
	if (op->req && op->status) {
		op->rig->aborted++;
		rpc_req_abort(op->req);
	} else if (op->req) {
		op->rig->executed++;
		op_reply(op);
	}
	LIST_REMOVE(op, link);
	free(op);
}

static void op_moved(struct rpc_bulk *bulk, int status)
{
	struct rig_op *op = bulk->arg;

	op->rig->bulks--;
	op->left--;
	if (status)
		op->status = status;
	op_finish(op);
}

static void op_start(struct rig_op *op, const struct wire_msg *msg)
{
	uint64_t half = op->len / 2;
	unsigned int i;
	int rc;

	for (i = 0; i < 2; i++) {
		struct rpc_bulk *b = &op->bulk[i];
		struct rail_sge sge[2];
		uint64_t off = i ? half : 0, len = i ? op->len - half : half;

		sge[0] = (struct rail_sge){ op->rig->object + op->off + off, 5,
					    &op->rig->object_mem };
		sge[1] = (struct rail_sge){ op->rig->object + op->off + off + 5,
					    (uint32_t)len - 5,
					    &op->rig->object_mem };
		if (op->rig->lend)
			sge[0].len = (uint32_t)len;
		*b = (struct rpc_bulk){
			.dir = op->req->op == WIRE_READ ? RPC_PUT : RPC_GET,
			.mem = msg->tail[1].ptr,
			.nmem = (unsigned int)(msg->tail[1].len /
					       sizeof(struct wire_mem)),
			.mem_off = off,
			.local = sge,
			.nlocal = op->rig->lend ? 1 : 2,
			.lend = op->rig->lend,
			.len = len,
			.last = i && op->req->op == WIRE_READ,
			.done = op_moved,
			.arg = op,
		};
		rc = rpc_bulk_start(op->req, b);
		if (rc) {
			op->status = rc;
			break;
		}
		op->rig->bulks++;
		op->left++;
	}
	if (!op->status && op->req->op == WIRE_READ) {
		op->rig->executed++;
		op_reply(op);
	}
	op_finish(op);
}

static void do_io(struct rig *rig, struct rpc_req *req)
{
	const struct wire_io *io = req->msg.body;
	const struct wire_region *region = req->msg.tail[0].ptr;
	uint64_t off = le64toh(region->off), len = le64toh(region->len);
	struct wire_io_rep rep = { .done = htole64(len) };
	struct rig_op *op;

	if (len < 12 || len > RIG_OBJECT || off > RIG_OBJECT - len ||
	    (!io->nmem && req->op == WIRE_READ)) {
		rpc_reply_status(req, -EINVAL);
		return;
	}
	if (rpc_req_data(req) || (!io->nmem && req->op == WIRE_WRITE)) {
		const void *data = rpc_req_data(req);

		rig->carried += data != NULL;
		rig->executed++;
		memcpy(rig->object + off, data ? data : req->msg.tail[2].ptr,
		       len);
		wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
		rpc_reply_end(req, 0, 0);
		rpc_reply_send(req);
		return;
	}
	op = calloc(1, sizeof(*op));
	op->rig = rig;
	op->req = req;
	op->off = off;
	op->len = len;
	LIST_INSERT_HEAD(&ops, op, link);
	op_start(op, &req->msg);
}

static void do_append(struct rig *rig, struct rpc_req *req)
{
	const struct wire_append *append = req->msg.body;
	struct wire_append_rep rep = { .offset = htole64(rig->counter) };

	rig->executed++;
	rig->counter += le64toh(append->len);
	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, 0);
	rpc_reply_send(req);
}

static void do_readlink(struct rpc_req *req)
{
	struct wire_path_rep rep = { .path_len = htole32(3000) };
	struct wire_out *out = rpc_reply_begin(req);
	char path[3000];

	memset(path, 'x', sizeof(path));
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, path, sizeof(path));
	rpc_reply_end(req, 0, 0);
	rpc_reply_send(req);
}

static void do_ping(struct rpc_req *req)
{
	struct wire_ping_rep rep = { 0 };

	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, 0);
	rpc_reply_send(req);
}

static void do_request(void *arg, struct rpc_req *req)
{
	struct rig *rig = arg;

	if (req->op == WIRE_APPEND && rig->busy && !rpc_req_may_wait(req)) {
		rig->sent_back++;
		rpc_reply_status(req, -EINPROGRESS);
	} else if (req->op == WIRE_APPEND) {
		do_append(rig, req);
	} else if (req->op == WIRE_READ || req->op == WIRE_WRITE) {
		do_io(rig, req);
	} else if (req->op == WIRE_RELEASE || req->op == WIRE_RESIZE ||
		   req->op == WIRE_LOCK ||
		   (req->op == WIRE_PING && rig->mute)) {
		rig->executed++;
		rig->held[rig->nheld++] = req;
		if (rig->nheld == RIG_HELD)
			rig_answer(rig);
	} else if (req->op == WIRE_READLINK) {
		do_readlink(req);
	} else if (req->op == WIRE_PING) {
		do_ping(req);
	} else {
		rpc_reply_status(req, req->op == WIRE_UNLINK ? -ENOENT : 0);
	}
}

void rig_answer(struct rig *rig)
{
	struct rpc_req *req = rig->held[0];

	memmove(rig->held, rig->held + 1, sizeof(rig->held) - sizeof(req));
	rig->nheld--;
	if (req->op == WIRE_PING)
		do_ping(req);
	else
		rpc_reply_status(req, req->op == WIRE_LOCK ? -EAGAIN : 0);
}

static int do_open(void *arg, struct rpc_session *session)
{
	struct rig *rig = arg;
	struct {
		struct wire_hdr hdr;
		struct wire_append_rep rep;
	} seed;
	struct wire_out out;
	int len;

	rig->opened++;
	rig->features = rpc_session_info(session)->features;
	if (!rig->seed_seq)
		return rig->open_status;
	wire_begin(&out, &seed, sizeof(seed));
	wire_put(&out, &(struct wire_append_rep){ htole64(77) }, 8);
	len = wire_end(&out, WIRE_APPEND, WIRE_F_REPLY, 0);
	seed.hdr.session = htole64(rpc_session_info(session)->id);
	seed.hdr.seq = htole64(rig->seed_seq);
	ck_assert_int_eq(rpc_session_seed(session, 0, rig->seed_seq, &seed,
					  (size_t)len),
			 0);
	return 1;
}

static void do_close(void *arg, struct rpc_session *session, bool clean)
{
	struct rig *rig = arg;

	rig->closed++;
	rig->clean += clean;
}

static void do_free(void *arg, struct rpc_session *session)
{
	struct rig *rig = arg;

	rig->freed++;
}

const struct rpc_service rig_service = {
	.session_open = do_open,
	.session_close = do_close,
	.session_free = do_free,
	.request = do_request,
};

void rig_service_reset(struct rig *rig)
{
	struct rig_op *op;

	while ((op = LIST_FIRST(&ops))) {
		LIST_REMOVE(op, link);
		free(op);
	}
	rig->bulks = 0;
}
