/* SPDX-License-Identifier: BSD-2-Clause */
/* iodc.c - a bare client of one iod, for tests. */
#include <errno.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>

#include "common/util/clock.h"
#include "tests/e2e/iod/iodc.h"

void must_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

void iodc_open(struct iodc *c, const struct addr *addr, enum wire_role role,
	       uint64_t session)
{
	iodc_open_with(c, addr, role, session, &(struct iodc_with){ NULL });
}

void iodc_open_with(struct iodc *c, const struct addr *addr,
		    enum wire_role role, uint64_t session,
		    const struct iodc_with *with)
{
	static const struct rpc_cred cred = { .name = "test" };
	struct tp_dev_attr dev_attr = { 0 };
	struct rpc_ctx_attr ctx_attr = { 0 };
	struct rpc_peer_attr attr = {
		.addr = *addr,
		.name = "iod",
		.role = role,
		.fsid = IODC_FSID,
		.cred = &cred,
		.prover = with->prover,
		.server = WIRE_ROLE_IOD,
		.index = with->index,
		.caps = with->caps,
		.features = with->features | (with->caps ? WIRE_FT_CAPS : 0)
	};

	memset(c, 0, sizeof(*c));
	c->timeout_ms = 10000;
	c->session = session || role != WIRE_ROLE_MGR ? session : IODC_MGR;
	while (!c->session)
		must(getrandom(&c->session, 8, 0) == 8);
	attr.session = c->session;
	must(!tp_dev_open(addr->scheme, &dev_attr, &c->dev));
	ctx_attr.dev = c->dev;
	must(!rpc_ctx_open(&ctx_attr, &c->ctx));
	must(!rpc_peer_open(c->ctx, &attr, &c->peer));
	c->arena = calloc(1, IODC_ARENA);
	must(!tp_mr_reg(c->dev, c->arena, IODC_ARENA,
			TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE,
			&c->mr));
}

void iodc_open_mgr(struct iodc *c, const struct addr *addr)
{
	iodc_open(c, addr, WIRE_ROLE_MGR, 0);
	must(!iodc_claim(c, 1));
	must(!iodc_lease(c, 3600000));
}

void iodc_serve(const struct addr *addr)
{
	struct iodc c;

	iodc_open_mgr(&c, addr);
	iodc_close(&c);
}

void iodc_close(struct iodc *c)
{
	rpc_peer_close(c->peer, true);
	rpc_ctx_progress(c->ctx, clock_after_ms(1));
	rpc_ctx_close(c->ctx);
	tp_mr_dereg(c->mr);
	tp_dev_close(c->dev);
	free(c->arena);
}

struct wait {
	struct iodc *c;
	int status;
	bool over;
};

static void call_done(struct rpc_call *call)
{
	struct wait *w = call->arg;
	struct iodc *c = w->c;

	w->status = call->status;
	w->over = true;
	if (call->status)
		return;
	must(call->reply.body_len <= sizeof(c->body));
	memcpy(c->body, call->reply.body, call->reply.body_len);
	c->tail_len = call->reply.tail[0].len;
	must(c->tail_len <= sizeof(c->tail));
	if (c->tail_len)
		memcpy(c->tail, call->reply.tail[0].ptr, c->tail_len);
}

static int call_wait(struct iodc *c, struct wire_out *out, unsigned int op,
		     const struct iovec *data)
{
	struct wait w = { .c = c };
	struct rpc_call call = { .msg = out->buf,
				 .data = data,
				 .ndata = data ? 1 : 0,
				 .deadline = clock_after_ms(c->timeout_ms),
				 .copyset = c->copyset,
				 .done = call_done,
				 .arg = &w };

	must(wire_end(out, op, 0, data ? data->iov_len : 0) > 0);
	call.msg_len = out->len;
	rpc_call_start(c->peer, &call);
	while (!w.over)
		rpc_ctx_progress(c->ctx, call.deadline + 1000000);
	return w.status;
}

int iodc_call(struct iodc *c, unsigned int op, const void *body, size_t len,
	      const struct iodc_item *tail, unsigned int ntail)
{
	uint64_t buf[WIRE_BODY_MAX / 8];
	struct wire_out out;
	unsigned int i;

	wire_begin(&out, buf, sizeof(buf));
	if (len)
		wire_put(&out, body, len);
	for (i = 0; i < ntail; i++)
		if (tail[i].len)
			wire_put(&out, tail[i].ptr, tail[i].len);
	return call_wait(c, &out, op, NULL);
}

int iodc_send(struct iodc *c, struct wire_out *out, unsigned int op,
	      size_t data_len)
{
	struct iovec iov = { c->arena, data_len };

	return call_wait(c, out, op, data_len ? &iov : NULL);
}

void iodc_put_lists(struct iodc *c, struct wire_out *out,
		    const struct iodc_io *io)
{
	struct wire_mem mem[WIRE_MEM_MAX];
	unsigned int i;

	wire_put(out, io->reg, io->nreg * sizeof(io->reg[0]));
	if (!io->mem)
		return;
	for (i = 0; i < io->nmem; i++) {
		mem[i].addr = htole64((uintptr_t)c->arena + io->mem[i].off);
		mem[i].len = htole32(io->mem[i].len);
		mem[i].rkey = htole32(c->mr->rkey);
	}
	wire_put(out, mem, io->nmem * sizeof(mem[0]));
}

static int io_call(struct iodc *c, struct iodc_io *io, unsigned int op)
{
	uint64_t buf[WIRE_BODY_MAX / 8];
	size_t data_len = op == WIRE_WRITE && !io->mem ? (size_t)io->total : 0;
	struct wire_io body = { .handle = htole64(io->handle),
				.total = htole64(io->total),
				.flags = htole32(io->flags),
				.nreg = htole32(io->nreg),
				.nmem = htole32(io->mem ? io->nmem : 0),
				.data_len = htole32((uint32_t)data_len) };
	const struct wire_io_rep *rep = (void *)c->body;
	struct wire_out out;
	int rc;

	wire_begin(&out, buf, sizeof(buf));
	wire_put(&out, &body, sizeof(body));
	iodc_put_lists(c, &out, io);
	rc = iodc_send(c, &out, op, data_len);
	if (rc)
		return rc;
	io->done = le64toh(rep->done);
	io->size = le64toh(rep->size);
	if (op == WIRE_READ && !io->mem)
		memcpy(c->arena, c->tail, c->tail_len);
	return 0;
}

int iodc_read(struct iodc *c, struct iodc_io *io)
{
	return io_call(c, io, WIRE_READ);
}

int iodc_write(struct iodc *c, struct iodc_io *io)
{
	return io_call(c, io, WIRE_WRITE);
}

int iodc_pread(struct iodc *c, uint64_t handle, uint64_t off, uint32_t len,
	       uint64_t *done)
{
	struct wire_region reg = { htole64(off), htole64(len) };
	struct iodc_mem mem = { 0, len };
	struct iodc_io io = { .handle = handle,
			      .reg = &reg,
			      .nreg = 1,
			      .mem = len > 4096 ? &mem : NULL,
			      .nmem = 1,
			      .total = len };
	int rc = iodc_read(c, &io);

	if (!rc)
		*done = io.done;
	return rc;
}

int iodc_pwrite(struct iodc *c, uint64_t handle, uint64_t off, uint32_t len)
{
	struct wire_region reg = { htole64(off), htole64(len) };
	struct iodc_mem mem = { 0, len };
	struct iodc_io io = { .handle = handle,
			      .reg = &reg,
			      .nreg = 1,
			      .mem = len > WIRE_INLINE_MAX ? &mem : NULL,
			      .nmem = 1,
			      .total = len };

	return iodc_write(c, &io);
}

static int one_object(struct iodc *c, unsigned int op, uint64_t handle)
{
	struct wire_objects body = { .n = htole32(1) };
	le64 h = htole64(handle);
	struct iodc_item item = { &h, sizeof(h) };

	return iodc_call(c, op, &body, sizeof(body), &item, 1);
}

int iodc_sync(struct iodc *c, uint64_t handle)
{
	return one_object(c, WIRE_SYNC, handle);
}

int iodc_remove(struct iodc *c, uint64_t handle)
{
	return one_object(c, WIRE_REMOVE, handle);
}

int iodc_resize(struct iodc *c, uint64_t handle, uint64_t size)
{
	return iodc_resize_once(c, handle, size, 0, 0, 0);
}

int iodc_resize_once(struct iodc *c, uint64_t handle, uint64_t size,
		     uint64_t id, uint64_t span, uint32_t flags)
{
	struct wire_resize body = { .handle = htole64(handle),
				    .size = htole64(size),
				    .id = htole64(id),
				    .span = htole64(span),
				    .flags = htole32(flags) };

	return iodc_call(c, WIRE_RESIZE, &body, sizeof(body), NULL, 0);
}

int iodc_fence(struct iodc *c, uint64_t session)
{
	return iodc_fence_by(c, session, 0);
}

int iodc_fence_by(struct iodc *c, uint64_t session, uint32_t flags)
{
	struct wire_fence body = { .n = htole32(1), .flags = htole32(flags) };
	le64 id = htole64(session);
	struct iodc_item item = { &id, sizeof(id) };

	return iodc_call(c, WIRE_FENCE, &body, sizeof(body), &item, 1);
}

int iodc_claim(struct iodc *c, uint64_t term)
{
	struct wire_claim body = { .owner = htole64(7),
				   .term = htole64(term),
				   .flags = htole32(WIRE_C_FRESH) };

	return iodc_call(c, WIRE_CLAIM, &body, sizeof(body), NULL, 0);
}

int iodc_lease(struct iodc *c, uint64_t ms)
{
	struct wire_lease body = { htole64(clock_boot() + ms * CLOCK_NS_PER_MS),
				   htole64(clock_boot()), htole64(1) };

	return iodc_call(c, WIRE_LEASE, &body, sizeof(body), NULL, 0);
}

int iodc_size(struct iodc *c, uint64_t handle, uint64_t *size)
{
	const struct wire_objsize *obj = (void *)c->tail;
	int rc = one_object(c, WIRE_GETSIZE, handle);

	if (!rc)
		*size = le64toh(obj->size);
	return rc;
}

void iodc_mkdir(char *path)
{
	strcpy(path, "/var/tmp/pvfs-iod-XXXXXX");
	must(mkdtemp(path));
}

bool iodc_mkdir_memory(char *path)
{
	struct statfs fs;

	if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS_MAGIC)
		return false;
	strcpy(path, "/dev/shm/pvfs-iod-XXXXXX");
	must(mkdtemp(path));
	return true;
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

void iodc_rmdir(const char *path)
{
	must(!nftw(path, rm_one, 16, FTW_DEPTH | FTW_PHYS));
}
