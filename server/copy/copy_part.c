/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_part.c - reads and writes a part of a copy: in this iod's store or from another iod. */
#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/copy/copies_int.h"
#include "server/state/iod_peers.h"

/* ---- in the store ---- */

bool copy_source_is_here(const struct object_copy *c)
{
	const struct iod *iod = c->worker->iod;
	uint32_t copyset = copy_source_copyset(c);

	return copyset ? copyset_is_served(iod->assignments, copyset)
		       : le32toh(copy_body(c)->iod) == iod->conf.index;
}

static void access_complete(struct file_access *access, int status)
{
	struct copy_part *p = container_of(access, struct copy_part, access);

	p->done(p, status);
}

static struct file_access *prepare_access(struct copy_part *p,
					  struct store_obj *obj, uint64_t off)
{
	p->seg = (struct store_seg){ off, p->len };
	p->access = (struct file_access){ .io = { .obj = obj,
						  .seg = &p->seg,
						  .buf = p->mem.addr,
						  .len = p->len },
					  .mem = &p->mem,
					  .ses = p->copy->ses,
					  .req = p->copy->req,
					  .done = access_complete };
	return &p->access;
}

void copy_part_write(struct copy_part *p, copy_part_fn *done)
{
	uint64_t off = le64toh(copy_body(p->copy)->off) + p->pos;

	p->done = done;
	change_start(prepare_access(p, p->copy->obj, off));
}

/* ---- READ from another iod ---- */

/* An error of the reply is about the object; other errors are about the connection. */
static int check_reply(struct copy_part *p, const struct rpc_call *call)
{
	const struct wire_io_rep *rep = call->reply.body;
	uint64_t n;

	if (call->status)
		return call->reply.hdr ? call->status : -EHOSTUNREACH;
	n = le64toh(rep->done);
	if (n > p->len)
		return -EPROTO;
	memset((uint8_t *)p->mem.addr + n, 0, p->len - n);
	return 0;
}

static void call_complete(struct rpc_call *call)
{
	struct copy_part *p = call->arg;

	/* the other iod may still write to the buffer: revoke its key first */
	if (call->status == -ETIMEDOUT || call->status == -ECANCELED)
		rail_mem_fini(&p->mem);
	p->done(p, check_reply(p, call));
}

static void put_message(const struct copy_part *p, struct wire_out *out)
{
	const struct wire_copy *body = copy_body(p->copy);
	struct wire_io io = { .handle = body->from,
			      .total = htole64(p->len),
			      .nreg = htole32(1),
			      .nmem = htole32(1) };
	struct wire_region reg = { htole64(le64toh(body->src) + p->pos),
				   htole64(p->len) };
	struct wire_mem mem = { .addr = htole64((uintptr_t)p->mem.addr),
				.len = htole32((uint32_t)p->len) };

	wire_put(out, &io, sizeof(io));
	wire_put(out, &reg, sizeof(reg));
	wire_put(out, &mem, sizeof(mem));
}

/* Half of the client's time, because the client may have to copy the bytes itself. */
static uint64_t read_deadline(const struct object_copy *c)
{
	uint64_t now = clock_now();

	return c->req->deadline > now ? now + (c->req->deadline - now) / 2
				      : now;
}

static int start_call(struct copy_part *p)
{
	uint64_t buf[(sizeof(struct wire_hdr) + sizeof(struct wire_io) +
		      sizeof(struct wire_region) + sizeof(struct wire_mem)) /
		     8];
	struct wire_out out;
	struct rpc_peer *peer;
	int rc = iod_peer_get(p->copies->worker,
			      le32toh(copy_body(p->copy)->iod), &peer);

	if (rc)
		return rc;
	wire_begin(&out, buf, sizeof(buf));
	put_message(p, &out);
	rc = wire_end(&out, WIRE_READ, 0, 0);
	if (rc < 0)
		return rc;
	p->area = &p->mem;
	p->call = (struct rpc_call){
		.msg = buf,
		.msg_len = out.len,
		.area = &p->area,
		.nareas = 1,
		.pieces_at = sizeof(struct wire_hdr) + sizeof(struct wire_io) +
			     sizeof(struct wire_region),
		.npieces = 1,
		.deadline = read_deadline(p->copy),
		.bytes = p->len,
		.quiet = true,
		.done = call_complete,
		.arg = p,
	};
	rpc_call_start(peer, &p->call);
	return 0;
}

void copy_part_read(struct copy_part *p, copy_part_fn *done)
{
	const struct object_copy *c = p->copy;
	const struct wire_copy *body = copy_body(c);
	int rc = 0;

	p->done = done;
	p->call.p.peer = NULL;
	if (copy_source_copyset(c) && !(c->here && copy_source_is_here(c))) {
		done(p, -EHOSTUNREACH);
	} else if (c->from) {
		file_access_read(prepare_access(p, c->from,
						le64toh(body->src) + p->pos));
	} else if (c->here) {
		memset(p->mem.addr, 0, p->len); /* the object does not exist */
		done(p, 0);
	} else {
		rc = start_call(p);
		if (rc)
			done(p, rc);
	}
}

void copy_part_cancel(struct copy_part *p)
{
	rpc_call_cancel(&p->call);
}
