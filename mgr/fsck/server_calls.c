/* SPDX-License-Identifier: BSD-2-Clause */
/* server_calls.c - one call at a time, to the manager or an iod. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/random_id.h"
#include "mgr/fsck/fsck.h"

struct call_wait {
	struct fsck_reply *reply;
	int status;
	bool over;
};

static void copy_reply(struct call_wait *w, const struct wire_msg *msg)
{
	struct fsck_reply *a = w->reply;
	size_t len = 0;

	if (msg->body_len > sizeof(a->body)) {
		w->status = -EPROTO;
		return;
	}
	memcpy(a->body, msg->body, msg->body_len);
	for (unsigned int i = 0; i < WIRE_TAIL_MAX && msg->tail[i].len; i++) {
		if (msg->tail[i].len > sizeof(a->tail) - len) {
			w->status = -EPROTO;
			return;
		}
		memcpy(a->tail + len, msg->tail[i].ptr, msg->tail[i].len);
		len += msg->tail[i].len;
	}
}

static void call_complete(struct rpc_call *call)
{
	struct call_wait *w = call->arg;

	w->over = true;
	w->status = call->status;
	if (!call->status && w->reply)
		copy_reply(w, &call->reply);
}

/* Only READDIR names memory; the call adds the key of the transport in use. */
static void add_arena(struct fsck *f, unsigned int op, struct rpc_call *call)
{
	if (op != WIRE_READDIR)
		return;
	call->area = &f->area;
	call->nareas = 1;
	call->pieces_at = sizeof(struct wire_hdr) +
			  offsetof(struct wire_readdir, mem);
	call->npieces = 1;
}

int fsck_call(struct fsck *f, struct rpc_peer *peer, unsigned int op,
	      const struct fsck_bytes *body, const struct fsck_bytes *tail,
	      struct fsck_reply *reply)
{
	_Alignas(8) uint8_t msg[2048];
	struct call_wait w = { .reply = reply };
	struct rpc_call call = { .msg = msg,
				 .deadline = clock_after_ms(f->timeout_ms),
				 .done = call_complete,
				 .arg = &w };
	struct wire_out out;
	int len;

	wire_begin(&out, msg, sizeof(msg));
	if (body)
		wire_put(&out, body->ptr, body->len);
	if (tail)
		wire_put(&out, tail->ptr, tail->len);
	len = wire_end(&out, op, 0, 0);
	if (len < 0)
		return len;
	call.msg_len = (size_t)len;
	add_arena(f, op, &call);
	rpc_call_start(peer, &call);
	while (!w.over)
		rpc_ctx_progress(f->ctx, call.deadline);
	return w.status;
}

int fsck_get_attr(struct fsck *f, uint64_t handle, struct wire_attr *attr)
{
	int rc = fsck_get_attr_or_unissued(f, handle, attr);

	return rc == -ENXIO ? -ESTALE : rc;
}

int fsck_get_attr_or_unissued(struct fsck *f, uint64_t handle,
			      struct wire_attr *attr)
{
	struct wire_path body = { .dir = htole64(handle),
				  .flags = htole32(WIRE_P_EVER) };
	struct fsck_bytes b = { &body, sizeof(body) };
	struct fsck_reply reply;
	int rc = fsck_call(f, f->mgr, WIRE_GETATTR, &b, NULL, &reply);

	if (!rc)
		memcpy(attr, reply.body, sizeof(*attr));
	return rc;
}

/* At an iod, the role of the manager.  At the manager, the role of a client; if clients have to
 * authenticate, the role of a manager, because fsck has the servers' key. */
static enum wire_role role_for(const struct fsck *f, enum wire_role server)
{
	return server == WIRE_ROLE_IOD || f->conf.auth.mode != AUTH_SYS
		       ? WIRE_ROLE_MGR
		       : WIRE_ROLE_CLIENT;
}

static int open_peer(struct fsck *f, const struct addr *addr, const char *name,
		     enum wire_role server, uint32_t index, uint64_t session,
		     struct rpc_peer **peer)
{
	struct rpc_cred cred = { .name = "pvfs-fsck" };
	struct rpc_peer_attr attr = { .addr = *addr,
				      .name = name,
				      .role = role_for(f, server),
				      .fsid = f->conf.fsid,
				      .session = session,
				      .features = WIRE_FT_TOOL | WIRE_FT_COPIES,
				      .cred = &cred,
				      .prover = keyring_prover(f->ring),
				      .seal = f->conf.auth.seal,
				      .server = server,
				      .index = index };

	if (server == WIRE_ROLE_MGR) {
		attr.managers = f->conf.mgrs.addr;
		attr.nmanagers = f->conf.mgrs.n;
	}
	return rpc_peer_open(f->ctx, &attr, peer);
}

static int open_peers(struct fsck *f)
{
	uint64_t session;
	char name[24];
	int rc = random_id(&session);

	if (rc)
		return rc;
	rc = open_peer(f, &f->conf.addr, "mgr", WIRE_ROLE_MGR, 0, session,
		       &f->mgr);
	f->iod = calloc(f->conf.niods, sizeof(f->iod[0]));
	if (!f->iod)
		return -ENOMEM;
	for (uint32_t i = 0; !rc && i < f->conf.niods; i++) {
		snprintf(name, sizeof(name), "iod %u", i);
		rc = open_peer(f, &f->conf.iod[i], name, WIRE_ROLE_IOD, i,
			       session, &f->iod[i]);
	}
	return rc;
}

int fsck_open_servers(struct fsck *f)
{
	struct tp_dev_attr dev = { .log = f->log,
				   .rdma = &f->conf.fabric.rdma,
				   .where = f->conf.fabric.where };
	struct rpc_ctx_attr ctx = { .log = f->log, .fabric = &f->fabric };
	int rc = f->conf.key[0]
			 ? keyring_open(f->conf.key, false, f->log, &f->ring)
			 : 0;

	if (rc)
		return rc;
	rc = fabric_open(&f->fabric, mgr_conf_scheme(&f->conf),
			 f->conf.fabric.option, &dev);

	if (rc)
		return rc;
	rc = rpc_ctx_open(&ctx, &f->ctx);
	if (rc)
		return rc;
	f->arena = aligned_alloc(4096, FSCK_ARENA);
	if (!f->arena)
		return -ENOMEM;
	rail_mem_init(&f->mem, f->arena, FSCK_ARENA,
		      TP_LOCAL_WRITE | TP_REMOTE_WRITE);
	f->area = &f->mem;
	return open_peers(f);
}

void fsck_close_servers(struct fsck *f)
{
	for (uint32_t i = 0; f->iod && i < f->conf.niods; i++)
		if (f->iod[i])
			rpc_peer_close(f->iod[i], true);
	if (f->mgr)
		rpc_peer_close(f->mgr, true);
	free(f->iod);
	if (f->area)
		rail_mem_fini(f->area);
	free(f->arena);
	if (f->ctx) {
		rpc_ctx_progress(f->ctx, 0); /* BYE */
		rpc_ctx_close(f->ctx);
	}
	fabric_close(&f->fabric);
	keyring_close(f->ring);
}
