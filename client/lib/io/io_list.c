/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_list.c - requests with many pieces.  Small memory pieces are packed into the
 * message, or into a registered buffer of the session.  Large pieces stay in place, and
 * the server gathers or scatters them, with one completion.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/lib/io/io_int.h"
#include "client/lib/session/list_packing.h"
#include "common/util/usermem.h"

/* ---- groups of memory for registration ---- */

#define GROUP_GAP (1u << 20) /* maximum bytes between neighbours */
#define PAGE_MIN 4096u

unsigned int regs_max(const struct io_plan *plan)
{
	return plan->niov > plan->nparent ? plan->niov : plan->nparent;
}

static int by_addr(const void *a, const void *b)
{
	const struct rail_mem *x = a, *y = b;
	const char *p = x->addr, *q = y->addr;

	return p < q ? -1 : p > q;
}

static char *end_of(const struct rail_mem *mem)
{
	return (char *)mem->addr + mem->len;
}

/* Whether all pages between end and next are mapped. mincore() fails for an unmapped page. */
static bool mapped_between(const char *end, const char *next)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)end + page - 1) & ~(page - 1);
	uintptr_t to = (uintptr_t)next & ~(page - 1);
	unsigned char vec[GROUP_GAP / PAGE_MIN + 2];

	return from >= to || !mincore((void *)from, to - from, vec);
}

static bool mems_join(const struct rail_mem *mem, const struct rail_mem *next,
		      bool group)
{
	const char *end = end_of(mem), *from = next->addr;

	if (from <= end)
		return true;
	return group && from - end <= (ptrdiff_t)GROUP_GAP &&
	       mapped_between(end, from);
}

static unsigned int mems_merge(struct rail_mem *mem, unsigned int n, bool group)
{
	unsigned int i, to = 0;

	for (i = 0; i < n; i++) {
		struct rail_mem *last = mem + to;
		char *end = end_of(&mem[i]);

		if (!to || !mems_join(&last[-1], &mem[i], group))
			mem[to++] = mem[i];
		else if (end > end_of(&last[-1]))
			last[-1].len = (size_t)(end - (char *)last[-1].addr);
	}
	return to;
}

static unsigned int mems_group(struct rail_mem *mem, unsigned int n, bool group)
{
	bool sorted = true;
	unsigned int i;

	for (i = 1; i < n && sorted; i++)
		sorted = by_addr(&mem[i - 1], &mem[i]) <= 0;
	if (!sorted)
		qsort(mem, n, sizeof(*mem), by_addr);
	return mems_merge(mem, n, group);
}

unsigned int regs_make(const struct io_plan *plan, unsigned int access,
		       bool bold, struct rail_mem *mem, struct rail_mem **area)
{
	bool hints = bold && plan->parent;
	const struct iovec *v = hints ? plan->parent : plan->iov;
	unsigned int n = hints ? plan->nparent : plan->niov, i, to = 0;

	for (i = 0; i < n; i++) {
		if (v[i].iov_len || !bold)
			rail_mem_init(&mem[to++], v[i].iov_base, v[i].iov_len,
				      access);
	}
	if (bold)
		to = mems_group(mem, to, !hints);
	for (i = 0; i < to; i++) {
		mem[i].keep = true;
		area[i] = &mem[i];
	}
	return to;
}

/* ---- requests ---- */

_Static_assert(IO_LIST_MSG_MAX <= WIRE_BODY_MAX, "fits a message");

bool io_list_wanted(const struct io_plan *plan)
{
	return plan->nspan > 1 || plan->niov > RPC_DATA_MAX ||
	       plan->view->gsize;
}

void io_list_begin(struct io *io)
{
	io->group_register = io->plan->parent || io->s->list.group;
	io->limits = (struct list_limits){
		.place = io->s->list.place,
		.pack = PACK_LEN,
	};
}

/*
 * Ends a list request with rc; returns true if the caller must try it again.  A retry registers
 * each piece of memory alone: the caller's hints may be wrong, or a group of pieces may contain
 * memory that cannot be registered.
 */
bool io_list_end(struct io *io, int rc)
{
	unsigned long made = 0;
	unsigned int i, rail;

	for (i = 0; i < io->nmem; i++) {
		for (rail = 0; rail < RAILS_MAX; rail++)
			made += io->mem[i].mr[rail] != NULL;
	}
	atomic_fetch_add(&io->s->count.registrations, made);
	return io->group_register && io->nmem &&
	       (rc == -EFAULT || rc == -EINVAL || rc == -ENOMEM);
}

void io_list_done(struct io *io, struct io_slot *slot, int status)
{
	if (slot->pack)
		pack_put(&io->s->packs, slot->pack,
			 status != -ETIMEDOUT && status != -ECANCELED);
	slot->pack = NULL;
}

static int pack_bytes(const struct io *io, const struct io_slot *slot,
		      uint64_t len)
{
	struct iovec piece[WIRE_MEM_MAX];
	struct plan_cur cur = slot->from;
	char *to = slot->pack->buf;
	uint64_t left = len;
	unsigned int n;
	int rc = 0;

	while (left && !rc) {
		n = plan_pieces(io->plan, &cur, &left, piece);
		rc = usermem_gather(to, piece, n);
		to = slot->pack->buf + (len - left);
	}
	return rc;
}

/* The keys are added when the request is sent. */
static void put_memory(struct io *io, struct io_slot *slot,
		       const struct list_req *req, struct wire_out *out)
{
	unsigned int i, n = req->packed ? 1 : req->nseg;
	struct wire_mem *mem;

	slot->call.rpc.pieces_at = (unsigned int)out->len;
	slot->call.rpc.npieces = n;
	mem = wire_put(out, NULL, n * sizeof(*mem));
	if (req->packed) {
		slot->call.rpc.area = &slot->pack->area;
		slot->call.rpc.nareas = 1;
		mem->addr = htole64((uintptr_t)slot->pack->buf);
		mem->len = htole32((uint32_t)req->total);
		return;
	}
	if (!io->nmem)
		io->nmem = regs_make(io->plan, io_access(io),
				     io->group_register, io->mem, io->area);
	slot->call.rpc.area = io->area;
	slot->call.rpc.nareas = io->nmem;
	for (i = 0; i < n; i++) {
		mem[i].addr = htole64((uintptr_t)req->seg[i].addr);
		mem[i].len = htole32(req->seg[i].len);
	}
}

static int put_list(struct io *io, struct io_slot *slot,
		    const struct list_req *req, bool in, struct wire_out *out)
{
	const struct dist *dist = io->plan->dist;
	struct wire_list body = {
		.io = { .handle = htole64(io->handle),
			.total = htole64(req->total),
			.flags = htole32(io->flags),
			.nreg = htole32(req->vecs.n),
			.nmem = htole32(in	      ? 0
					: req->packed ? 1
						      : req->nseg) },
		.skip = htole64(req->skip),
		.dist = { htole32(slot->k), htole32(dist->pcount),
			  htole32(dist->ssize), 0 },
	};
	int rc;

	wire_put(out, &body, sizeof(body));
	wire_put(out, req->vecs.v, req->vecs.n * sizeof(req->vecs.v[0]));
	if (!in)
		put_memory(io, slot, req, out);
	rc = wire_end(out, io->write ? WIRE_WRITE_LIST : WIRE_READ_LIST, 0, 0);
	return rc < 0 ? rc : 0;
}

static void list_count_request(struct list_count *count,
			       const struct list_req *req)
{
	atomic_fetch_add(&count->requests, 1);
	atomic_fetch_add(req->packed ? &count->packed : &count->placed,
			 req->total);
}

int io_list_build(struct io *io, struct io_slot *slot,
		  const struct list_req *req, bool in,
		  uint64_t buf[IO_LIST_MSG_MAX / 8])
{
	struct wire_out out;
	int rc = 0;

	slot->call.rpc = (struct rpc_call){ .msg = buf };
	wire_begin(&out, buf, IO_LIST_MSG_MAX / 8 * 8);
	if (req->packed && (io->write || !in)) {
		slot->pack = pack_get(&io->s->packs);
		if (!slot->pack)
			return -ENOMEM;
	}
	if (slot->pack && io->write)
		rc = pack_bytes(io, slot, req->total);
	if (!rc)
		rc = put_list(io, slot, req, in, &out);
	if (rc) {
		io_list_done(io, slot, 0);
		return rc;
	}
	slot->call.rpc.msg_len = out.len;
	list_count_request(&io->s->count, req);
	return 0;
}
