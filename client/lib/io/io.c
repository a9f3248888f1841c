/* SPDX-License-Identifier: BSD-2-Clause */
/* io.c - transfers with up to two requests in flight at each server of a file. */
#include "client/lib/io/io_int.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/io/shared_blocks_int.h"
#include "client/lib/session/call_context.h"
#include "client/lib/session/coroutine.h"
#include "common/comm/rpc.h"
#include "common/util/usermem.h"

#define IO_MSG_MAX                                                             \
	(sizeof(struct wire_hdr) + sizeof(struct wire_io) +                    \
	 WIRE_REGION_MAX * sizeof(struct wire_region) +                        \
	 WIRE_MEM_MAX * sizeof(struct wire_mem))

#define SLEPT_MS 500u
#define HEAR_MAX 16u /* maximum of rounds */

/* ---- memory ---- */

/* Allocates for plan and nserver.  Returns 0 or -ENOMEM.  Call io_free() in either case. */
static int io_alloc(struct io *io)
{
	unsigned int nmem = regs_max(io->plan);

	io->server = io->few_server;
	io->slot = io->few_slot;
	io->mem = io->few_mem;
	io->area = io->few_area;
	io->gap = io->few_gap;
	io->maxgap = IO_GAPS;
	if (io->nserver > IO_SERVERS) {
		io->server = calloc(io->nserver, sizeof(*io->server));
		io->slot = calloc(io->nserver * IO_DEPTH, sizeof(*io->slot));
	}
	if (nmem > IO_IOVS) {
		io->mem = calloc(nmem, sizeof(*io->mem));
		io->area = calloc(nmem, sizeof(*io->area));
	}
	if (!io->server || !io->slot || !io->mem || !io->area)
		return -ENOMEM;
	return 0;
}

/*
 * Before a call returns, deregisters its memory that a server may still access, however long that
 * takes.  It waits for other calls with the same registration, which end by their deadlines.
 */
static int io_take_back(void *arg)
{
	const struct io *io = arg;
	unsigned int i;

	for (i = 0; i < io->nmem; i++)
		rail_mem_drop(&io->mem[i]);
	return rails_settle(rpc_ctx_rails(io->s->drive.ctx), CLOCK_NEVER);
}

static void io_unpin(struct io *io)
{
	unsigned int i;

	if (io->mem_maybe_in_use) {
		/* without a thread, wait here: the memory must be released */
		if (coroutine_aside(io_take_back, io) == -EAGAIN)
			io_take_back(io);
		return;
	}
	for (i = 0; i < io->nmem; i++)
		rail_mem_fini(&io->mem[i]);
}

static void io_free(struct io *io)
{
	io_unpin(io);
	if (io->server != io->few_server)
		free(io->server);
	if (io->slot != io->few_slot)
		free(io->slot);
	if (io->mem != io->few_mem)
		free(io->mem);
	if (io->area != io->few_area)
		free(io->area);
	if (io->gap != io->few_gap)
		free(io->gap);
	io->nmem = 0;
}

/* ---- requests ---- */

/* The keys are added when the request is sent. */
static void io_put_memory(const struct plan_req *req, struct wire_out *out)
{
	struct wire_mem *mem = wire_put(out, NULL,
					req->nseg * sizeof(struct wire_mem));
	unsigned int i;

	for (i = 0; mem && i < req->nseg; i++) {
		mem[i].addr = htole64((uintptr_t)req->seg[i].addr);
		mem[i].len = htole32(req->seg[i].len);
	}
}

/* The caller's buffers that the request names, in order. */
static void io_areas(struct io *io, const struct plan_req *req,
		     struct rpc_call *rpc)
{
	unsigned int first = req->seg[0].iov;

	rpc->area = &io->area[first];
	rpc->nareas = req->seg[req->nseg - 1].iov - first + 1;
	rpc->npieces = req->nseg;
	rpc->pieces_at = (unsigned int)(sizeof(struct wire_hdr) +
					sizeof(struct wire_io) +
					req->nreg * sizeof(req->reg[0]));
}

/* Whether the reply may contain total bytes.  Not if the client does not know the iod yet. */
static bool fits_reply(const struct io *io, uint32_t k, uint64_t total)
{
	uint32_t iod = session_iod(io->s, io->plan->dist, k);

	return iod != UINT32_MAX &&
	       total <= rpc_peer_inline_max(io->s->iod[iod]);
}

/* Sets slot->in, and returns it: the request is a read whose reply contains the data. */
static bool io_reads_inline(const struct io *io, struct io_slot *slot,
			    uint64_t total)
{
	slot->in = !io->write && total <= IO_READ_INLINE &&
		   fits_reply(io, slot->k, total);
	return slot->in;
}

static int io_message(const struct io *io, const struct plan_req *req, bool in,
		      struct wire_out *out)
{
	struct wire_io body = {
		.handle = htole64(io->handle),
		.total = htole64(req->total),
		.flags = htole32(io->flags),
		.nreg = htole32(req->nreg),
		.nmem = htole32(in ? 0 : req->nseg),
	};
	int rc;

	wire_put(out, &body, sizeof(body));
	wire_put(out, req->reg, req->nreg * sizeof(req->reg[0]));
	if (!in)
		io_put_memory(req, out);
	rc = wire_end(out, io->write ? WIRE_WRITE : WIRE_READ, 0, 0);
	return rc < 0 ? rc : 0;
}

/* Checks all memory of the operation, which fails as a whole. */
static bool io_faulty(struct rpc_call *rpc)
{
	const struct io *io = ((const struct io_slot *)rpc->arg)->io;

	return !usermem_there(io->plan->iov, io->plan->niov, !io->write);
}

static void io_done(struct rpc_call *rpc);

/* Each answer of a server restarts the timeout, so a large transfer may take any time. */
static uint64_t io_deadline(struct io *io, const struct io_slot *slot)
{
	if (!io->server[slot->k].answered)
		return io->deadline;
	io->moved = true;
	return clock_after_ms(io->s->timeout_ms);
}

/*
 * Sends the call that slot->call.rpc describes.  Fills in the rest of it.  Returns 1, or -ENOMEM:
 * the call is not in flight.
 */
static int io_start_call(struct io *io, struct io_slot *slot)
{
	struct rpc_call *rpc = &slot->call.rpc;
	int rc;

	rpc->deadline = io_deadline(io, slot);
	rpc->user = io->user;
	rpc->bounce = !slot->pack;
	rpc->reply_optional = true;
	rpc->bytes = slot->total;
	rpc->joined = NULL;
	rpc->done = io_done;
	rpc->faulty = io_faulty;
	rpc->arg = slot;
	rc = copyset_call_start(&slot->call, io->s, io->plan->dist, slot->k);
	if (rc) {
		io_list_done(io, slot, 0);
		return rc;
	}
	op_get(&io->op);
	return 1;
}

/* Sends the server's next request.  Returns 1: in flight; 0: there is none; -errno. */
static int io_send_next(struct io *io, struct io_slot *slot,
			struct io_server *sv)
{
	uint64_t buf[IO_MSG_MAX / 8];
	struct plan_req req;
	struct wire_out out;
	bool in;
	int rc;

	if (!plan_next(io->plan, &sv->cur, &req))
		return 0;
	in = io_reads_inline(io, slot, req.total);
	wire_begin(&out, buf, sizeof(buf));
	rc = io_message(io, &req, in, &out);
	if (rc)
		return rc;
	slot->total = req.total;
	slot->call.rpc = (struct rpc_call){ .msg = buf, .msg_len = out.len };
	if (!in)
		io_areas(io, &req, &slot->call.rpc);
	return io_start_call(io, slot);
}

/* The same for a list. */
static int io_send_list(struct io *io, struct io_slot *slot,
			struct io_server *sv)
{
	uint64_t buf[IO_LIST_MSG_MAX / 8];
	struct list_req req;
	int rc;

	if (!list_req_next(io->plan, &sv->cur, &io->limits, &req))
		return 0;
	rc = io_list_build(io, slot, &req, io_reads_inline(io, slot, req.total),
			   buf);
	if (rc)
		return rc;
	slot->total = req.total;
	return io_start_call(io, slot);
}

/* Sends one more request to server k, if there is one. */
static void io_issue(struct io *io, uint32_t k)
{
	struct io_server *sv = &io->server[k];
	struct io_slot *slot = io->free;
	int rc;

	if (io->op.err || io->done[k] || sv->at_eof || sv->busy == io->depth)
		return;
	slot->from = sv->cur;
	slot->k = k;
	io->free = slot->next;
	rc = io->list ? io_send_list(io, slot, sv) : io_send_next(io, slot, sv);
	if (rc > 0) {
		sv->busy++;
		return;
	}
	slot->next = io->free;
	io->free = slot;
	io->op.err = rc;
}

/* The operation fails.  Requests that wait for a connection are given up. */
static void io_fail(struct io *io, int status)
{
	uint32_t i;

	io->op.err = status > 0 ? -EPROTO : session_iod_status(status);
	for (i = 0; i < io->nserver * IO_DEPTH; i++)
		copyset_call_cancel_unneeded(&io->slot[i].call, io->s,
					     io->plan->dist, status);
}

static void io_done(struct rpc_call *rpc)
{
	struct io_slot *slot = rpc->arg;
	struct io *io = slot->io;
	int rc = rpc->status;

	if (rc == 0 && !io->write)
		rc = rpc->whole ? io_read_whole(io, slot)
				: io_read_taken(io, slot, &rpc->reply);
	if (rc == -ETIMEDOUT || rc == -ECANCELED)
		io->mem_maybe_in_use = true;
	io->begun |= !rc || rpc->unsure || rpc->reply.hdr;
	if (!rc)
		atomic_store_explicit(&io->s->iod_heard,
				      rpc_ctx_progressed(io->s->drive.ctx),
				      memory_order_relaxed);
	io_list_done(io, slot, rpc->status);
	io->server[slot->k].busy--;
	slot->next = io->free;
	io->free = slot;
	if (rc && !io->op.err)
		io_fail(io, rc);
	io->server[slot->k].answered |= !rc;
	io_issue(io, slot->k);
	op_put(&io->op, 0);
}

/* No request follows.  Those in flight are marked as belonging together. */
static void io_join(struct io *io)
{
	uint32_t i;

	for (i = 0; i < io->nserver; i++)
		if (io->server[i].busy == io->depth)
			return;
	for (i = 0; i < io->nserver * IO_DEPTH; i++)
		io->slot[i].call.rpc.joined = io;
}

/*
 * Called before a write after a pause: receives what the servers have sent meanwhile.  If a server
 * has closed the connection because the session ended, the client notices that before it sends the
 * write, which can then run in the next session.
 */
static void io_receive_pending(const struct io *io)
{
	uint64_t began = io->deadline - io->s->timeout_ms * CLOCK_NS_PER_MS;
	uint64_t last = atomic_load_explicit(&io->s->iod_heard,
					     memory_order_relaxed);
	struct rpc_ctx *ctx = io->s->drive.ctx;
	struct pollfd fd[RPC_CTX_FDS];
	unsigned int i, n;
	uint64_t until;

	if (!io->write || began < last + SLEPT_MS * CLOCK_NS_PER_MS)
		return;
	for (i = 0; i < HEAR_MAX; i++)
		if (!rpc_ctx_rest(ctx, fd, &n, &until) && poll(fd, n, 0) <= 0)
			return;
}

/*
 * Each client starts at another server, so that clients do not move from server to server
 * together.
 */
static void io_start(struct drive_op *op)
{
	struct io *io = (struct io *)op;
	uint32_t i, round;

	io_receive_pending(io);
	rpc_ctx_hold(io->s->drive.ctx);
	for (round = 0; round < io->depth; round++) {
		for (i = 0; i < io->nserver; i++)
			io_issue(io, (io->s->first + i) % io->nserver);
	}
	rpc_ctx_release(io->s->drive.ctx);
	io_join(io);
}

static void io_ready(struct io *io)
{
	uint32_t k, i;

	for (k = 0; k < io->nserver; k++) {
		struct io_server *sv = &io->server[k];

		plan_start(io->plan, &sv->cur, k);
		sv->busy = 0;
		sv->seen = false;
		sv->answered = false;
		sv->at_eof = false;
	}
	io->free = NULL;
	for (i = io->nserver * IO_DEPTH; i-- > 0;) {
		io->slot[i].io = io;
		io->slot[i].pack = NULL;
		io->slot[i].call.rpc.p.peer = NULL;
		io->slot[i].next = io->free;
		io->free = &io->slot[i];
	}
}

static int io_try(struct io *io)
{
	int rc;

	io->op.start = io_start;
	io->op.finish = NULL;
	io->nserver = io->plan->dist->pcount;
	io->ngap = 0;
	io->nmem = 0;
	io->mem_maybe_in_use = false;
	rc = io_alloc(io);
	if (rc)
		return rc;
	io_ready(io);
	if (!io->list)
		io->nmem = regs_make(io->plan, io_access(io), false, io->mem,
				     io->area);
	return op_run(&io->s->drive, &io->op);
}

/* After a long transfer, the rest of the call gets a full timeout. */
static int io_run(struct io *io)
{
	int rc;

	io->deadline = session_deadline(io->s);
	io->user = call_user();
	io->moved = false;
	io->op.err = 0;
	io->depth = io->plan->serial ? 1 : IO_DEPTH;
	io->list = io_list_wanted(io->plan);
	if (io->list)
		io_list_begin(io);
	rc = io_try(io);
	if (io->list && io_list_end(io, rc)) {
		io_free(io);
		io->group_register = false;
		rc = io_try(io);
		io_list_end(io, rc);
	}
	if (io->moved && rc != -ETIMEDOUT)
		deadline_begin();
	return rc;
}

/*
 * If the session has ended during a write, the write is not repeated in the next session, because
 * other clients may have written to the same bytes since.
 */
static int write_status(const struct io *io, int rc)
{
	if (!session_is_over(rc) || !io->begun)
		return rc;
	log_error(io->s->log,
		  "the session ended during a write: it was made, or a part of "
		  "it, or not");
	return -ECONNABORTED;
}

int io_write(struct session *s, uint64_t handle, const struct io_plan *plan,
	     uint32_t flags)
{
	struct io io;
	int rc;

	if (direct_run(s, handle, plan, true, io.done, &io.begun))
		return 0;
	io.s = s;
	io.plan = plan;
	io.handle = handle;
	io.flags = flags;
	io.write = true;
	rc = write_status(&io, io_run(&io));
	io_free(&io);
	return rc;
}

int io_read(struct session *s, uint64_t handle, const struct io_plan *plan,
	    uint64_t least, uint64_t *n, bool *doubt)
{
	struct io io;
	int rc;

	*doubt = false;
	if (direct_run(s, handle, plan, false, io.done, &io.begun) ||
	    shared_blocks_read(s, handle, plan, io.done)) {
		*n = plan_total(plan);
		return 0;
	}
	io.s = s;
	io.plan = plan;
	io.handle = handle;
	io.flags = 0;
	io.write = false;
	rc = io_run(&io);
	if (!rc && io.ngap)
		rc = io_fill_gaps(&io, least, n, doubt);
	else if (!rc)
		*n = plan_total(plan);
	io_free(&io);
	return rc;
}
