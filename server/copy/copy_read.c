/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_read.c - the bytes of a copy, from this iod's store or another iod. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/copy/copies_int.h"
#include "common/util/random_id.h"

/* ---- other iods ---- */

static int peer_open(struct copies *all, uint32_t k, struct rpc_peer **peer)
{
	const struct iod_conf *conf = &all->worker->iod->conf;
	struct rpc_cred cred = { 0 };
	char name[24];
	struct rpc_peer_attr attr = { .addr = conf->iods[k],
				      .name = name,
				      .fix = "copies between the two go "
					     "through their clients",
				      .role = WIRE_ROLE_IOD,
				      .fsid = conf->fsid,
				      .cred = &cred,
				      .prover = keyring_prover(
					      all->worker->iod->ring),
				      .seal = conf->auth.seal,
				      .server = WIRE_ROLE_IOD,
				      .index = k,
				      .impatient = true };
	int rc = random_id(&attr.session);

	snprintf(name, sizeof(name), "iod %u", k);
	snprintf(cred.name, sizeof(cred.name), "pvfs-iod %u", conf->index);
	return rc ? rc : rpc_peer_open(all->worker->ctx, &attr, peer);
}

static int peer_of(struct copies *all, uint32_t k, struct rpc_peer **peer)
{
	const struct iod_conf *conf = &all->worker->iod->conf;
	int rc = 0;

	if (k >= conf->niods)
		return -EOPNOTSUPP;
	if (!all->peer)
		all->peer = calloc(conf->niods, sizeof(all->peer[0]));
	if (!all->peer)
		return -ENOMEM;
	if (!all->peer[k])
		rc = peer_open(all, k, &all->peer[k]);
	*peer = all->peer[k];
	return rc;
}

void peers_close(struct copies *all)
{
	uint32_t k;

	for (k = 0; all->peer && k < all->worker->iod->conf.niods; k++)
		if (all->peer[k])
			rpc_peer_close(all->peer[k], true);
	free(all->peer);
}

/* ---- READ ---- */

/* Its own answer is one about the object; all else is about the way there. */
static int verdict(struct copy_part *p, const struct rpc_call *call)
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

static void read_done(struct rpc_call *call)
{
	struct copy_part *p = call->arg;

	/* it may still be written to: its key ends first */
	if (call->status == -ETIMEDOUT || call->status == -ECANCELED)
		rail_mem_fini(&p->mem);
	p->got(p, verdict(p, call));
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

/* Half of the client's time: it may have to do without us. */
static uint64_t read_deadline(const struct copy *c)
{
	uint64_t now = clock_now();

	return c->req->deadline > now ? now + (c->req->deadline - now) / 2
				      : now;
}

static int read_there(struct copy_part *p)
{
	uint64_t buf[(sizeof(struct wire_hdr) + sizeof(struct wire_io) +
		      sizeof(struct wire_region) + sizeof(struct wire_mem)) /
		     8];
	struct wire_out out;
	struct rpc_peer *peer;
	int rc = peer_of(p->all, le32toh(copy_body(p->copy)->iod), &peer);

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
		.done = read_done,
		.arg = p,
	};
	rpc_call_start(peer, &p->call);
	return 0;
}

void part_read(struct copy_part *p,
	       void (*got)(struct copy_part *p, int status))
{
	const struct copy *c = p->copy;
	const struct wire_copy *body = copy_body(c);
	int rc = 0;

	p->got = got;
	p->call.p.peer = NULL;
	if (c->from) {
		part_file(p, false, c->from, le64toh(body->src) + p->pos, got);
	} else if (le32toh(body->iod) == c->worker->iod->conf.index) {
		memset(p->mem.addr, 0, p->len); /* there is no such object */
		got(p, 0);
	} else {
		rc = read_there(p);
		if (rc)
			got(p, rc);
	}
}

void part_forget(struct copy_part *p)
{
	rpc_call_cancel(&p->call);
}
