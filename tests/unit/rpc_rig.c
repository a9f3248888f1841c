/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_rig.c - setting up, turning, calls. */
#include "tests/unit/rpc_rig.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/rpc_rig_service.h"

static void rig_sink(void *arg, enum log_level level, const char *msg)
{
	struct rig *rig = arg;
	size_t left = sizeof(rig->text) - rig->text_len;
	int n = snprintf(rig->text + rig->text_len, left, "%s\n", msg);

	rig->text_len += (size_t)n < left ? (size_t)n : left - 1;
}

unsigned int rig_logged(const struct rig *rig, const char *text)
{
	const char *p = rig->text;
	unsigned int n = 0;

	while ((p = strstr(p, text))) {
		n++;
		p += strlen(text);
	}
	return n;
}

void rig_server_open(struct rig *rig)
{
	struct rpc_server_attr *attr = &rig->sattr;

	attr->ctx = &rig->sctx;
	attr->nctx = 1;
	attr->log = &rig->log;
	attr->addr = rig->addr;
	attr->fsid = RIG_FSID;
	attr->boot++;
	attr->slots = attr->slots ? attr->slots : 4;
	attr->request_max = 16384 + 65536 + 48;
	attr->reply_max = attr->reply_max ? attr->reply_max : 8192;
	attr->max_sessions = attr->max_sessions ? attr->max_sessions : 16;
	attr->session_ttl_ms = attr->session_ttl_ms ? attr->session_ttl_ms
						    : 60000;
	attr->service = &rig->service;
	attr->arg = rig;
	ck_assert_int_eq(rpc_server_open(attr, &rig->server), 0);
	rpc_server_addr(rig->server, &rig->addr);
}

void rig_server_close(struct rig *rig)
{
	rpc_server_close(rig->server);
	rig->server = NULL;
	rig->nheld = 0;
	rig_service_reset(rig);
}

static void rig_fresh(void *arg, struct rpc_peer *peer)
{
	struct rig *rig = arg;

	rig->fresh++;
	if (rig->at_fresh)
		rig_append(rig, rig->at_fresh, 100, 9000);
}

struct rpc_peer *rig_peer_open(struct rig *rig)
{
	struct rpc_peer_attr attr = {
		.addr = rig->addr,
		.name = "iod 2",
		.role = rig->role ? rig->role : WIRE_ROLE_CLIENT,
		.features = rig->hails,
		.prover = rig->prover,
		.seal = rig->seal,
		.server = rig->manager ? WIRE_ROLE_MGR : WIRE_ROLE_IOD,
		.index = rig->index,
		.fsid = rig->fsid,
		.session = rig->session,
		.cred = &rig->cred,
		.patience_ms = rig->patience_ms,
		.on_new_session = rig_fresh,
		.arg = rig,
	};
	struct rpc_peer *peer;

	ck_assert_int_eq(rpc_peer_open(rig->cctx, &attr, &peer), 0);
	return peer;
}

static void rig_defaults(struct rig *rig, const char *dev)
{
	rig->log = (struct log){ LOG_LV_INFO, rig_sink, rig };
	rig->service = rig_service;
	if (!rig->fsid)
		rig->fsid = RIG_FSID;
	if (!rig->session)
		rig->session = 0x1111;
	rig->cred.uid = 1000;
	rig->cred.gid = 100;
	rig->cred.ngroups = 3;
	rig->cred.groups[0] = 4;
	rig->cred.groups[2] = 27;
	strcpy(rig->cred.name, "host:1:rig");
	snprintf(rig->addr.scheme, sizeof(rig->addr.scheme), "%s", dev);
	strcpy(rig->addr.host, "127.0.0.1");
}

static void rig_more(struct rig *rig, const struct tp_dev_attr *attr)
{
	struct rails *rails = &rig->cfabric.rails;
	unsigned int i;

	for (i = 0; i < rig->more; i++) {
		memmove(&rails->dev[1], &rails->dev[0],
			rails->n * sizeof(rails->dev[0]));
		ck_assert_int_eq(tp_dev_open(tp_dev_name(rails->dev[1]), attr,
					     &rails->dev[0]),
				 0);
		rails->n++;
	}
}

void rig_open(struct rig *rig, const char *dev)
{
	struct tp_dev_attr dattr = { .log = &rig->log };
	struct rpc_ctx_attr cattr = { .log = &rig->log }, sattr = cattr;

	cattr.fast_max = rig->fast_max;
	cattr.inline_max = rig->inline_max;
	cattr.apart = rig->apart;
	cattr.carry = rig->carry;
	cattr.carry_parts = rig->carry_parts;
	cattr.pins = rig->pins;

	rig_defaults(rig, dev);
	if (rig->coption) {
		ck_assert_int_eq(fabric_open(&rig->cfabric, dev, rig->coption,
					     &dattr),
				 0);
		ck_assert_int_eq(fabric_open(&rig->sfabric, dev, rig->soption,
					     &dattr),
				 0);
		rig_more(rig, &dattr);
		cattr.fabric = &rig->cfabric;
		sattr.fabric = &rig->sfabric;
	} else {
		ck_assert_int_eq(tp_dev_open(dev, &dattr, &rig->dev), 0);
		cattr.dev = sattr.dev = rig->dev;
	}
	ck_assert_int_eq(rpc_ctx_open(&cattr, &rig->cctx), 0);
	ck_assert_int_eq(rpc_ctx_open(&sattr, &rig->sctx), 0);
	rig->object = calloc(1, RIG_OBJECT);
	rail_mem_init(&rig->object_mem, rig->object, RIG_OBJECT,
		      TP_LOCAL_WRITE);
	ck_assert_int_eq(rail_mem_reg_all(&rig->object_mem,
					  rpc_ctx_rails(rig->sctx)),
			 0);
	rig_server_open(rig);
	rig->peer = rig_peer_open(rig);
}

void rig_close(struct rig *rig)
{
	if (rig->peer)
		rpc_peer_close(rig->peer, false);
	if (rig->server)
		rig_server_close(rig);
	rpc_ctx_close(rig->cctx);
	rpc_ctx_close(rig->sctx);
	rail_mem_fini(&rig->object_mem);
	if (rig->dev)
		tp_dev_close(rig->dev);
	fabric_close(&rig->cfabric);
	fabric_close(&rig->sfabric);
	free(rig->object);
	free(rig);
}

void rig_turn(struct rig *rig)
{
	int n = rpc_ctx_progress(rig->cctx, 0);

	n += rpc_ctx_progress(rig->sctx, 0);
	if (!n)
		rpc_ctx_progress(rig->cctx, clock_now() + 100000);
}

/* On a busy machine, other programs may have had the processor all the time. */
void rig_for_ms(struct rig *rig, unsigned int ms)
{
	uint64_t end = clock_after_ms(ms);
	unsigned int turns;

	for (turns = 0; turns < RIG_TURNS || clock_now() < end; turns++)
		rig_turn(rig);
}

/* ---- calls ---- */

static void rig_done(struct rpc_call *call)
{
	struct rig_call *c = call->arg;

	c->finished = true;
	c->times++;
	if (call->status || call->whole)
		return;
	if (le16toh(call->reply.hdr->op) == WIRE_APPEND) {
		const struct wire_append_rep *rep = call->reply.body;

		c->offset = le64toh(rep->offset);
	} else if (call->reply.body_len == sizeof(struct wire_io_rep)) {
		const struct wire_io_rep *rep = call->reply.body;

		c->done = le64toh(rep->done);
		if (call->landed)
			memcpy(c->bounce, call->landed, c->done);
	}
}

void rig_call_init(struct rig *rig, struct rig_call *c, unsigned int ms)
{
	memset(c, 0, sizeof(*c));
	c->rig = rig;
	c->call.msg = c->msg;
	c->call.deadline = clock_after_ms(ms);
	c->call.done = rig_done;
	c->call.arg = c;
}

void rig_prepare_append(struct rig *rig, struct rig_call *c, uint64_t len,
			unsigned int ms)
{
	struct wire_append append = { .handle = htole64(1),
				      .len = htole64(len) };
	struct wire_out out;

	rig_call_init(rig, c, ms);
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &append, sizeof(append));
	c->call.msg_len = (size_t)wire_end(&out, WIRE_APPEND, 0, 0);
}

void rig_append(struct rig *rig, struct rig_call *c, uint64_t len,
		unsigned int ms)
{
	rig_prepare_append(rig, c, len, ms);
	rpc_call_start(rig->peer, &c->call);
}

void rig_release(struct rig *rig, struct rig_call *c, unsigned int ms)
{
	struct wire_release release = { .handle = htole64(1),
					.open = htole64(1) };
	struct wire_out out;

	rig_call_init(rig, c, ms);
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &release, sizeof(release));
	c->call.msg_len = (size_t)wire_end(&out, WIRE_RELEASE, 0, 0);
	rpc_call_start(rig->peer, &c->call);
}

static void rig_io_mem(struct wire_out *out, uint8_t *buf, uint64_t len,
		       const struct tp_mr *mr, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct wire_mem mem = {
			.addr = htole64((uintptr_t)buf + i * (len / n)),
			.len = htole32((uint32_t)(len / n)),
			.rkey = htole32(mr->rkey),
		};

		memcpy(wire_put(out, NULL, sizeof(mem)), &mem, sizeof(mem));
	}
}

void rig_io(struct rig *rig, struct rig_call *c, unsigned int op, uint64_t off,
	    uint8_t *buf, uint64_t len, const struct tp_mr *mr, unsigned int n,
	    unsigned int ms)
{
	bool inlined = !mr && op == WIRE_WRITE;
	struct wire_region region = { htole64(off), htole64(len) };
	struct wire_io io = {
		.handle = htole64(1),
		.total = htole64(len),
		.nreg = htole32(1),
		.nmem = htole32(mr ? n : 0),
		.data_len = htole32(inlined ? (uint32_t)len : 0),
	};
	struct wire_out out;
	unsigned int i;
	int total;

	rig_call_init(rig, c, ms);
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &io, sizeof(io));
	wire_put(&out, &region, sizeof(region));
	if (mr)
		rig_io_mem(&out, buf, len, mr, n);
	total = wire_end(&out, op, 0, inlined ? len : 0);
	ck_assert_int_gt(total, 0);
	c->call.msg_len = (size_t)total - (inlined ? len : 0);
	for (i = 0; inlined && i < n; i++)
		c->data[i] = (struct iovec){ buf + i * (len / n), len / n };
	c->call.data = c->data;
	c->call.ndata = i;
	if (mr && rig->area) {
		c->call.area = &rig->area;
		c->call.nareas = 1;
		c->call.pieces_at = sizeof(struct wire_hdr) + sizeof(io) +
				    sizeof(region);
		c->call.npieces = n;
		c->call.bounce = rig->bounce;
		c->call.reply_optional = rig->reply_optional;
	}
	rpc_call_start(rig->peer, &c->call);
}

int rig_append_now(struct rig *rig, uint64_t len, uint64_t *offset,
		   unsigned int ms)
{
	struct rig_call c;

	rig_append(rig, &c, len, ms);
	rig_until(rig, c.finished);
	if (offset)
		*offset = c.offset;
	return c.call.status;
}
