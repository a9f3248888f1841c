/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * same_key.c - whether a server serves the file system of pvfs.conf, and accepts the
 * key of this host.  The check asks as a server asks another.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "common/util/clock.h"
#include "common/trust/keyring.h"
#include "common/util/random_id.h"
#include "common/comm/rpc.h"

struct asking {
	struct keyring *ring;
	struct fabric fabric;
	struct rpc_ctx *ctx;
	struct rpc_peer *peer;
	int status;
	bool over;
};

static void on_done(struct rpc_call *call)
{
	struct asking *a = call->arg;

	a->over = true;
	a->status = call->status;
}

static int send_ping(const struct doctor *d, struct asking *a)
{
	_Alignas(8) uint8_t msg[256];
	struct rpc_call call = { .msg = msg,
				 .deadline = clock_after_ms(d->timeout_s * 500),
				 .done = on_done,
				 .arg = a };
	struct wire_out out;

	wire_begin(&out, msg, sizeof(msg));
	call.msg_len = (size_t)wire_end(&out, WIRE_PING, 0, 0);
	rpc_call_start(a->peer, &call);
	while (!a->over)
		rpc_ctx_progress(a->ctx, call.deadline);
	return a->status;
}

/*
 * An iod is asked in the role of the manager.  The manager is asked in the role of a
 * client, which proves nothing.
 */
static int open_peer(const struct doctor *d, const struct subject *s,
		     struct asking *a)
{
	struct rpc_cred cred = { .name = "pvfs-doctor" };
	struct rpc_peer_attr attr = {
		.addr = s->addr,
		.name = s->name,
		.role = s->mgr || !a->ring ? WIRE_ROLE_CLIENT : WIRE_ROLE_MGR,
		.fsid = d->fsid,
		.cred = &cred,
		.prover = keyring_prover(a->ring),
		.server = s->mgr ? WIRE_ROLE_MGR : WIRE_ROLE_IOD,
		.index = s->index,
		.impatient = true
	};
	int rc = random_id(&attr.session);

	return rc ? rc : rpc_peer_open(a->ctx, &attr, &a->peer);
}

static int ask_server(const struct doctor *d, const struct subject *s,
		      struct asking *a)
{
	struct tp_dev_attr dev = { 0 };
	struct rpc_ctx_attr ctx = { .fabric = &a->fabric };
	int rc;

	if (d->key[0] && keyring_open(d->key, false, NULL, &a->ring))
		return -ENODATA; /* check_key() reports the cause */
	rc = fabric_open(&a->fabric, s->addr.scheme, NULL, &dev);
	if (!rc)
		rc = rpc_ctx_open(&ctx, &a->ctx);
	if (!rc)
		rc = open_peer(d, s, a);
	return rc ? rc : send_ping(d, a);
}

static void close_all(struct asking *a)
{
	if (a->peer)
		rpc_peer_close(a->peer, true);
	if (a->ctx) {
		rpc_ctx_progress(a->ctx, 0); /* sends BYE */
		rpc_ctx_close(a->ctx);
	}
	fabric_close(&a->fabric);
	keyring_close(a->ring);
}

/*
 * Excludes -ENOKEY: both keys were the same, and the server asks who the client is.
 * Excludes -EACCES: the server checks no key of a host outside its networks, and
 * check_reach() reports that.
 */
static bool is_refused(int rc)
{
	return rc == -EKEYREJECTED || rc == -EPERM;
}

void check_same_key(const struct doctor *d, const struct subject *s)
{
	struct asking a = { 0 };
	int rc;

	if (!d->fsid)
		return; /* check_conf() reports it */
	key_user(d->key);
	rc = ask_server(d, s, &a);
	if (rc == -ENXIO)
		doctor_find(d,
			    "correct [filesystem] id, or the address, in the "
			    "pvfs.conf that is not right; the same file on "
			    "all server hosts",
			    "%s serves another file system, or is another "
			    "server, than pvfs.conf says",
			    s->uri);
	else if (d->key[0] && is_refused(rc))
		doctor_find(d,
			    "scp -p the key from the manager's host to this "
			    "one (or to that server's), then kill -HUP the "
			    "daemons: systemctl kill -s HUP 'pvfs-mgr*' "
			    "'pvfs-iod@*'; or correct the address",
			    "%s does not take the key %s: it has another one, "
			    "or is another server than pvfs.conf says",
			    s->uri, d->key);
	close_all(&a);
}
